"""Coverage of the uplift's interval, holds of the guard, and power, in simulated loops.

Coverage: in how many loops is the true gain outside an interval that is printed, at any time up to
round 5,000? Guard: when does it hold, and how often without reason? Power: how many rounds does it
take to see a gain? About four minutes on one core.

    python -m evidence.worth [--loops N] [--out FOLDER]

The loops of a kind are simulated together, as arrays, by formulas that are written here once more.
`tests/worth/test_coverage.py` compares them with `dikin.worth` number by number.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from math import exp, inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, lambertw

from dikin.worth import rounds_to_see
from dikin.worth.estimate import MEMORY, QUANTILE, RARE, ROUNDS, STEP, TIMES, WINDOW
from dikin.worth.holdback import LOST_ALPHA, PRIOR
from dikin.worth.sums import AGAIN, ALIKE, ANSWERS, FEWEST, NARROWEST
from evidence.games import ROOT, write_table

LOOPS, LENGTH, SEED, ALPHA = 2000, 5000, 26_000, 0.05
FORECAST = 64
"""Rounds that the forecast of the simulated tuner remembers."""

Array = np.typing.NDArray[np.float64]
Marks = np.typing.NDArray[np.bool_]
Generator = np.random.Generator
Means = tuple[float, float]


# --- what is simulated ---------------------------------------------------------------------------


class Kind(NamedTuple):
    """Loops of one kind: `rounds` has the mean values of either arm, and the values, by round."""

    about: str
    rounds: Callable[[Generator, int], Iterator[tuple[Means, Array]]]
    holdback: float = 0.05
    value_range: tuple[float, float] | None = None
    lost: float = 0.0
    """The share of the control's values below its mean that get lost."""
    fault: float = 0.0
    """The share of the values that are 40 times too large."""


def normal(chance: Generator, shape: tuple[int, int]) -> Array:
    return chance.standard_normal(shape)


def steady(
    chance: Generator,
    loops: int,
    *,
    level: Callable[[int], float] = lambda t: 100.0,
    gain: Callable[[int], float] = lambda t: 4.0,
    noise: Callable[[Generator, tuple[int, int]], Array] = normal,
    scale: Callable[[int], float] = lambda t: 1.0,
    control: float = 1.0,
    common: float = 0.0,
) -> Iterator[tuple[Means, Array]]:
    """Values of a level, with a gain and noise of 10, all times a scale.

    `control` is a factor of the noise of the control, `common` the correlation between rounds of a
    part of the noise that is common to both arms.
    """
    t, shared = 0, 10.0 * chance.standard_normal(loops) if common else np.zeros(loops)
    while True:
        t += 1
        means = (level(t) + gain(t)) * scale(t), level(t) * scale(t)
        e = 10.0 * noise(chance, (2, loops)) * np.array([[1.0], [control]])
        if common:
            shared = common * shared + 10 * (1 - common**2) ** 0.5 * chance.standard_normal(loops)
            e = shared + 0.3 * e
        yield means, np.array(means)[:, None] + e * scale(t)


def rare(
    chance: Generator,
    loops: int,
    *,
    shares: Means,
    size: float = 1.0,
    spread: float = 0.0,
    base: float = 0.0,
) -> Iterator[tuple[Means, Array]]:
    """A value of some size in a share of the rounds, log-normal with a spread, above a base."""
    mean = size * exp(spread**2 / 2)
    while True:
        values = size * chance.lognormal(0.0, spread, (2, loops)) if spread else size
        come: Any = (chance.random((2, loops)) < np.array(shares)[:, None]) * values
        if base:
            come = come + base + 0.1 * base * chance.standard_normal((2, loops))
        yield (base + shares[0] * mean, base + shares[1] * mean), come


def bounded(chance: Generator, loops: int) -> Iterator[tuple[Means, Array]]:
    while True:
        yield (2.2 / 4.2, 0.5), np.array([chance.beta(2.2, 2, loops), chance.beta(2, 2, loops)])


def wave(low: float, high: float, length: float, begin: float = 0.0) -> Callable[[int], float]:
    """Return a number that goes up and down."""
    middle, half = (low + high) / 2, (high - low) / 2
    return lambda t: middle + half * float(np.sin(2 * np.pi * t / length + begin))


def student(chance: Generator, shape: tuple[int, int]) -> Array:
    return chance.standard_t(2.5, shape)


def skewed(chance: Generator, shape: tuple[int, int]) -> Array:
    found: Array = chance.lognormal(0.0, 1.0, shape) - exp(0.5)
    return found


