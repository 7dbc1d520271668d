"""Games made to mislead a model: a policy, the same with its guard, Predictive, AdaptiveSmooth.

    python evidence/hostile.py [--dims 2 5] [--games 5] [--rounds 2000] [--kinds hostile boundary]

Losses are sums of kappa_t + g_t.x + omega_t/2 |x - w_t|^2 on [-1, 1]^d, written down before the
game, so that the best point in hindsight is known.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt, sqrt

import numpy as np

import dikin
from dikin.tuning.search import Search
from dikin.tuning.sets import Cube
from dikin.vectors import Array
from evidence.guard import Guard

Generator = np.random.Generator


@dataclass
class Game:
    """What every round's loss is made of."""

    constants: Array
    slopes: Array
    bends: Array
    minima: Array
    noise: Array

    def value(self, t: int, x: Array) -> float:
        away = x - self.minima[t]
        return float(self.constants[t] + self.slopes[t] @ x + 0.5 * self.bends[t] * away @ away)

    def best(self, rounds: int) -> tuple[Array, Array]:
        """The best point in hindsight and what it costs in every round."""
        bend = self.bends[:rounds].sum()
        slope = self.slopes[:rounds].sum(0) - self.bends[:rounds] @ self.minima[:rounds]
        x = -np.sign(slope) if bend == 0.0 else np.clip(-slope / bend, -1, 1)
        return x, np.array([self.value(t, x) for t in range(rounds)])

    @property
    def smoothness(self) -> float:
        return float(self.bends.max())

    @property
    def range(self) -> tuple[float, float]:
        d = self.slopes.shape[1]
        reach = np.abs(self.slopes).sum(1)
        far = ((1.0 + np.abs(self.minima)) ** 2).sum(1)
        noise = np.abs(self.noise).max()
        low = float((self.constants - reach).min() - noise)
        return low, float(
            (self.constants + reach + 0.5 * self.bends * far).max() + noise
        ) + 1e-9 * d


def unit(rng: Generator, d: int) -> Array:
    v = rng.normal(size=d)
    return v / np.linalg.norm(v)


