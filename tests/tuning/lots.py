"""Games in which lots decide: what is played, or how large the noise is.

Of each the best fixed setting is known. In the mean over games the certificate is at least the
regret, or it is NaN where nothing is promised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

import dikin
from dikin import Integer, Real, Shares

SEED = 5000
"""Game k has the seed 5000 + k."""


def as_asked(params: dict[str, Any], rng: Generator) -> dict[str, Any]:
    return params


def by_odds(params: dict[str, Any], rng: Generator) -> dict[str, Any]:
    """One part of the shares, with the shares as odds."""
    names, odds = list(params["mix"]), np.array(list(params["mix"].values()))
    return {"arm": names[rng.choice(len(names), p=odds / odds.sum())]}


def exactly(value: float, params: dict[str, Any], rng: Generator) -> float:
    return value


class Game(NamedTuple):
    """A loss, what it is at best, and the tuner that plays it."""

    loss: Callable[[Any, float], float]
    """Of what was played, and of the share of the game that is over."""
    best: float
    """The mean loss of the best fixed setting."""
    parameters: dict[str, Any]
    options: dict[str, Any]
    promised: bool = True
    """Whether there is a certificate."""
    play: Callable[[Any, Generator], Any] = as_asked
    measure: Callable[[float, Any, Generator], float] = exactly
    """What is told of a loss: it, in the mean."""


class Outcome(NamedTuple):
    """Some games: the regret and the certificate of each."""

    regrets: Any
    certificates: Any

    @property
    def holds(self) -> bool:
        """Whether the certificate is at least the regret, in the mean, but for three errors."""
        margin = self.certificates - self.regrets
        return bool(margin.mean() >= -3 * standard_error(margin))


def standard_error(numbers: Any) -> float:
    return float(numbers.std(ddof=1) / np.sqrt(len(numbers)))


def played(game: Game, games: int, rounds: int) -> Outcome:
    """The outcome of some games, each with its own seed."""
    outcomes = [played_once(game, SEED + k, rounds) for k in range(games)]
    return Outcome(*np.array(outcomes).T)


def played_once(game: Game, seed: int, rounds: int) -> tuple[float, float]:
    tuner = dikin.Tuner(game.parameters, seed=seed, **game.options)
    rng, total = np.random.default_rng(seed), 0.0
    for t in range(rounds):
        trial = tuner.ask()
        setting = game.play(trial.params, rng)
        loss = game.loss(setting, t / rounds)
        total += loss
        tuner.tell(trial, game.measure(loss, setting, rng))
    return total - rounds * game.best, tuner.certificate


# --- losses --------------------------------------------------------------------------------------


def pair(p: Any, _: float) -> float:
    return abs(p["a"] - p["b"]) + 0.3 * (1 - p["a"])


def follower(p: Any, _: float) -> float:
    return (p["x"] - p["n"]) ** 2 + 0.3 * (1 - p["n"])


def later(chosen: Any, over: float) -> float:
    """Of the second of two: worse in the first quarter of the game, and much better after it."""
    return 0.5 if not chosen else 0.7 if over < 0.25 else 0.0


def later_number(p: Any, over: float) -> float:
    return later(p["n"], over)


def later_arm(p: Any, over: float) -> float:
    return later(p["arm"] == "b", over)


def terms(p: Any, _: float) -> float:
    return 0.25 * (p["a"] - 3) ** 2 + abs(p["b"] - 2)


def apart(p: Any, _: float) -> float:
    return abs(p["a"] - p["b"]) + 0.5 * abs(p["a"] - 2)


def larger(p: Any, _: float) -> float:
    """max(a, b) = b + max(0, a - b), a convex function of the difference."""
    return max(p["a"], p["b"]) - 0.55 * (p["a"] + p["b"])


def chain(p: Any, _: float) -> float:
    return abs(p["a"] - p["b"]) + abs(p["b"] - p["c"]) + 0.5 * abs(p["c"] - 2)


def beside(p: Any, _: float) -> float:
    return abs(p["n"] - 3) + 2 * abs(p["x"] - 0.7)


def split(p: Any, _: float) -> float:
    return abs(p["n"] - 3) + 0.5 * p["mix"]["old"]


COSTS = {"a": 0.9, "b": 0.2, "c": 0.5}


def arm(p: Any, _: float) -> float:
    return COSTS[p["arm"]]


def bowl(p: Any, _: float) -> float:
    return (p["x"] - 0.3) ** 2


def line(p: Any, _: float) -> float:
    return float(0.3 * p["x"])


def valley(p: Any, _: float) -> float:
    return 0.2 + 0.6 * abs(p["x"] - 0.6)


def two_bowls(p: Any, _: float) -> float:
    return (p["x"] - 0.3) ** 2 + (p["y"] - 0.8) ** 2


def count(p: Any, _: float) -> float:
    return 0.1 + 0.1 * abs(p["n"] - 4)


# --- what is told --------------------------------------------------------------------------------


def normal(value: float, p: Any, rng: Generator) -> float:
    return value + rng.normal(0, 0.1)


def jumps(value: float, p: Any, rng: Generator) -> float:
    """Now and then a value far off, more often where x is large."""
    odds = 0.02 + 0.1 * p["x"]
    return float(value + 5.0 * (float(rng.random() < odds) - odds))


def timeouts(value: float, p: Any, rng: Generator) -> float:
    """Rarely a huge loss, and a little less than the mean in all other rounds."""
    odds = 0.01 * (1 + p["x"])
    return float(value + (20.0 if rng.random() < odds else -20.0 * odds / (1 - odds)))


def misleading(value: float, p: Any, rng: Generator) -> float:
    """Who takes the huge losses for faults finds that large x are better, and they are worse."""
    odds = 0.005 + 0.03 * p["x"]
    return float(value + 20.0 * (float(rng.random() < odds) - odds) + rng.normal(0, 0.05))


def success(value: float, p: Any, rng: Generator) -> float:
    """1 with this probability, or 0."""
    return float(rng.random() < value)


def multiplied(value: float, p: Any, rng: Generator) -> float:
    return float(value + p["x"] * rng.normal())


# --- games ---------------------------------------------------------------------------------------

UNIT = {"a": Integer(0, 1, start=0), "b": Integer(0, 1, start=0)}
PAIR = {"a": Integer(0, 5, start=1), "b": Integer(0, 5, start=4)}
LEVELS = {"a": Integer(0, 3, start=0), "b": Integer(0, 3, start=0)}
TRIPLE = {name: Integer(0, 2, start=0) for name in "abc"}
BIT = {"n": Integer(0, 1, start=0)}
MIXED = {"n": Integer(0, 1, start=0), "x": Real(0, 1, start=0.2)}
BESIDE = {"n": Integer(0, 5, start=1), "x": Real(0, 1, start=0.2)}
SPLIT = {"n": Integer(0, 5, start=1), "mix": Shares(["old", "new"])}
ARMS = {"mix": Shares(["a", "b"])}
THREE = {"mix": Shares(["a", "b", "c"])}
LINE = {"x": Real(0, 1, start=0.8)}
SQUARE = {"x": Real(0, 1, start=0.8), "y": Real(0, 1, start=0.2)}
COUNT = {"n": Integer(0, 8, start=1)}

FLAT: dict[str, Any] = {"value_range": (0, 1), "smoothness": 0}
SEPARABLE = {"separable": True}

LOTS: dict[str, Game] = {
    "two bits, separable": Game(pair, 0.0, UNIT, SEPARABLE | {"lipschitz": 1.5}),
    "two bits": Game(pair, 0.0, UNIT, {"lipschitz": 1.5}, promised=False),
    "a bit beside a real": Game(follower, 0.0, MIXED, {"lipschitz": 3}, promised=False),
    "a bit that becomes better, range": Game(later_number, 0.175, BIT, FLAT),
    "a bit that becomes better, slope": Game(
        later_number, 0.175, BIT, {"value_range": (0, 1), "lipschitz": 0.5}
    ),
    "an arm that becomes better": Game(later_arm, 0.175, ARMS, FLAT, play=by_odds),
    "an arm that becomes better, by lot": Game(
        later_arm, 0.175, ARMS, FLAT | {"by_lot": True}, play=by_odds
    ),
    "losses that are no faults": Game(line, 0.0, LINE, {"smoothness": 0}, measure=misleading),
}
"""Games in which clipping what is rare cost the certificate."""

MORE: dict[str, Game] = {
    "two numbers": Game(terms, 0.0, PAIR, SEPARABLE | {"lipschitz": 8.1}, measure=normal),
    "two numbers, range": Game(
        terms, 0.0, PAIR, SEPARABLE | {"lipschitz": 8.1, "value_range": (-1, 7)}, measure=normal
    ),
    "two numbers, not said": Game(terms, 0.0, PAIR, {"lipschitz": 8.1}, promised=False),
    "numbers apart": Game(apart, 0.0, LEVELS, SEPARABLE | {"lipschitz": 5.5}),
    "the larger of two": Game(larger, -0.3, LEVELS, SEPARABLE | {"lipschitz": 2.2}),
    "a chain of three": Game(
        chain, 0.0, TRIPLE, SEPARABLE | {"lipschitz": 5.4, "value_range": (0, 5)}
    ),
    "a chain of three, not said": Game(chain, 0.0, TRIPLE, {"lipschitz": 5.4}, promised=False),
    "a number beside a real": Game(
        beside, 0.0, BESIDE, SEPARABLE | {"lipschitz": 5.4}, measure=normal
    ),
    "a number beside a real, not said": Game(
        beside, 0.0, BESIDE, {"lipschitz": 5.4}, promised=False
    ),
    "a number beside shares": Game(split, 0.0, SPLIT, SEPARABLE | {"lipschitz": 5.1}),
    "three arms": Game(arm, 0.2, THREE, {"smoothness": 0}, play=by_odds),
    "three arms, range": Game(arm, 0.2, THREE, FLAT, play=by_odds),
    "three arms by lot, range": Game(arm, 0.2, THREE, FLAT | {"by_lot": True}, play=by_odds),
    "jumps": Game(bowl, 0.0, LINE, {"smoothness": 2}, measure=jumps),
    "jumps, range": Game(bowl, 0.0, LINE, {"smoothness": 2, "value_range": (-1, 6)}, measure=jumps),
    "timeouts": Game(bowl, 0.0, LINE, {"smoothness": 2}, measure=timeouts),
    "timeouts, range": Game(
        bowl, 0.0, LINE, {"smoothness": 2, "value_range": (-1, 21)}, measure=timeouts
    ),
    "successes": Game(valley, 0.2, LINE, {"lipschitz": 0.6}, measure=success),
    "successes, range": Game(
        valley, 0.2, LINE, {"lipschitz": 0.6, "value_range": (0, 1)}, measure=success
    ),
    "successes of a number": Game(
        count, 0.1, COUNT, {"lipschitz": 0.8, "value_range": (0, 1)}, measure=success
    ),
    "noise that x multiplies": Game(two_bowls, 0.0, SQUARE, {"smoothness": 2}, measure=multiplied),
}
"""Games of the same kind."""