def sells(first: float, second: float, about: str, q: float = 0.1, **more: Any) -> Kind:
    """Return loops in which something comes in a share of the rounds, tuned and at the control."""
    text = f"{about} in {100 * second:g} % of the rounds, tuned {100 * first:g} %"
    return Kind(text, partial(rare, shares=(first, second), **more), q)


KINDS = {
    "still": Kind("nothing changes", steady),
    "drifting": Kind(
        "level 70 to 130 in 3 000 rounds, gain -6 to 6 in 4 000",
        partial(steady, level=wave(70, 130, 3000), gain=wave(-6, 6, 4000, 1.0)),
    ),
    "improving": Kind(
        "the gain grows from -2 to 6", partial(steady, gain=lambda t: 6 - 8 / (1 + t / 50) ** 0.5)
    ),
    "heavy tails": Kind("Student's t, 2.5 degrees of freedom", partial(steady, noise=student)),
    "skewed": Kind("lognormal noise", partial(steady, noise=skewed)),
    "autocorrelated": Kind("noise with a correlation of 0.9", partial(steady, common=0.9)),
    "season": Kind("level 70 to 130 in 200 rounds", partial(steady, level=wave(70, 130, 200))),
    "outliers": Kind("one value in a hundred times 40", steady, fault=0.01),
    "faults in a range": Kind(
        "the same, declared to be in 0 to 200", steady, 0.05, (0, 200), 0, 0.01
    ),
    "other scale": Kind(
        "all values times 10 from round 2 000",
        partial(steady, scale=lambda t: 10.0 if t >= 2000 else 1.0),
    ),
    "noisy control": Kind("noise of the control times 4", partial(steady, control=4.0)),
    "tiny holdback": Kind("2 % held back", steady, 0.02),
    "large holdback": Kind("20 % held back", steady, 0.2),
    "bounded": Kind("values in [0, 1]", bounded, 0.05, (0.0, 1.0)),
    "rare 3 %": sells(0.036, 0.03, "a purchase of 100", 0.05, size=100.0),
    "rare 1 %, harm": sells(0.004, 0.01, "a conversion"),
    "rare 1 %, gain": sells(0.025, 0.01, "a conversion"),
    "rare 2 %, harm": sells(0.01, 0.02, "a conversion"),
    "rare 2 %, gain": sells(0.04, 0.02, "a conversion"),
    "rare 5 %, harm": sells(0.025, 0.05, "a conversion"),
    "revenue 2 %, harm": sells(0.008, 0.02, "log-normal", size=20.0, spread=1.0),
    "revenue 2 %, gain": sells(0.05, 0.02, "log-normal", size=20.0, spread=1.0),
    "revenue 5 %, harm": sells(0.025, 0.05, "log-normal", size=20.0, spread=1.0),
    "heavy revenue, harm": sells(0.025, 0.05, "log-normal, spread 1.5,", size=20.0, spread=1.5),
    "big buyers 1 %, harm": sells(0.005, 0.01, "100, and 2,000", size=2000.0, base=100.0),
    "big buyers 2 %, harm": sells(0.01, 0.02, "100, and 2,000", 0.15, size=2000.0, base=100.0),
    "big buyers 2 %, gain": sells(0.04, 0.02, "100, and 2,000", size=2000.0, base=100.0),
    "lost values": Kind("30 % of the control's low values lost", steady, 0.1, lost=0.3),
}


# --- the estimate, for many loops at once --------------------------------------------------------


@cache
def best_product(alpha: float) -> float:
    """Return the x at which (1 + 1/x) ln((x + 1)/alpha^2) is least, by Lambert's function."""
    return -1.0 - float(lambertw(-(alpha**2) / exp(1.0), -1).real)


