"""The shipped `Predictive` beside the transcription of its centres, on the same answers.

Read off the learner: forecast and level of a query, the direction that was drawn, and after an
answer the rates and how large surprises are. Nothing is declared, and no range is known; so the
first eight answers only measure.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

import dikin
from dikin.learners.predictive import expectation
from dikin.learners.predictive_state import MEASURED
from learners.predictive_replay import play_out
from learners.predictive_spaces import Space
from reference.barriers import Array
from reference.ledger import inside
from reference.predictive_cells import Asked, CellsReference, Told

CENTER = 1e-10
"""In units of the radius."""
CERTIFICATE = 1e-9
"""In units of the slopes that were added up."""
REACH, FAR, SPREAD = 0.5, 3.0, 8.0
GUESS, CURVED = 10.0, 2.5
"""The smoothness that is guessed is GUESS sqrt(d) c*; lambda/2 is CURVED times the price."""


@dataclass(frozen=True)
class Case:
    """What a learner is built with, and how its answers come."""

    memory: Any = "auto"
    contexts: int = 0
    one_hot: bool = True
    start: bool = False
    late: int = 0
    told: bool = False
    """Whether a curvature is told now and then."""

    def __str__(self) -> str:
        words = [f"memory {self.memory}", f"{self.contexts} contexts" if self.contexts else ""]
        words += ["between" if self.contexts and not self.one_hot else ""]
        words += ["start" if self.start else "", f"late {self.late}" if self.late else ""]
        return ", ".join(word for word in [*words, "curvature" if self.told else ""] if word)


@dataclass
class CellsReplay:
    """One run of both. The minimum jumps at a given answer; in contexts it differs by context."""

    space: Space
    case: Case
    seed: int = 1
    jump: int = 230
    kind: Callable[..., Any] = dikin.Predictive
    values: list[float] = field(default_factory=list)
    asked: dict[int, Asked] = field(default_factory=dict)

    def __post_init__(self) -> None:
        space, case = self.space, self.case
        self.rng = np.random.default_rng([self.seed, 23])
        start = inside(space.psi, self.rng) if case.start else np.zeros(space.dim)
        self.learner = self.kind(
            space.domain,
            memory=case.memory,
            contexts=case.contexts,
            start=space.to_user(start) if case.start else None,
            seed=self.seed,
        )
        auto, fixed = case.memory == "auto", case.memory not in (None, "auto")
        keep = 1 - 1 / case.memory if fixed else 1.0
        self.reference = CellsReference(space.psi, space.dim, start, 1 + case.contexts, auto, keep)
        count = max(case.contexts, 1)
        self.minima = [0.6 * inside(space.psi, self.rng) for _ in range(2 * count)]

    # The game

    def weights(self) -> Array:
        """A context."""
        count = self.case.contexts
        if self.case.one_hot:
            return np.eye(count)[int(self.rng.integers(count))]
        weights = self.rng.choice([0.0, 1.0, 2.0], size=count)
        return weights / weights.sum() if weights.sum() > 0 else np.eye(count)[0]

    def ask(self) -> Any:
        count = self.case.contexts
        context = self.weights() if count else None
        query = self.learner.ask(context=context) if count else self.learner.ask()
        reach = REACH if self.learner._n.levels.current == 0 else 1.0
        shares = np.concatenate([[1.0], context]) if context is not None else np.ones(1)
        point = self.space.to_work(query.point)
        self.asked[query.id] = self.reference.ask(shares, point, reach)
        return query

    def loss(self, shares: Array, u: Array) -> float:
        """A bowl around the minimum of the context, noise, and one in twenty far off."""
        late = len(self.reference.booked) >= self.jump
        best = self.minima[len(self.minima) // 2 :] if late else self.minima
        cells = shares[1:] if shares.size > 1 else shares
        target = sum(share * point for share, point in zip(cells, best, strict=False))
        noise = float(self.rng.normal()) * (9.0 if self.rng.random() < 0.05 else 0.1)
        return 2.0 * float((u - target) @ (u - target)) + 0.1 * noise

    def tell(self, query: Any) -> None:
        learner, reference, before = self.learner, self.reference, self.learner._n.copy()
        memo = learner._open[query.id][1]
        asked = self.asked.pop(query.id)
        loss = self.loss(asked.shares, self.space.to_work(query.point))
        sigma = float(self.rng.uniform(0, 0.1)) if self.case.told else 0.0
        unit = 1.0 / (self.space.radius * self.space.shortest) ** 2
        learner.tell(query, loss, sigma * unit)
        after = learner._n
        if before.levels.current == 0:
            self.measure(asked, loss, after.centres.rate)
            return
        then = memo.state.numbers if asked.reach == 1 else before
        expected, level = expectation(learner._plan, then), then.levels.current
        surprise = loss - expected
        learnt = 0.0 if abs(surprise) > FAR * level else float(np.clip(surprise, -level, level))
        reference.book(asked, surprise, sigma)
        told = Told(
            asked,
            surprise,
            learnt,
            sigma,
            GUESS * sqrt(self.space.dim) * before.levels.top,
            CURVED,
            max(after.levels.mean_square, (after.levels.current / SPREAD) ** 2),
            max(sqrt(before.levels.mean_square), before.levels.current / SPREAD),
            memo.s / float(np.linalg.norm(memo.s)) / asked.reach,
            learnt == level and len(reference.booked) - len(self.values) < 24,
        )
        reference.tell(told, list(after.centres.rate))

    def measure(self, asked: Asked, loss: float, rates: list[float]) -> None:
        """An answer that only measures: its forecast is the median of those before it."""
        reference = self.reference
        expected = float(np.median(self.values)) if self.values else loss - 1.0
        reference.book(asked, loss - expected, 0.0)
        self.values.append(loss)
        if len(self.values) == 2:
            first = reference.booked[0]
            reference.booked[0] = (first[0], self.values[0] - loss, first[2])
        if self.learner._n.levels.current > 0:
            reference.begin(list(rates), len(self.values))

    def play(self, answers: int) -> "CellsReplay":
        for booked in play_out(self, len(self.reference.booked), answers, self.case.late):
            if booked % 50 == 0:
                self.compare_certificates()
        return self

    # The comparison

    def compare_centers(self) -> None:
        if self.case.contexts:
            weights = self.weights()
            found = self.learner.center_for(weights)
            wanted, _ = self.reference.played(np.concatenate([[1.0], weights]))
        else:
            found, wanted = self.learner.center, self.reference.played(np.ones(1))[0]
        gap = float(np.abs(self.space.to_work(found) - wanted).max())
        assert gap <= CENTER, f"centres differ by {gap} after {len(self.reference.booked)} answers"

    def compare_certificates(self) -> None:
        """For every memory, with a smoothness that is said afterwards."""
        reference, learner = self.reference, self.learner
        beta = 0.7 / (self.space.radius * self.space.longest) ** 2
        order = np.maximum(np.arange(1, len(reference.booked) + 1), MEASURED)
        slopes = [abs(r) * float(np.linalg.norm(q.slope)) for q, r, _ in reference.booked]
        for memory in learner.memories:
            weights = (1.0 - 1.0 / memory) ** (order[-1] - order).astype(float)
            wanted = reference.certificate(0.7, weights)
            found = learner.certificate_for(smoothness=beta, memory=memory)
            most = max(float(weights @ slopes), 1.0)
            assert abs(found - wanted) <= CERTIFICATE * most, f"{memory}: {found} {wanted}"
