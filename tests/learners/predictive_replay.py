"""The shipped `Predictive` and its transcription, side by side on the same answers.

Some things are the shipped learner's own. Exploring and smoothing are priced together (docs, 5.1):
L sqrt(tau/d) for Lipschitz losses, and the smaller price where both constants are declared. Without
a known range the first eight answers are played half-way out and move nothing, nor do more of them
while losses are the same; each is compared with the median of those before it, the first with the
second, and the first eight weigh the same. Later on nothing is learnt from a surprise of more than
three levels.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any

import numpy as np

import dikin
from dikin.learners.predictive_schedule import (
    AVERAGE,
    CURVATURE,
    LAST,
    LAST_WEIGHT,
    LEVEL,
    MEAN_WEIGHT,
    MEASURED,
    NONE,
    OWN,
    OWN_WEIGHT,
    RATE,
    TRENDING,
    TRENDING_WEIGHT,
    expectation,
)
from learners.predictive_spaces import Space
from reference.barriers import Array
from reference.predictive import PredictiveReference, inside

CENTER = 1e-10
"""In units of the radius: Newton's method and the closed forms, after some sixty rounds."""
CERTIFICATE = 1e-9

BETA, STEEP = 1.2, 0.3
"""In working units, so that each of the two prices is the smaller one in some rounds."""

FAR = 3.0
REACH = 0.5


@dataclass(frozen=True)
class Setting:
    """What a learner is built with."""

    constants: str
    ranged: bool
    start: bool
    memory: float | None
    late: int
    same: int = 0
    """How many losses are the same at first."""