class ManySums:
    """Sums over the same rounds of many loops. The first axis is the arm."""

    def __init__(self, loops: int) -> None:
        self.answers, self.values, self.squares = (np.zeros((2, loops)) for _ in range(3))
        self.largest, self.beyond, self.first_spread = (np.zeros(loops) for _ in range(3))

    @property
    def rounds(self) -> Array:
        found: Array = self.answers.sum(axis=0)
        return found

    def add(self, clipped: Array, raw: Array, arms: Marks, guesses: Array, q: float) -> None:
        """Add a round. `arms` marks the arm that has an answer."""
        weights = arms / np.array([[1 - q], [q]])
        self.answers += arms
        self.values += guesses * arms.any(axis=0) + weights * clipped
        self.squares += arms * clipped**2
        self.largest = np.maximum(self.largest, arms.any(axis=0) * clipped**2)
        self.beyond += (weights[0] - weights[1]) * (raw - clipped)
        new = (self.first_spread == 0) & (self.answers[1] >= FEWEST)
        if new.any():
            self.first_spread[new] = self.spreads(q).sum(axis=0)[new]

    def spreads(self, q: float) -> Array:
        tuned, control = (self.squares + AGAIN * self.largest) / np.maximum(self.answers, 1)
        found: Array = self.rounds * np.array([tuned / (1 - q), np.maximum(control, tuned) / q])
        return found

    def interval(self, q: float, alpha: float, weight: Array | float = 1.0) -> tuple[Array, Array]:
        """Return middle and half of the interval of the sum of v(tuned) - weight v(control)."""
        tuned, control = self.spreads(q)
        with np.errstate(divide="ignore", invalid="ignore"):
            grown = (tuned + control) / self.first_spread * FEWEST / NARROWEST * best_product(alpha)
            factor = (1 + 1 / grown) * np.log((grown + 1) / alpha**2)
            half = np.sqrt(factor * (tuned + weight**2 * control))
        half = np.where(self.first_spread > 0, half, inf)
        return self.values[0] - weight * self.values[1], half

    def is_clear(self, q: float, alpha: float) -> Marks:
        """Return whether clipping takes little away."""
        alike = np.abs(self.beyond) <= ALIKE * self.interval(q, alpha)[1]
        found: Marks = alike & (self.largest > 0) & (self.answers[1] >= FEWEST)
        return found


class ManyEstimates:
    """`UpliftEstimate` and a forecast, for many loops at once."""

    def __init__(self, loops: int, q: float, value_range: tuple[float, float] | None) -> None:
        self.q, self.value_range, self.loops = q, value_range, loops
        self.level, self.forecast = np.full(loops, inf), np.full(loops, np.nan)
        self.answers, self.raw = np.zeros((2, loops)), np.zeros((2, loops))
        self.ideas, self.errors = np.zeros((2, 2, loops)), np.zeros((2, 2, loops))
        """By idea, an offset from the forecast and a mean, and by arm."""
        self.missing = np.zeros((2, loops))
        self.all, self.windows = ManySums(loops), [ManySums(loops)]
        self.first_window, self.rounds, self.window = 0, 0, int(np.ceil(WINDOW / q))

    def add(self, value: Array, held: Marks, lost: Marks | None = None) -> None:
        """Add a round of every loop. The first values are the forecast, and are not counted."""
        if self.rounds == 0:
            self.forecast = value.copy()
        else:
            self._count(
                value, np.array([~held, held]), np.zeros_like(held) if lost is None else lost
            )
        self.rounds += 1

    def guesses(self) -> Array:
        moved, total = self.forecast + self.ideas[0], self.errors.sum(axis=0)
        share = self.errors[0] / np.where(total > 0, total, 1)
        found: Array = moved + share * (self.ideas[1] - moved)
        return found if self.value_range is None else np.clip(found, *self.value_range)

    def _count(self, value: Array, arms: Marks, lost: Marks) -> None:
        self.missing += arms & lost
        arms = arms & ~lost
        guesses = self.guesses()
        guess = np.where(arms[1], guesses[1], guesses[0])
        raw = value - guess
        levels = np.where(
            self.answers < FEWEST, inf, np.maximum(self.level, np.sqrt(self.raw / RARE))
        )
        level = np.where(arms[1], levels[1], levels[0]) if self.value_range is None else inf
        clipped = np.clip(raw, -level, level)
        for sums in (self.all, *self.windows):
            sums.add(clipped, raw, arms, guesses, self.q)
        if self.rounds % self.window == 0:
            self.windows = [*self.windows, ManySums(self.loops)][-2:]
            self.first_window = self.rounds // self.window - 1
        step = np.where(np.abs(raw) * TIMES > self.level, STEP * QUANTILE, STEP * (QUANTILE - 1))
        moved = np.where(np.isinf(self.level), TIMES * np.abs(raw), self.level * np.exp(step))
        self.level = np.where((raw != 0) & ~lost, moved, self.level)
        self._learn(guess + clipped, raw, arms)

    def _learn(self, value: Array, raw: Array, arms: Marks) -> None:
        off = np.array([value - self.forecast - self.ideas[0], value - self.ideas[1]])
        later = arms & (self.answers > 0)
        self.errors += later * (off**2 - self.errors) / np.clip(self.answers, 1, MEMORY)
        self.answers += arms
        self.ideas += arms * off / np.clip(self.answers, 1, MEMORY)
        self.raw += arms * raw**2
        step = (value - self.forecast) / np.minimum(self.answers[0] + 1, FORECAST)
        self.forecast = self.forecast + arms[0] * step

    def is_printed(self) -> Marks:
        """Return whether there is an interval of all rounds."""
        n, known = self.missing, self.all
        a, b = PRIOR * self.q, PRIOR * (1 - self.q)
        likely = n[1] * np.log(self.q) + n[0] * np.log1p(-self.q)
        likely_lost = betaln(a + n[1], b + n[0]) - betaln(a, b) - likely <= -np.log(LOST_ALPHA)
        enough = (known.rounds >= ROUNDS) | (self.value_range is not None)
        found: Marks = (
            likely_lost & enough & (known.answers[1] >= ANSWERS) & known.is_clear(self.q, ALPHA)
        )
        return found

    def window_alpha(self, place: int) -> float:
        """Return the share of the error of a window."""
        index = self.first_window + place
        return ALPHA / ((index + 1) * (index + 2))

    def is_short(self, limit: float) -> Marks:
        """Return whether tuning is surely worse than a limit allows. Large values are good."""
        found = np.zeros(self.loops, dtype=bool)
        windows = ((sums, self.window_alpha(i)) for i, sums in enumerate(self.windows))
        for sums, alpha in ((self.all, ALPHA), *windows):
            ends = [np.add(*sums.interval(self.q, alpha, w)) for w in (1 - limit, 1 + limit)]
            found |= (ends[0] < 0) & (ends[1] < 0) & sums.is_clear(self.q, alpha)
        return found


