"""The machine shared by the field's barrier learners: follow the regularised leader, explore Dikin.

In the paper's units, with S_t = lambda_0 + sum_{s<=t} (sigma_s + lambda_s):

    H_t     = kappa Hessian(psi)(y_t) + eta_t S_{t-1} I
    x_t     = y_t + z_t,  z_t = delta H_t^(-1/2) s_t,  s_t uniform on the unit sphere
    f~_t    = f_t(x_t) + lambda_t/2 |x_t|^2
    g_t     = (d/delta^2) f~_t H_t z_t
    y_{t+1} = argmin_u  G_t.u + S_t/2 |u|^2 + (kappa/eta_{t+1}) psi(u),
    G_t     = sum_{s<=t} g_s - (sigma_s + lambda_s) y_s

With delta = 1 this is the paper's algorithm in R^{d+1} with its lifting carried out
(docs/mathematics.md, "The reduced form"). A learner's own file says only how eta_t and lambda_t
come about, how far it explores, and which curvature it believes: its `Schedule`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin.domains.base import Aim, Array, ClosedGeometry, Frame, Place
from dikin.errors import CertificateVoidWarning
from dikin.learners.base import Learner
from dikin.learners.player import Aimed, Machine, Memory, Scratch

OVERLAP = (
    "an answer came after its centre had moved on: the certificate covers one query at a time and "
    "is NaN from here on; the learner itself goes on as before"
)
UNSETTLED = (
    "the centre is so close to the boundary that rounding decides where it is: the certificate is "
    "NaN from here on; the learner itself goes on"
)
THROWN_AWAY = 2.0
"""What a round that is thrown away may cost: the whole range of the losses."""


class Schedule(Protocol):
    """How a learner regularises, steps, and accounts for it: numbers, and arithmetic on them.

    A schedule is a NamedTuple of floats whose methods use nothing but its fields, its arguments and
    `math`, so that a compiler can take them as they stand. All in the paper's units.
    """

    @property
    def dim(self) -> float: ...

    @property
    def kappa(self) -> float:
        """Weight of the barrier: 400 in the paper, 1 suffices."""
        ...

    @property
    def first(self) -> float:
        """lambda_0."""
        ...

    @property
    def reach(self) -> float:
        """delta: the share of the ellipsoid's radius at which points are played, at most 1."""
        ...

    @property
    def trust(self) -> float:
        """1 to believe the curvature that is told, 0 to ignore it."""
        ...

    @property
    def assumed(self) -> float:
        """Curvature believed of every round, and of the next one before it is played."""
        ...

    @property
    def least(self) -> float:
        """A round of which less curvature is told is thrown away."""
        ...

    def regularisation(self, total: float) -> float:
        """lambda_t from total = S_{t-1} + sigma_t."""
        ...

    def rate(self, total: float, round: int) -> float:
        """eta_t from total = S_{t-1} and the round t."""
        ...

    def cost(
        self, lam: float, sigma: float, trace: float, rate: float, total: float, slope: float
    ) -> float:
        """A round's share of the certificate, from delta^2 tr(H^-1): `dikin.theory.certificate`."""
        ...

    def closing(self, rounds: int, rate: float) -> float:
        """The rest of the certificate after T rounds, from eta_{T+1}: affine in ln T."""
        ...


@dataclass(slots=True)
class Asked:
    """What the learner remembers of a query: where it stood and which way it looked."""

    place: Place
    shift: float
    """eta S of the ellipsoid."""
    noise: Array
    aim: Aim
    scale: float
    """1/|s| of the aim."""
    square: float
    """|x|^2 of the played point."""
    trace: float
    """tr(H^-1)."""
    round: int
    """How many answers the learner had when it asked."""


class BarrierPlayer(NamedTuple):
    """The machine for the compiled loop; numbers = (S, eta, the certificate's costs)."""

    kernel: Any
    schedule: Any

    def ask(self, memory: Memory, scratch: Scratch) -> Aimed:
        """|x|^2, tr(H^-1) and 1/|s|."""
        schedule, kernel, linear, state = self.schedule, self.kernel, memory.linear, memory.state
        shift = memory.numbers[1] * (memory.numbers[0] + schedule.assumed)
        square, trace = kernel.aim(
            linear, state, schedule.kappa, shift, scratch.noise, scratch.work
        )
        unit = 1.0 / sqrt(square)
        far = schedule.reach * unit
        norm = kernel.point(linear, state, scratch.work, scratch.noise, far, scratch.u)
        return norm, trace, unit

    def tell(
        self,
        round: int,
        aimed: Aimed,
        loss: float,
        curvature: float,
        memory: Memory,
        scratch: Scratch,
    ) -> None:
        schedule, numbers, (norm, trace, unit) = self.schedule, memory.numbers, aimed
        total, rate, reach = numbers[0], numbers[1], schedule.reach
        # A round thrown away is one that adds nothing: to branch here would cost every round.
        kept = 1.0 if curvature >= schedule.least else 0.0
        sigma = schedule.trust * curvature + schedule.assumed
        lam = schedule.regularisation(total + sigma)
        slope = schedule.dim / reach * (loss + 0.5 * lam * norm)
        added, scale = kept * (sigma + lam), kept * slope * unit
        self.kernel.recoil(memory.state, scratch.work, scratch.noise, scale, added, memory.linear)
        spread = reach * reach * trace
        cost = schedule.cost(lam, sigma, spread, rate, total, abs(slope))
        numbers[2] += kept * cost + (1.0 - kept) * THROWN_AWAY
        numbers[0] = total + added
        numbers[1] = schedule.rate(numbers[0], round + 1)
        self.kernel.solve(memory.linear, numbers[0], schedule.kappa / numbers[1], memory.state)


