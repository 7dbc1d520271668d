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
from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin.domains.base import Aim, Array, ClosedGeometry, Frame, Place
from dikin.errors import CertificateVoidWarning
from dikin.learners.base import Learner
from dikin.learners.player import Aimed, Machine, Memory, Scratch
from dikin.theory.certificate import RANGE, Account, Part

UNSETTLED = (
    "the centre is so close to the boundary that rounding decides where it is: the certificate is "
    "NaN until it is farther inside; the learner itself goes on"
)


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

    def price(self, sigma: float, trace: float) -> float:
        """a_t of the certificate, from delta^2 tr(H^-1): `dikin.theory.certificate`."""
        ...

    def typical(self, rounds: int) -> float:
        """A rate near eta_{T+1} that depends on T alone: it places the certificate's comparator."""
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


class BarrierPlayer(NamedTuple):
    """The machine for the compiled loop; numbers = (S, eta, spent, held): see `Account`."""

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
        total, reach = numbers[0], schedule.reach
        # A round thrown away is one that adds nothing: to branch here would cost every round.
        kept = 1.0 if curvature >= schedule.least else 0.0
        sigma = schedule.trust * curvature + schedule.assumed
        lam = schedule.regularisation(total + sigma)
        slope = schedule.dim / reach * (loss + 0.5 * lam * norm)
        added, scale = kept * (sigma + lam), kept * slope * unit
        rise, square = self.kernel.recoil(
            memory.state, scratch.work, scratch.noise, scale, added, memory.linear
        )
        price = kept * schedule.price(sigma, reach * reach * trace) + (1.0 - kept) * RANGE
        numbers[2] += price + rise - 0.5 * (added + kept * lam) * square
        numbers[3] += kept * lam
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
        self._spent, self._held = 0.0, schedule.first

    @property
    def center(self) -> Array:
        """y_t in the user's units: where the learner would play if it need not explore."""
        u = self.geometry.vector(self._place)
        return self._inside(u, self.units.point(self.geometry.outward(u)).copy())

    def _certificate_part(self) -> Part | None:
        """None where the centre is not known well enough to account for the rounds."""
        place, schedule = self._place, self._schedule
        if not self.geometry.settled(place):
            return None
        y = self.geometry.vector(place)
        barrier = schedule.kappa * self.geometry.barrier(place) / self._rate
        least = float(self._linear.dot(y)) + 0.5 * self._total * float(y.dot(y)) + barrier
        stiff = schedule.kappa / self._rate
        account = Account(self._rounds_in_range, self._spent - least, self._held, stiff)
        return Part(account, schedule, self.units.loss_scale)

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
        asked = Asked(self._place, shift, noise, aim, scale, square, frame.trace)
        return u, square, asked

    def _vector(self, memo: Asked) -> tuple[Array, float]:
        return memo.aim.point(self._schedule.reach * memo.scale), memo.square

    def _learn(self, asked: Asked, loss: float, curvature: float) -> None:
        schedule, before = self._schedule, self._total
        if curvature < schedule.least:
            self._spent += RANGE
            self._rounds_in_range += 1
            return
        sigma = schedule.trust * curvature + schedule.assumed
        lam = schedule.regularisation(before + sigma)
        slope = schedule.dim / schedule.reach * (loss + 0.5 * lam * asked.square)
        added = sigma + lam
        recoil = asked.aim.recoil(slope * asked.scale, added)
        linear = self._linear + recoil
        total = before + added
        rate = schedule.rate(total, self._rounds_in_range + 2)
        place = self.geometry.solve(linear, total, schedule.kappa / rate, self._place)
        if self.geometry.settled(self._place) and not self.geometry.settled(place):
            warnings.warn(UNSETTLED, CertificateVoidWarning, stacklevel=3)
        # Everything that can fail has been done: from here on the state changes.
        y = self.geometry.vector(asked.place)
        # g.y - (sigma + lambda)/2 |y|^2 - lambda/2 |y|^2, as recoil = g - (sigma + lambda) y.
        self._spent += float(recoil.dot(y)) + 0.5 * sigma * float(y.dot(y))
        self._spent += schedule.price(sigma, schedule.reach**2 * asked.trace)
        self._held += lam
        self._linear, self._total, self._rate = linear, total, rate
        self._place, self._frame = place, None
        self._rounds_in_range += 1

    def machine(self) -> Machine | None:
        """The parts for the compiled loop; None without a kernel or with queries open."""
        geometry = self.geometry
        if self._open or not isinstance(geometry, ClosedGeometry):
            return None
        numbers = np.array([self._total, self._rate, self._spent, self._held])
        memory = Memory(numbers, self._linear.copy(), geometry.pack(self._place))
        player = BarrierPlayer(geometry.kernel(), self._schedule)
        return Machine(player, memory, self._noise.generator())

    def adopt(self, machine: Machine, rounds: int) -> None:
        """Take over a state that was `rounds` rounds further on."""
        assert isinstance(self.geometry, ClosedGeometry)
        memory = machine.memory
        self._linear = memory.linear.copy()
        self._total, self._rate, self._spent, self._held = memory.numbers.tolist()
        self._place = self.geometry.unpack(self._linear, memory.state)
        self._frame = None
        self._rounds_in_range += rounds
        self._next += rounds

    def _numbers(self) -> dict[str, Any]:
        return {
            "linear": self._linear,
            "total": self._total,
            "rate": self._rate,
            "place": self.geometry.memory(self._place),
            "spent": self._spent,
            "held": self._held,
        }

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._linear, self._total = numbers["linear"], numbers["total"]
        self._rate = numbers["rate"]
        self._spent, self._held = numbers["spent"], numbers["held"]
        self._place = self.geometry.recall(numbers["place"])
        self._frame = None

    def _memo_state(self, memo: Asked) -> tuple[Any, ...]:
        return self.geometry.memory(memo.place), memo.shift, memo.noise, memo.square

    def _memo_from(self, state: tuple[Any, ...]) -> Asked:
        memory, shift, noise, square = state
        place = self.geometry.recall(memory)
        frame = self.geometry.frame(place, self._schedule.kappa, shift)
        aim = frame.aim(noise)
        scale = 1.0 / sqrt(aim.square)
        return Asked(place, shift, noise, aim, scale, square, frame.trace)
