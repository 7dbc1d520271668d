"""The base of environments: losses fixed before the game, revealed one number at a time.

The losses are arithmetic in a kernel (`dikin.kernel`), so that the same source runs as plain Python
and compiled. All randomness of a round comes from one uniform number of the environment's own
stream, so the learner cannot influence the adversary. The sums that determine the best fixed point
are accumulated during the game, and the point itself is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from dikin import rng
from dikin.arguments import number
from dikin.domains.base import Array, Domain
from dikin.errors import FeedbackError, ParameterError
from dikin.feedback import Feedback
from dikin.kernel import compilable, reordered
from dikin.registry import Registered, Registry

MAX_DEPTH = 0.85
"""How far from the centre a minimum may lie, as a share: noise moves the best point a little."""
GAP = 1e-11
"""How far above the least, relative to its size, a linear sum is at the point that is found."""


class LossKernel(Protocol):
    """The losses of an environment as arithmetic. Points are flattened, in the user's units.

    A kernel may also have `gradient(round, chance, x)`, the gradient of f_t at x or a subgradient
    at a kink, and `context(round)`, where f_t is a function of z_t.x: the vector z_t, known before
    the round is played.
    """

    def value(self, round: int, chance: float, x: Array) -> float:
        """f_t(x). `chance` is the round's uniform number in [0, 1)."""
        ...

    def strong_convexity(self, round: int) -> float:
        """The strong convexity sigma_t of a round's loss."""
        ...

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        """Add to the sums for the best fixed point, from row 1 on."""
        ...


@compilable
def add(sums: Array, row: int, value: float) -> None:
    """Add a value to a row (total, compensation): Neumaier's summation, good to an ulp."""
    before = sums[row, 0]
    after = before + value
    if abs(before) >= abs(value):
        sums[row, 1] += (before - after) + value
    else:
        sums[row, 1] += (value - after) + before
    sums[row, 0] = after


@compilable
def one_sign(chance: float) -> float:
    """Return a random sign from a uniform number."""
    return 1.0 if chance >= 0.5 else -1.0


@compilable
def two_signs(chance: float) -> tuple[float, float]:
    """Return two independent random signs from a uniform number."""
    quarter = int(4.0 * chance)
    return (1.0 if quarter >= 2 else -1.0), (1.0 if quarter % 2 == 1 else -1.0)


@reordered
def displacement_sums(x: Array, theta: Array, a: Array) -> tuple[float, float]:
    """Return a.v and |v|^2 for v = x - theta."""
    along = square = 0.0
    for i in range(x.size):
        v = x[i] - theta[i]
        along += a[i] * v
        square += v * v
    return along, square


