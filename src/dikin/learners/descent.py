"""The machine shared by the learners without a barrier: gradient descent with projections.

In the paper's units, with r the inradius, so that a step of delta from (1 - delta/r) X stays in X:

    x_t     = y_t + delta s_t,      s_t uniform on the unit sphere of the set's plane
    g_t     = (d/delta) f_t(x_t) s_t
    y_{t+1} = the point of `shrink` X nearest to y_t - eta_t g_t

A learner's own file says how far it explores and how fast it steps: its `Pace`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin.domains.base import NOTHING, Aim, Array, ClosedGeometry, Frame, Place
from dikin.feedback import Feedback
from dikin.learners.base import Learner, locked
from dikin.learners.player import Aimed, Machine, Memory, Scratch


class Pace(Protocol):
    """How a learner explores and steps: a NamedTuple that a compiler can take as it stands."""

    @property
    def dim(self) -> float: ...

    @property
    def reach(self) -> float:
        """How far from the centre points are played, delta."""
        ...

    @property
    def shrink(self) -> float:
        """The share of the set in which the centre stays, at most 1 - delta/r."""
        ...

    def step(self, round: int) -> float:
        """eta_t."""
        ...


@dataclass(slots=True)
class Looked:
    """What the learner remembers of a query: where it stood and which way it looked."""

    place: Place
    noise: Array
    aim: Aim
    scale: float
    """1/|s| of the aim."""


class DescentPlayer(NamedTuple):
    """The machine for the compiled loop; there are no numbers to carry."""

    kernel: Any
    pace: Any

    def ask(self, memory: Memory, scratch: Scratch) -> Aimed:
        """1/|s|, and nothing else."""
        linear, state, work, noise = memory.linear, memory.state, scratch.work, scratch.noise
        square, _ = self.kernel.aim(linear, state, 0.0, 1.0, noise, work)
        unit, shrink, u = 1.0 / sqrt(square), self.pace.shrink, scratch.u
        self.kernel.point(linear, state, work, noise, self.pace.reach / shrink * unit, u)
        for i in range(u.size):
            u[i] *= shrink
        return unit, 0.0, 0.0

    def tell(
        self,
        round: int,
        aimed: Aimed,
        loss: float,
        curvature: float,
        memory: Memory,
        scratch: Scratch,
    ) -> None:
        pace, linear, before = self.pace, memory.linear, scratch.u
        pull = pace.step(round) * pace.dim * loss / (pace.reach * pace.shrink)
        for i in range(linear.size):
            before[i] = linear[i]
        scale = pull * aimed[0]
        self.kernel.recoil(memory.state, scratch.work, scratch.noise, scale, 1.0, linear)
        for i in range(linear.size):
            linear[i] -= before[i]
        self.kernel.solve(linear, 1.0, NOTHING, memory.state)


class Descent(Learner):
    """Projected gradient descent on an estimate from values; subclasses bring the pace."""

    def _begin(self, pace: Pace) -> None:
        self._pace = pace
        self._place = self.geometry.start()
        """y_t/shrink, a point of the whole set."""
        self._linear = np.zeros(self.geometry.size)
        self._frame: Frame | None = None

    @property
    @locked
    def center(self) -> Array:
        """y_t in the user's units."""
        u = self.geometry.vector(self._place) * self._pace.shrink
        return self._inside(u, self.units.point(self.geometry.outward(u)).copy())

    def _propose(self) -> tuple[Array, float, Any]:
        memo = self._looked()
        return *self._vector(memo), memo

    def _looked(self) -> Looked:
        """A new direction from the present centre."""
        if self._frame is None:
            self._frame = self.geometry.frame(self._place, 0.0, 1.0)
        return self._look(self._place, self._frame, self._toward())

    def _toward(self) -> Array:
        """The noise that becomes the direction to look in."""
        return self._noise.draw()

    @staticmethod
    def _look(place: Place, frame: Frame, noise: Array) -> Looked:
        aim = frame.aim(noise)
        # Without a direction, there is nothing to explore.
        return Looked(place, noise, aim, 1.0 / sqrt(aim.square) if aim.square > 0.0 else 0.0)

    def _vector(self, memo: Looked) -> tuple[Array, float]:
        pace = self._pace
        u = memo.aim.point(pace.reach / pace.shrink * memo.scale) * pace.shrink
        return u, float(u.dot(u))

    def _learn(self, memo: Looked, loss: float, curvature: float) -> None:
        pace = self._pace
        slope = pace.step(self._rounds_in_range + 1) * pace.dim / pace.reach * loss
        self._move(memo.aim.recoil(slope * memo.scale, 0.0))

    def _move(self, step: Array) -> None:
        """The end of a round: from y to the point nearest to y - step."""
        linear = step / self._pace.shrink - self.geometry.vector(self._place)
        self._place = self.geometry.project(linear, self._place)
        self._linear, self._frame = linear, None
        self._rounds_in_range += 1

    def machine(self) -> Machine | None:
        geometry = self.geometry
        if self._open or self.feedback is not Feedback.VALUE:  # the loop answers with one loss
            return None
        if not isinstance(geometry, ClosedGeometry):
            return None
        memory = Memory(np.zeros(1), self._linear.copy(), geometry.pack(self._place))
        player = DescentPlayer(geometry.kernel(), self._pace)
        return Machine(player, memory, self._noise.generator())

    def adopt(self, machine: Machine, rounds: int) -> None:
        assert isinstance(self.geometry, ClosedGeometry)
        self._linear = machine.memory.linear.copy()
        self._place = self.geometry.unpack(self._linear, machine.memory.state)
        self._frame = None
        self._rounds_in_range += rounds
        self._next += rounds

    def _numbers(self) -> dict[str, Any]:
        return {"linear": self._linear, "place": self.geometry.memory(self._place)}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._linear = numbers["linear"]
        self._place = self.geometry.recall(numbers["place"])
        self._frame = None

    def _memo_state(self, memo: Looked) -> tuple[Any, ...]:
        return self.geometry.memory(memo.place), memo.noise

    def _memo_from(self, state: tuple[Any, ...]) -> Looked:
        memory, noise = state
        place = self.geometry.recall(memory)
        return self._look(place, self.geometry.frame(place, 0.0, 1.0), noise)