class BarrierFTRL(Learner):
    """Follow the regularised leader with a barrier; subclasses bring the schedule."""

    def _begin(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._total = schedule.first
        self._rate = schedule.rate(self._total, 1)
        self._place = self.geometry.start()
        self._linear = np.zeros(self.geometry.size)
        self._frame: Frame | None = None
        self._costs = 0.0
        self._certified = True

    @property
    def center(self) -> Array:
        """y_t in the user's units: where the learner would play if it need not explore."""
        u = self.geometry.vector(self._place)
        return self._inside(u, self.units.point(self.geometry.outward(u)).copy())

    @property
    def certificate(self) -> float:
        """The bound on the regret so far, in the user's units: E[regret] <= E[certificate].

        NaN once an answer came that was asked before an earlier answer was learnt: the theorem is
        about one query at a time. NaN, too, where rounding at the boundary decides the centre.
        `tell` warns of either. Forgotten queries are not rounds.
        """
        return self._share(self.rounds)

    def _share(self, rounds: int) -> float:
        if not self._certified:
            return nan
        rest = self._schedule.closing(rounds, self._rate)
        return self.units.regret(rest + self._costs)

    def _propose(self) -> tuple[Array, float, Asked]:
        schedule = self._schedule
        shift = self._rate * (self._total + schedule.assumed)
        frame = self._frame
        if frame is None:
            frame = self.geometry.frame(self._place, schedule.kappa, shift)
            self._frame = frame
        noise = self._noise.draw()
        aim = frame.aim(noise)
        scale = 1.0 / sqrt(aim.square)
        u = aim.point(schedule.reach * scale)
        square = float(u.dot(u))
        asked = Asked(self._place, shift, noise, aim, scale, square, frame.trace, self.rounds)
        return u, square, asked

    def _vector(self, memo: Asked) -> tuple[Array, float]:
        return memo.aim.point(self._schedule.reach * memo.scale), memo.square

    def _learn(self, asked: Asked, loss: float, curvature: float) -> None:
        schedule, before = self._schedule, self._total
        if curvature < schedule.least:
            self._costs += THROWN_AWAY
            self.rounds += 1
            return
        sigma = schedule.trust * curvature + schedule.assumed
        lam = schedule.regularisation(before + sigma)
        slope = schedule.dim / schedule.reach * (loss + 0.5 * lam * asked.square)
        added = sigma + lam
        linear = self._linear + asked.aim.recoil(slope * asked.scale, added)
        total = before + added
        rate = schedule.rate(total, self.rounds + 2)
        place = self.geometry.solve(linear, total, schedule.kappa / rate, self._place)
        certified = self._certified and asked.round == self.rounds and self.geometry.settled(place)
        if self._certified and not certified:
            notice = UNSETTLED if asked.round == self.rounds else OVERLAP
            warnings.warn(notice, CertificateVoidWarning, stacklevel=3)
        # Everything that can fail has been done: from here on the state changes.
        self._certified = certified
        if certified:
            spread = schedule.reach**2 * asked.trace
            self._costs += schedule.cost(lam, sigma, spread, self._rate, before, abs(slope))
        self._linear, self._total, self._rate = linear, total, rate
        self._place, self._frame = place, None
        self.rounds += 1

    def machine(self) -> Machine | None:
        """The parts for the compiled loop; None without a kernel or with queries open."""
        geometry = self.geometry
        if self._open or not isinstance(geometry, ClosedGeometry):
            return None
        numbers = np.array([self._total, self._rate, self._costs])
        memory = Memory(numbers, self._linear.copy(), geometry.pack(self._place))
        player = BarrierPlayer(geometry.kernel(), self._schedule)
        return Machine(player, memory, self._noise.generator())

    def adopt(self, machine: Machine, rounds: int) -> None:
        """Take over a state that was `rounds` rounds further on."""
        assert isinstance(self.geometry, ClosedGeometry)
        memory = machine.memory
        self._linear = memory.linear.copy()
        self._total, self._rate, self._costs = memory.numbers.tolist()
        self._place = self.geometry.unpack(self._linear, memory.state)
        self._frame = None
        self.rounds += rounds
        self._next += rounds

    def _numbers(self) -> dict[str, Any]:
        return {
            "linear": self._linear,
            "total": self._total,
            "rate": self._rate,
            "place": self.geometry.memory(self._place),
            "costs": self._costs,
            "certified": self._certified,
        }

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._linear, self._total = numbers["linear"], numbers["total"]
        self._rate, self._costs = numbers["rate"], numbers["costs"]
        self._place = self.geometry.recall(numbers["place"])
        self._frame = None
        self._certified = numbers["certified"]

    def _memo_state(self, memo: Asked) -> tuple[Any, ...]:
        return self.geometry.memory(memo.place), memo.shift, memo.noise, memo.square, memo.round

    def _memo_from(self, state: tuple[Any, ...]) -> Asked:
        memory, shift, noise, square, asked = state
        place = self.geometry.recall(memory)
        frame = self.geometry.frame(place, self._schedule.kappa, shift)
        aim = frame.aim(noise)
        scale = 1.0 / sqrt(aim.square)
        return Asked(place, shift, noise, aim, scale, square, frame.trace, asked)