class Environment(Registered, ABC):
    """An oblivious adversary on a domain: the base of all environments.

    A class of your own sets `kernel`, `loss_range`, `smoothness` and `lipschitz` in its
    constructor, and writes `best` and `examples`.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    seed : int or None
        Fixes all losses. With None they differ every time.

    Attributes
    ----------
    domain : Domain
        The set to play on.
    loss_range : tuple of float
        Bounds (low, high) of every loss on the whole domain.
    smoothness : float
        The largest smoothness of a loss, infinite if a loss has a kink, NaN if not known.
    lipschitz : float
        The largest slope of a loss on the domain, NaN if not known.
    kernel : LossKernel
        The losses as arithmetic, which `dikin.play` can compile.
    rounds : int
        Rounds answered so far.
    chances : numpy.random.Generator
        Gives the uniform number of each round.
    sums : numpy.ndarray
        Losses suffered in row 0, sums for `best` in the others, each (total, compensation).
    comparator_sums : int
        Number of sums, without the losses suffered, on which `best` depends.
    kind : str
        The name of the class in lower case, by which it is registered.

    Raises
    ------
    ParameterError
        If `domain` is not a domain.
    """

    comparator_sums: ClassVar[int] = 0

    domain: Domain
    loss_range: tuple[float, float]
    smoothness: float
    lipschitz: float
    kernel: LossKernel

    def __init__(self, domain: Domain, seed: int | None) -> None:
        if not isinstance(domain, Domain):
            raise ParameterError(f"domain must be a dikin domain such as Box, got {domain!r}")
        self.domain = domain
        self.rounds = 0
        self.chances = rng.stream(seed, "environment")
        self.sums = np.zeros((1 + self.comparator_sums, 2))
        self._setup = rng.stream(seed, "environment's shape")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r})"

    @property
    def offers(self) -> set[Feedback]:
        """The kinds of feedback that a learner can receive here."""
        more = {Feedback.GRADIENT: "gradient", Feedback.CONTEXT: "context"}
        kinds = {kind for kind, method in more.items() if hasattr(self.kernel, method)}
        return {Feedback.VALUE, Feedback.PAIR} | kinds

    def _offering(self, kind: Feedback) -> Any:
        if kind not in self.offers:
            raise FeedbackError(f"{self} does not offer a {kind.name.lower()}")
        return self.kernel

    def context(self) -> Array:
        """The context z_t of the next round, where its loss is a function of z_t.x alone.

        Raises
        ------
        FeedbackError
            If the environment offers no contexts: see `offers`.
        """
        found: Array = self._offering(Feedback.CONTEXT).context(self.rounds + 1)
        return found.reshape(self.domain.point_shape)

    def answer(self, point: Array, feedback: Feedback = Feedback.VALUE) -> tuple[Any, float]:
        """Play the next round.

        Parameters
        ----------
        point : numpy.ndarray
            The played point, in the user's units and shape, or two points, stacked, for
            `Feedback.PAIR`. Not checked to be inside.
        feedback : Feedback, default Feedback.VALUE
            The kind of answer.

        Returns
        -------
        answer : float or tuple
            The loss at the point, the losses at two points (the loss suffered is their mean), or
            the loss and its gradient at the point.
        curvature : float
            The strong convexity of the round's loss, the same for all points.

        Raises
        ------
        FeedbackError
            If the environment does not offer that kind: see `offers`.
        """
        kernel: Any = self.kernel if feedback is Feedback.VALUE else self._offering(feedback)
        chance, round = self.chances.random(), self.rounds + 1
        if feedback is Feedback.PAIR:
            one, two = (float(kernel.value(round, chance, each.ravel())) for each in point)
            return (one, two), self._finish(round, chance, (one + two) / 2)
        loss = float(kernel.value(round, chance, point.ravel()))
        if feedback is not Feedback.GRADIENT:
            return loss, self._finish(round, chance, loss)
        gradient = kernel.gradient(round, chance, point.ravel()).reshape(point.shape)
        return (loss, gradient), self._finish(round, chance, loss)

    def _finish(self, round: int, chance: float, suffered: float) -> float:
        """Count a round once all of it is known, and return its strong convexity."""
        sums = self.sums.copy()
        self.kernel.accumulate(round, chance, sums)
        add(sums, 0, suffered)
        self.rounds, self.sums[:] = round, sums
        return float(self.kernel.strong_convexity(round))

    def curvature(self, round: int) -> float:
        """The strong convexity sigma_t of a round's loss.

        Parameters
        ----------
        round : int
            The round t = 1, 2, ...

        Returns
        -------
        float
            A number for which the loss is strongly convex on the whole domain, at least 0.
        """
        return float(self.kernel.strong_convexity(round))

    @property
    def total_loss(self) -> float:
        """The sum of the losses suffered so far."""
        return self.total(0)

    def total(self, row: int) -> float:
        """One of the sums, with its compensation.

        Parameters
        ----------
        row : int
            0 for the losses suffered, from 1 on for the sums of `LossKernel.accumulate`.

        Returns
        -------
        float
            The sum, right to a few units in the last place.
        """
        return float(self.sums[row, 0] + self.sums[row, 1])

    @abstractmethod
    def best(self) -> tuple[Array, float]:
        """Return the best fixed point for the rounds so far, and its total."""

    @classmethod
    @abstractmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        """Small awkward instances on a domain, for the checks.

        Parameters
        ----------
        domain : Domain
            The set to play on.
        seed : int
            The seed of every instance.

        Yields
        ------
        Environment
            A new instance, the same for the same arguments.
        """

    def _direction(self) -> Array:
        """A random unit vector of the domain's own plane, flattened, in the user's coordinates."""
        v = self._setup.standard_normal(self.domain.dim)
        return self.domain.outward(v / np.linalg.norm(v)).ravel()

    def _inner_point(self, depth: float) -> Array:
        """A random point at `depth` times the inradius from the centre, flattened."""
        if not 0.0 <= number(depth, "depth") <= MAX_DEPTH:
            raise ParameterError(
                f"depth is a share of the inradius from 0, the centre, to {MAX_DEPTH}; "
                f"got {depth!r}"
            )
        return self.domain.center.ravel() + depth * self.domain.inradius * self._direction()


def linear_minimiser(domain: Domain, slope: Array) -> Array:
    """The displacement v from the centre with the least slope.v, flattened.

    At the minimiser v of slope.v + w psi the slope is -w grad psi(v), and grad psi(v).(u - v) <= nu
    for all u of the set: v is within nu w of the least. The weight w falls by tens, so that each
    minimum starts next to the last.
    """
    length = float(np.linalg.norm(slope))
    if length == 0.0:
        return np.zeros(domain.center.size)
    geometry = domain.geometry(domain.radius)
    pull = geometry.inward((slope / length).reshape(domain.point_shape))
    iterate, weight = geometry.start(), 1.0
    while weight * domain.nu > GAP:
        weight /= 10
        geometry.solve(pull, 0.0, weight, iterate)
    return domain.radius * geometry.outward(geometry.vector(iterate))


ENVIRONMENTS: Registry[Environment] = Registry("environment", Environment)  # type: ignore[type-abstract]
