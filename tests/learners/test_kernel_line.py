"""KernelLine against its text, and the two facts that its bound rests on."""

from math import log, sqrt
from statistics import NormalDist

import numpy as np
import pytest

import dikin
from learners.taps import tapped

T, ROUNDS = 90, 150  # no square: points of the grid at eps exactly would be decided by rounding


class SegmentText:
    """The text in plain loops, on [a, b] with losses in [0, 1]."""

    def __init__(self, a: float, b: float, T: int) -> None:
        self.a, self.b = a, b
        self.eps = (b - a) / sqrt(T)
        self.N = 2 * int(np.ceil(sqrt(T))) + 1
        self.x = [a + (b - a) * j / (self.N - 1) for j in range(self.N)]
        self.V = 2 * (1 + log((b - a) / self.eps))
        self.estimates: list[list[float]] = []

    def eta(self) -> float:
        return sqrt(log(self.N) / ((len(self.estimates) + 1) * self.V))

    def p(self) -> list[float]:
        totals = [sum(row[j] for row in self.estimates) for j in range(self.N)]
        weights = [float(np.exp(-self.eta() * (total - min(totals)))) for total in totals]
        return [w / sum(weights) for w in weights]

    def mu(self) -> float:
        return sum(p * x for p, x in zip(self.p(), self.x, strict=True))

    def flat(self, mu: float) -> tuple[float, float]:
        return max(mu - self.eps, self.a), min(mu + self.eps, self.b)

    def kernel(self, y: float, x: float, mu: float) -> float:
        if abs(x - mu) >= self.eps:
            between = min(mu, x) <= y <= max(mu, x)
            return 1 / abs(x - mu) if between else 0.0
        low, high = self.flat(mu)
        return 1 / (high - low) if low <= y <= high else 0.0

    def play(self, chance: float) -> float:
        """The index, then the place, from one uniform number."""
        p, mu, i = self.p(), self.mu(), 0
        while chance > p[i]:
            chance -= p[i]
            i += 1
        share = chance / p[i]
        low, high = (mu, self.x[i]) if abs(self.x[i] - mu) >= self.eps else self.flat(mu)
        return low + share * (high - low)

    def told(self, y: float, f: float) -> None:
        p, mu = self.p(), self.mu()
        q = sum(p[i] * self.kernel(y, self.x[i], mu) for i in range(self.N))
        self.estimates.append([f * self.kernel(y, x, mu) / q for x in self.x])


@pytest.mark.parametrize("lead", [0.0, 50.0])
def test_kernel_line_is_its_text(lead: float) -> None:
    """On Box([2], [5]). The lead is a first estimate that draws the mean to the end of the line."""
    text = SegmentText(2, 5, T)
    learner = dikin.KernelLine(dikin.Box([2], [5]), T, loss_range=(-4, 6), seed=3)
    text.estimates.append([lead * (5 - x) for x in text.x])
    learner.rounds = 1
    learner._sums = np.array(text.estimates[0])
    tap, stuck_out = tapped(learner), 0
    for t in range(ROUNDS):
        point = float(learner.ask().point[0])
        stuck_out += text.mu() + text.eps > 5
        y = text.play(NormalDist().cdf(float(tap.last[0])))
        f = 0.5 + 0.5 * float(np.cos(3 * point + t))
        learner.tell(t, -4 + 10 * f)
        text.told(y, f)
        assert max(abs(point - y), abs(float(learner.center[0]) - text.mu())) < 1e-9
    assert (stuck_out > 5) == (lead > 0)


def test_refusals() -> None:
    with pytest.raises(dikin.DikinError, match=r"Simplex.*dimension 2: use BanditNewton"):
        dikin.KernelLine(dikin.Simplex(3), 100)
    with pytest.raises(dikin.DikinError, match=r"grid of 2e\+08 points"):
        dikin.KernelLine(dikin.Ball(1), 10**16)
    with pytest.raises(dikin.DikinError, match="horizon"):
        dikin.KernelLine(dikin.Ball(1), 1)