# --- coverage ------------------------------------------------------------------------------------


class Coverage(NamedTuple):
    """A line of the CSV: shares of the loops in which the truth was outside at some time."""

    kind: str
    holdback: float
    loops: int
    begins: float
    """The median round in which an interval is printed for the first time, or infinity."""
    missed: float
    """The mean gain, while an interval is printed."""
    missed_percent: float
    """The gain in per cent."""
    missed_fixed: float
    """By an interval that is valid in one round only."""
    printed: float
    """The share of the loops with an interval at the end."""
    half: float
    """Half of the width at the end, the median, and that of one who knows means and noise."""
    oracle: float


def cover(name: str, loops: int, rounds: int = LENGTH) -> Coverage:
    """Play all loops of a kind and look at every round."""
    kind, seed = KINDS[name], [SEED, [*KINDS].index(name)]
    chance, coins = np.random.default_rng([*seed, 0]), np.random.default_rng([*seed, 1])
    q, many = kind.holdback, ManyEstimates(loops, kind.holdback, kind.value_range)
    begins, missed = np.full(loops, inf), np.zeros((3, loops), dtype=bool)
    truth, noise, printed, half = np.zeros(2), np.zeros(2), np.zeros(loops, bool), np.zeros(loops)
    turns = kind.rounds(chance, loops)
    for t in range(rounds):
        means, values = next(turns)
        held = coins.random(loops) < q
        value = np.where(held, values[1], values[0])
        lost = held & (value < means[1]) & (coins.random(loops) < kind.lost)
        if kind.fault:
            value = value * np.where(coins.random(loops) < kind.fault, 40.0, 1.0)
        many.add(
            value if kind.value_range is None else np.clip(value, *kind.value_range), held, lost
        )
        if t == 0:
            continue
        truth += means
        noise += values.var(axis=1)
        middle, half = many.all.interval(q, ALPHA)
        printed = many.is_printed()
        # Rounds whose value was lost are not counted: the gain of all is that of the others.
        share = many.all.rounds / t
        ratio = truth[0] / truth[1]
        away, wide = many.all.interval(q, ALPHA, ratio)
        fixed = 1.96 * np.sqrt(many.all.spreads(q).sum(axis=0))
        far = np.abs(middle - share * (truth[0] - truth[1]))
        missed |= printed & np.array([far > half, np.abs(away) > wide, far > fixed])
        begins = np.where(printed, np.minimum(begins, t + 1), begins)
    spread = noise[0] / (1 - q) + noise[1] / q
    grown = best_product(ALPHA) * q * rounds / NARROWEST
    oracle = np.sqrt(spread * (1 + 1 / grown) * np.log((grown + 1) / ALPHA**2))
    ends = [float(np.median(each)) / abs(float(truth[1])) * 100 for each in (half, oracle)]
    shares = [float(np.mean(marks)) for marks in (*missed, printed)]
    return Coverage(name, q, loops, float(np.median(begins)), *shares, *ends)