def hostile(kind: str, d: int, T: int, rng: Generator) -> Game:
    """The eleven kinds; slopes are those of a linear loss in [-1, 1] or so."""
    t = np.arange(T)
    signs = rng.choice([-1.0, 1.0], size=T)
    a, b = unit(rng, d) / sqrt(d), unit(rng, d) / sqrt(d)
    w = rng.uniform(-0.6, 0.6, d)
    zero, one = np.zeros(T), np.ones(T)
    alpha, gamma, kappa, bend, noise = zero, zero, zero, 0.0, zero
    minima = np.tile(w, (T, 1))
    bowl = 1.0 / d
    match kind:
        case "period":
            alpha, gamma = 0.7 * rng.choice([-1.0, 1.0], size=32)[t % 32], 0.3 * one
        case "bursts":
            alpha = np.where(t % 200 >= 180, -1.0, 0.25)
        case "spikes 5%":
            bend, kappa = bowl, np.where(rng.random(T) < 0.05, signs, 0.0)
        case "spikes 1%":
            bend, kappa = bowl, np.where(rng.random(T) < 0.01, signs, 0.0)
        case "switch":
            alpha = np.where(t // isqrt(T) % 2 == 0, 1.0, -1.0)
        case "storm":
            on = np.where(t >= T // 2, 1.0, 0.0)
            alpha, gamma = 0.6 * on * signs, 0.4 * on
        case "steady":
            alpha = one
        case "alternate":
            alpha, kappa = 0.2 * one, np.where(t % 2 == 0, 0.8, -0.8)
        case "random sign":
            alpha = signs
        case "noise spikes":
            bend = bowl
            noise = 0.05 * rng.normal(size=T) + np.where(rng.random(T) < 0.05, signs, 0.0)
        case "drift":
            bend = bowl
            angle = 2 * np.pi * t / T
            minima = np.tile(0.0 * w, (T, 1))
            minima[:, 0] = 0.5 * np.cos(angle)
            minima[:, -1] = 0.5 * np.sin(angle)
    slopes = np.outer(alpha, a) + np.outer(gamma, b)
    return Game(kappa + zero, slopes, bend + zero, minima, noise)


HOSTILE = (
    "period", "bursts", "spikes 5%", "switch", "storm", "steady", "alternate", "random sign",
    "noise spikes", "spikes 1%", "drift",
)  # fmt: skip


def boundary(kind: str, d: int, T: int, rng: Generator) -> Game:
    """Bowls whose minimum is on the boundary, or beyond it, or in a corner; and inside."""
    noise, where = kind.split()
    w = rng.uniform(-0.6, 0.6, d)
    end = rng.choice([-1.0, 1.0], size=d)
    match where:
        case "face":
            w[0] = end[0]
        case "beyond":
            w[0] = 1.5 * end[0]
        case "corner":
            w = end
    zero = np.zeros(T)
    sigma = float(noise)
    return Game(zero, np.zeros((T, d)), 1.0 / d + zero, np.tile(w, (T, 1)),
                sigma * rng.normal(size=T))  # fmt: skip


NONE = np.zeros(0)
BOUNDARY = tuple(f"{s} {w}" for s in (".02", ".2") for w in ("inside", "face", "beyond", "corner"))


class Policy(Search):
    """The search, and what it expects around a centre."""

    def __init__(self, d: int, rng: Generator) -> None:
        super().__init__(Cube(d), np.zeros(d))

    def propose(self) -> tuple[Array, Array]:
        """The centre and the square of the factor."""
        place = self._planned(NONE, 0)
        return place.y, self.space.d * place.R @ place.R.T

    def forecast(self, y: Array) -> tuple[float, Array, Array]:
        """Level, slope and curvature at y."""
        f, model = self.model.features, self.model
        m, here = model.average[0], y - model.c
        return model.offset + float(f.row(here) @ m), f.gradient(m, here), f.curvature(m)


def play_model(game: Game, T: int, seed: int, guarded: bool, known: bool) -> tuple[Array, Guard]:
    d = game.slopes.shape[1]
    rng = np.random.default_rng(seed)
    policy = Policy(d, rng)
    guard = Guard(dikin.Box(-np.ones(d), np.ones(d)), value_range=game.range if known else None,
                  seed=seed)  # fmt: skip
    paid = np.empty(T)
    for t in range(T):
        if guard.model_plays or not guarded:
            y, square = policy.propose()
            if guarded:
                y, factor = guard.shape(y, square)
                policy.places[0].y = y
            else:
                factor = sqrt(d) * policy.places[0].R
            s = unit(rng, d)
            z = factor @ s
            trial = guard.begin(y, factor, s, *policy.forecast(y))
            x = y + z
        else:
            x, trial = guard.ask()
        paid[t] = game.value(t, x)
        policy.tell(x, (), paid[t] + game.noise[t], weights=NONE)
        if guarded:
            guard.tell(trial, paid[t] + game.noise[t])
    return paid, guard


def play_learner(make: Callable[[], dikin.learners.base.Learner], game: Game, T: int) -> Array:
    learner = make()
    paid = np.empty(T)
    for t in range(T):
        query = learner.ask()
        paid[t] = game.value(t, query.point)
        learner.tell(query, loss=paid[t] + game.noise[t])
    return paid


def regrets(kind: str, d: int, T: int, seed: int, known: bool) -> dict[str, float]:
    rng = np.random.default_rng([seed, d, *kind.encode()])
    game = (hostile if kind in HOSTILE else boundary)(kind, d, T, rng)
    box = dikin.Box(-np.ones(d), np.ones(d))
    best = game.best(T)[1].sum()
    ranges = game.range if known else None
    model, _ = play_model(game, T, seed, False, known)
    guarded, guard = play_model(game, T, seed, True, known)
    predictive = play_learner(lambda: dikin.Predictive(box, loss_range=ranges, seed=seed), game, T)
    adaptive = play_learner(
        lambda: dikin.AdaptiveSmooth(box, max(game.smoothness, 0.01), loss_range=game.range,
                                     seed=seed), game, T)  # fmt: skip
    bound = guard.certificate.certificate_for(smoothness=game.smoothness)
    return {
        "model": model.sum() - best, "guarded": guarded.sum() - best,
        "Predictive": predictive.sum() - best, "Adaptive": adaptive.sum() - best,
        "switches": guard.switches, "cost": guard.stretch.cost(box),
        "promise": guard.promise, "bound": bound,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5])
    parser.add_argument("--games", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--kinds", nargs="+", default=["hostile", "boundary"])
    parser.add_argument("--range", action="store_true", help="declare the range of the values")
    args = parser.parse_args()
    logging.getLogger("dikin").setLevel(logging.ERROR)
    kinds = [k for name in args.kinds
             for k in {"hostile": HOSTILE, "boundary": BOUNDARY}.get(name, (name,))]  # fmt: skip
    for d in args.dims:
        good = 0
        print(f"d={d:<3}            model guarded Predict Adaptiv   switches cost promise  bound")
        for kind in kinds:
            rows = [regrets(kind, d, args.rounds, args.seed + i, args.range)
                    for i in range(args.games)]  # fmt: skip
            mean = {k: float(np.mean([row[k] for row in rows])) for k in rows[0]}
            better = min(mean["Predictive"], mean["Adaptive"])
            ok = mean["guarded"] <= 1.3 * better if better > 0 else mean["guarded"] <= 0.7 * better
            good += ok
            print(f"{kind:14}" + "".join(f"{mean[k]:8.1f}" for k in
                  ("model", "guarded", "Predictive", "Adaptive", "switches", "cost", "promise",
                   "bound")) + ("  ok" if ok else ""), flush=True)  # fmt: skip
        print(f"within 1.3 of the better of the two: {good} of {len(kinds)}")


if __name__ == "__main__":
    main()
