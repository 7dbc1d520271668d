"""The game that comes nearest to the certificate: on a line, nothing happens, then a slope.

The mean certificate is above the mean regret by three standard errors of their difference, at
fixed seeds. What is too small by a factor is not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from paper.charts import holds

LINE = dikin.Box([-1.0], [1.0])
ROUNDS, SEEDS = 400, 32
SIGMA = 0.01


@dataclass(frozen=True)
class Attack:
    make: Callable[[int], Any]
    steep: int
    """n."""
    late: int = 0
    """The most rounds after which an answer comes."""
    too_small: float = 0.8
    sigma: float = 0.0

    def loss(self, t: int, x: float) -> float:
        slope = (1.0 - self.sigma / 2) if t >= ROUNDS - self.steep else 0.0
        return slope * x + self.sigma / 2 * x * x

    def best(self, rounds: list[int]) -> float:
        """The least sum of those rounds' losses: it is a parabola, or linear."""
        slope = sum(t >= ROUNDS - self.steep for t in rounds) * (1.0 - self.sigma / 2)
        bend = self.sigma * len(rounds)
        u = -1.0 if slope >= bend else -slope / bend
        return slope * u + bend / 2 * u * u

    def play(self, seed: int) -> tuple[float, float]:
        """Regret of the rounds whose answers came, and certificate."""
        learner, chance = self.make(seed), np.random.default_rng(seed)
        total, told, waiting = 0.0, [], []
        for t in range(ROUNDS):
            query = learner.ask()
            loss = self.loss(t, float(query.point[0]))
            waiting.append((t + int(chance.integers(self.late + 1)), t, query, loss))
            for due in sorted((each for each in waiting if each[0] <= t), key=lambda e: -e[0]):
                waiting.remove(due)
                learner.tell(due[2], due[3], self.sigma)
                total += due[3]
                told.append(due[1])
        return total - self.best(told), learner.certificate


def curved(kind: Any) -> Callable[[int], Any]:
    return lambda seed: kind(LINE, ROUNDS, SIGMA, SIGMA, seed=seed)


# One learner of each formula gets its answers late.
ATTACKS = {
    "AdaptiveSmooth": Attack(lambda seed: dikin.AdaptiveSmooth(LINE, 0.0, seed=seed), 250, 3),
    "with a horizon": Attack(
        lambda seed: dikin.AdaptiveSmooth(LINE, 0.0, horizon=ROUNDS, seed=seed), 250
    ),
    "AdaptiveLipschitz": Attack(
        lambda seed: dikin.AdaptiveLipschitz(LINE, 1.0, seed=seed), 400, 3, too_small=0.5
    ),
    "Scrible": Attack(lambda seed: dikin.Scrible(LINE, ROUNDS, seed=seed), 250),
    "SahaTewari": Attack(lambda seed: dikin.SahaTewari(LINE, ROUNDS, 0.01, seed=seed), 250),
    "LipschitzBarrier": Attack(
        lambda seed: dikin.LipschitzBarrier(LINE, ROUNDS, 1.0, seed=seed), 400, too_small=0.6
    ),
    "HazanLevy": Attack(curved(dikin.HazanLevy), 250, 3, sigma=SIGMA),
    "Discard": Attack(curved(dikin.Discard), 250, sigma=SIGMA),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_certificate_is_above_the_regret_and_not_far(name: str) -> None:
    attack = ATTACKS[name]
    regret, certificate = np.array([attack.play(seed) for seed in range(SEEDS)]).T

    def check(factor: float) -> None:
        above = factor * certificate - regret
        assert above.mean() >= 3 * above.std(ddof=1) / sqrt(SEEDS)

    holds(check, 1.0, attack.too_small)