# --- guard ---------------------------------------------------------------------------------------

LIMIT, HARM_AT, HARM_LOOPS = 0.02, 1000, 500
HARMS = (-4.0, -6.0, -10.0, -20.0)
"""Gains, in per cent of the control, from round 1 000 on."""
HARMLESS: dict[str, Callable[[int], float]] = {
    "no gain": lambda t: 0.0,
    "a gain of 4": lambda t: 4.0,
    "at the limit": lambda t: -2.0,
}
RARE_HARM = {"rare 1 %, harm": 80_000, "rare 2 %, harm": 50_000, "rare 5 %, harm": 20_000}
"""The rounds of these loops."""
RARE_GAIN = ("rare 1 %, gain", "revenue 2 %, gain", "big buyers 2 %, gain")


class Held(NamedTuple):
    """A line of the CSV: the share of loops in which the guard held, and after how many rounds."""

    kind: str
    holdback: float
    loops: int
    held: float
    median: float
    most: float
    """Rounds from the harm on: median, and 95 % quantile."""


def guard_loops(
    name: str, kind: Kind, loops: int, begin: int, number: int, rounds: int = LENGTH
) -> Held:
    """Run loops with a guard that holds at most once."""
    chance, coins = (np.random.default_rng([SEED, 100, number, i]) for i in (0, 1))
    q, many = kind.holdback, ManyEstimates(loops, kind.holdback, kind.value_range)
    held_at, turns = np.full(loops, inf), kind.rounds(chance, loops)
    for t in range(1, rounds + 1):
        held, (_, values) = coins.random(loops) < q, next(turns)
        many.add(np.where(held, values[1], values[0]), held)
        held_at = np.where(many.is_short(LIMIT) & np.isinf(held_at), t, held_at)
    delays = np.quantile(held_at - begin, [0.5, 0.95], method="higher")
    return Held(name, q, loops, float(np.mean(np.isfinite(held_at))), *map(float, delays))


def guard_rows(loops: int) -> list[Held]:
    """Measure loops with harm of several sizes, and harmless ones."""
    few = min(loops, HARM_LOOPS)
    cases = [
        (
            f"{-harm:g} % worse",
            Kind("", partial(steady, gain=partial(_from_harm, harm)), q),
            few,
            HARM_AT,
        )
        for q, harm in product((0.05, 0.1), HARMS)
    ]
    cases += [
        (f"{name}, values in 0 to 1", KINDS[name]._replace(value_range=(0.0, 1.0)), few // 2, 0)
        for name in RARE_HARM
    ]
    cases += [
        (f"harmless: {name}", Kind("", partial(steady, gain=gain)), loops, 0)
        for name, gain in HARMLESS.items()
    ]
    cases += [(f"harmless: {name}", KINDS[name], loops, 0) for name in RARE_GAIN]
    lengths = {f"{name}, values in 0 to 1": rounds for name, rounds in RARE_HARM.items()}
    return [
        guard_loops(name, kind, count, begin, number, lengths.get(name, LENGTH))
        for number, (name, kind, count, begin) in enumerate(cases)
    ]


def _from_harm(harm: float, t: int) -> float:
    return harm if t >= HARM_AT else 4.0


# --- power ---------------------------------------------------------------------------------------

GAINS, NOISES, EXPLAINED = (1.0, 2.0, 5.0, 10.0), (5.0, 20.0, 50.0), (0.0, 0.5, 0.9)


class Power(NamedTuple):
    """A line of the CSV."""

    holdback: float
    noise: float
    explained: float
    gain: float
    rounds: int


def power_rows() -> list[Power]:
    """Compute the rounds. Nothing is simulated."""
    return [
        Power(q, noise, share, gain, round(rounds_to_see(gain, noise, q, explained=share)))
        for q, noise, share, gain in product((0.05, 0.1), NOISES, EXPLAINED, GAINS)
    ]


def main() -> None:
    """Simulate, and write the three CSVs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--loops", type=int, default=LOOPS, help=f"of each kind ({LOOPS})")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "worth", help="for the CSVs")
    chosen = parser.parse_args()
    tables: dict[str, tuple[Any, list[Any]]] = {
        "coverage": (Coverage, [cover(name, chosen.loops) for name in KINDS]),
        "guard": (Held, guard_rows(chosen.loops)),
        "power": (Power, power_rows()),
    }
    for name, (row, rows) in tables.items():
        write_table(chosen.out / f"{name}.csv", "make worth", row._fields, rows)


if __name__ == "__main__":
    main()