@dataclass
class Replay:
    """One run of both."""

    space: Space
    setting: Setting
    kind: Callable[..., Any] = dikin.Predictive
    values: list[float] = field(default_factory=list)
    """The losses of the answers that only measured."""

    def __post_init__(self) -> None:
        space, setting = self.space, self.setting
        self.rng = np.random.default_rng([1, 17])
        self.low, self.high = (3.0, 11.0) if setting.ranged else (-1.0, 1.0)
        self.start = inside(space.psi, self.rng) if setting.start else np.zeros(space.dim)
        self.beta = BETA if setting.constants in ("smooth", "both") else None
        self.steep = STEEP if setting.constants in ("Lipschitz", "both") else None
        self.learner = self.kind(
            space.domain,
            None if self.beta is None else self.beta * self.smoothness_unit,
            lipschitz=None if self.steep is None else self.steep * self.slope_unit,
            loss_range=(self.low, self.high) if setting.ranged else None,
            start=space.to_user(self.start) if setting.start else None,
            memory=setting.memory,
            seed=1,
        )
        self.reference = PredictiveReference(
            space.psi, space.dim, self.start, setting.memory, self.learner._state.numbers[RATE]
        )
        self.reference.measured = 0 if setting.ranged else MEASURED
        self.keys: dict[int, int] = {}

    # Units

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2

    @property
    def smoothness_unit(self) -> float:
        """|v| after every side was stretched to the longest: R longest |u|."""
        return self.half / (self.space.radius * self.space.longest) ** 2

    @property
    def curvature_unit(self) -> float:
        return self.half / (self.space.radius * self.space.shortest) ** 2

    @property
    def slope_unit(self) -> float:
        return self.half / (self.space.radius * self.space.longest)

    # The game

    def ask(self) -> Any:
        own = self.rng.uniform(-1, 1) if self.rng.random() < 0.3 else None
        forecast = None if own is None else (self.low + self.high) / 2 + self.half * own
        query = self.learner.ask(forecast=forecast)
        then = self.learner._open[query.id][1][0].numbers
        z = self.space.to_work(query.point) - self.reference.center
        reach = REACH if then[LEVEL] == 0 else 1.0
        self.keys[query.id] = self.reference.ask(
            expectation(self.learner._kernel, then), then[LEVEL], z / reach, reach
        )
        return query

    def loss(self, u: Array) -> float:
        """A bowl, noise, and one in five far outside of what may be expected."""
        if len(self.reference.answers) < self.setting.same:
            return 0.25
        bowl = 0.4 * float((u - 0.2) @ (u - 0.2)) - 0.3
        return bowl + float(self.rng.normal()) * (9.0 if self.rng.random() < 0.2 else 0.1)

    def tell(self, query: Any) -> None:
        learner, reference = self.learner, self.reference
        before = learner._state.numbers.copy()
        asked = reference.queries[self.keys[query.id]]
        loss = self.loss(self.space.to_work(query.point))
        most = min(learner.curvature_limit[0] / self.curvature_unit, 1.0)
        sigma = float(self.rng.choice([0.0, self.rng.uniform(0, most)]))
        then = learner._open[query.id][1][0].numbers
        learner.tell(
            query, (self.low + self.high) / 2 + self.half * loss, sigma * self.curvature_unit
        )
        after = learner._state.numbers
        if before[LEVEL] == 0:
            self.measure(self.keys[query.id], loss, after[RATE])
            return
        forecast, level = self.mixed(then), asked.level
        if level == 0:  # asked while it was measured how large losses are
            forecast, level = expectation(learner._kernel, before), before[LEVEL]
        loss = float(np.clip(loss, -1, 1)) if self.setting.ranged else loss
        surprise = loss - forecast
        learnt = float(np.clip(surprise, -level, level))
        if not self.setting.ranged and abs(surprise) > FAR * level:
            learnt = 0.0
        lam = after[CURVATURE] - reference.gamma * before[CURVATURE] - sigma
        reference.tell(
            self.keys[query.id], loss, sigma, lam, after[RATE], forecast=forecast, learnt=learnt
        )

    def mixed(self, then: list[float]) -> float:
        """The forecast: the mean of those that are awake, by weight."""
        weights = then[LAST_WEIGHT], then[TRENDING_WEIGHT], then[MEAN_WEIGHT], then[OWN_WEIGHT]
        advice = then[LAST], then[TRENDING], then[AVERAGE], then[OWN]
        awake = [(w, p) for w, p in zip(weights, advice, strict=True) if p != NONE]
        mean = sum(w * p for w, p in awake) / sum(w for w, _ in awake)
        return float(np.clip(mean, -1, 1)) if self.setting.ranged else mean

    def measure(self, key: int, loss: float, rate: float) -> None:
        """An answer that only measures: its forecast is the median of the others before it."""
        reference = self.reference
        expected = float(np.median(self.values)) if self.values else 0.0
        reference.tell(key, loss, 0.0, 0.0, rate, forecast=expected, learnt=0.0)
        self.values.append(loss)
        if len(self.values) == 2:
            reference.answers[0] = replace(reference.answers[0], forecast=loss)

    def play(self, answers: int) -> "Replay":
        """Up to `late` queries stay open, answered in any order; one in ten is forgotten."""
        waiting, told, late = list[Any](), 0, self.setting.late
        while told < answers:
            waiting.append(self.ask())
            if len(waiting) <= late and self.rng.random() < 0.7:
                continue
            query = waiting.pop(int(self.rng.integers(len(waiting))))
            if late and self.rng.random() < 0.1:
                self.learner.forget(query)
                continue
            self.tell(query)
            told += 1
            gap = self.space.to_work(self.learner.center) - self.reference.center
            assert np.abs(gap).max() <= CENTER, f"centres differ by {np.abs(gap).max()}"
            if told % 8 < 2:
                self.compare_certificates()
        return self

    def compare_certificates(self) -> None:
        learner, measuring = self.learner, self.learner._state.numbers[LEVEL] == 0
        lost = nan if measuring else self.reference.lost_to_the_best()

        def bound(beta: float | None, steep: float | None) -> float:
            return self.half * (self.reference.exploring(beta, steep) + lost)

        later = learner.certificate_for(smoothness=0.7 * self.smoothness_unit)
        self.close(later, bound(0.7, None))
        later = learner.certificate_for(lipschitz=0.9 * self.slope_unit)
        self.close(later, bound(None, 0.9))
        if self.setting.constants == "nothing":
            assert isnan(learner.certificate)
        else:
            self.close(learner.certificate, bound(self.beta, self.steep))

    def close(self, shipped: float, wanted: float) -> None:
        """In units of the largest term: the certificate is a difference of products with slopes."""
        same = isnan(shipped) and isnan(wanted)
        slopes = [float(np.linalg.norm(a.full_estimate)) for a in self.reference.answers]
        most = self.half * max(self.reference.discounted(slopes), 1.0)
        assert same or abs(shipped - wanted) <= CERTIFICATE * most, f"{shipped} {wanted}"
