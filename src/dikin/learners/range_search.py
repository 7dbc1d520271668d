"""The search for a range of losses that is not known: what a learner with `loss_range=None` keeps.

The first loss told places a narrow range around itself (`first_range`). A loss outside doubles that
range, as often as it takes, and the learner restarts: its mathematics begins anew for the wider
range, seeded from its own stream. Before that it still learns from the loss outside, clipped to the
old range; without that its rounds would be a biased sample, and the sum of the certificates no
bound (docs/mathematics.md, 5.5).

The search is a value: `Learner` replaces it by another one when an answer changes it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import nan
from typing import Any, NamedTuple, Self

from dikin.arguments import LARGEST
from dikin.domains.base import Array, Domain
from dikin.errors import LossRangeError
from dikin.theory.certificate import Account, Part

FIRST_SHARE = 2.0**-16
"""Half the first range as a share of the first loss: too narrow it costs restarts, too wide it
costs every round. Much less, and rounding would decide which losses lie inside."""

FIRST_SLOPE_SHARE = 1.0 / 32.0
"""The least of it as a share of L R: for Lipschitz losses lambda_0 grows as the range narrows."""

FIRST_AT_ZERO = 2.0**-100
"""Half the first range where the first loss is 0 and no Lipschitz constant is declared.

Nothing is known of the unit of loss then, and a range is never narrowed: this is far below any
loss, so that the first loss that is not 0 ends it and places a range of its own size. As around 0
nothing is rounded, it may be so small. A power of two, so that ranges are powers of two.
"""

Range = tuple[float, float]


class StaleQuery(NamedTuple):
    """The memo of a query that was asked before the last restart: its answer teaches nothing."""

    point: Array


class Variation(NamedTuple):
    """How much one loss may vary over the domain."""

    most: float
    """W: the difference of its values at two points."""
    slope: float
    """Lambda: grad f(x).(y - u) for x in the ellipsoid around y."""

    @classmethod
    def of(
        cls, width: float, diameter: float, smoothness: float, lipschitz: float | None
    ) -> Variation:
        """The variation of losses in a range.

        Parameters
        ----------
        width
            The width of the range.
        diameter
            D = 2R, of the ball around the domain.
        smoothness
            What is declared of the losses; NaN where nothing is.
        lipschitz
            The Lipschitz constant that is declared; where there is one, it decides.
        """
        if lipschitz is not None:
            return cls(max(width, lipschitz * diameter), lipschitz * diameter)
        return cls(width, width + 0.5 * smoothness * diameter**2)


@dataclass(frozen=True)
class RangeSearch:
    """What is left of the rounds before the present range.

    Attributes
    ----------
    rounds
        Rounds that the present mathematics did not learn from.
    restarts
        How often the range had to be widened.
    idle
        Rounds that nothing was learnt from: each may have cost the whole variation of a loss.
    parts
        The certificate's parts of the earlier ranges.
    certified
        Whether every earlier range has such a part.
    """

    rounds: int = 0
    restarts: int = 0
    idle: int = 0
    parts: tuple[Part, ...] = ()
    certified: bool = True

    @property
    def begun(self) -> bool:
        """Whether a loss has been told, so that there is a range."""
        return self.rounds > 0

    def with_idle_round(self) -> Self:
        """The search after an answer that teaches nothing and lies inside the range."""
        return replace(self, rounds=self.rounds + 1, idle=self.idle + 1)

    def after_range(self, rounds: int, part: Part | None, idle: bool) -> Self:
        """The search once the present range has ended.

        Parameters
        ----------
        rounds
            All rounds so far, with the one that ended the range.
        part
            The certificate's part of the range, where it has one.
        idle
            Whether nothing was learnt from the round that ended it.
        """
        after = replace(self, rounds=rounds, idle=self.idle + idle)
        if not self.begun:  # a range that was only there to ask in
            return after
        if part is None:
            return replace(after, restarts=self.restarts + 1, certified=False)
        return replace(after, restarts=self.restarts + 1, parts=(*self.parts, part))

    def certificate(
        self, present: Part, domain: Domain, rounds: int, variation: Variation
    ) -> float:
        """The bound on the regret of all rounds: the theorem of docs/mathematics.md, 5.5.

        Parameters
        ----------
        present
            The certificate's part of the present range.
        domain
            The set that is played on.
        rounds
            All rounds so far.
        variation
            How much one loss may vary.

        Returns
        -------
        float
            NaN before the first loss, and where an earlier range has no bound.
        """
        if not (self.begun and self.certified):
            return nan
        parts = (*self.parts, present)
        learnt = sum(part.bound(domain, rounds, variation.most) for part in parts)
        bias = 2 * domain.dim * variation.slope * self.restarts if self.restarts else 0.0
        return learnt + bias + self.idle * variation.most

    def encoded(self) -> dict[str, Any]:
        """Plain JSON values."""
        rows = [[list(part.account), list(part.schedule), part.scale] for part in self.parts]
        return asdict(replace(self, parts=())) | {"parts": rows}

    @classmethod
    def decoded(cls, values: dict[str, Any], schedule: Any) -> Self:
        """The search that gave the values; the class of its schedules is the learner's."""
        rows = values["parts"]
        parts = tuple(Part(Account(*row[0]), schedule(*row[1]), row[2]) for row in rows)
        return cls(**values | {"parts": parts})


def first_range(loss: float, slope: float) -> Range:
    """The range around the first loss.

    A share of the loss, or of L R if that is more. Where both are 0 there is no scale to go by, and
    it is as narrow as can be: the next loss that is not 0 doubles it to its own size at once.

    Parameters
    ----------
    loss
        The first loss.
    slope
        L R, or 0 where no Lipschitz constant is declared.
    """
    half = max(FIRST_SHARE * abs(loss), FIRST_SLOPE_SHARE * slope) or FIRST_AT_ZERO
    return loss - half, loss + half


def widened(loss_range: Range, losses: list[float]) -> Range:
    """A range doubled around its middle until it contains these losses.

    Raises
    ------
    LossRangeError
        If it becomes wider than can be computed with.
    """
    low, high = loss_range
    while not (low <= min(losses) and max(losses) <= high):
        half = 0.5 * (high - low)
        low, high = low - half, high + half
    if not high - low < LARGEST:
        raise LossRangeError(
            f"the loss {max(losses, key=abs):g} makes the range wider than {LARGEST:g}, which "
            "cannot be computed with: choose another unit of loss. Nothing was changed."
        )
    return low, high
