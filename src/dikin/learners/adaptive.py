"""What Algorithms 1 and 2 share: their arguments, and two sets of constants.

`sharp` is the default. `paper` is the paper to the letter; it needs the horizon, and below
about 10^8 rounds its regularisation lambda_0 pins the centre so that nothing is learnt.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

from dikin.domains.base import Domain
from dikin.errors import HorizonRequiredError, PaperConstantsWarning, UnequalSidesWarning
from dikin.learners.barrier_ftrl import BarrierFTRL, Schedule
from dikin.units import LossRange, one_of, planned

PAPER_KAPPA = 400.0
UNEQUAL = 10.0
"""A ratio of sides above which their lengths are worth a warning."""


class Adaptive(BarrierFTRL):
    """Adaptive bandit convex optimization with heterogeneous curvature (Luo, Zhang, Zhao 2022)."""

    def __init__(
        self,
        domain: Domain,
        *,
        loss_range: LossRange,
        horizon: int | None,
        constants: str,
        seed: int | None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self._warn_of_unequal_sides()
        self.horizon = None if horizon is None else planned(horizon, 1, "or None")
        self.constants = one_of(constants, "constants", ("sharp", "paper"))
        self._follow(self._sharp() if self.constants == "sharp" else self._checked_paper())

    def _warn_of_unequal_sides(self) -> None:
        rounded = self.domain.equal_sided_geometry(self.units.radius)
        ratio = rounded.longest / rounded.shortest
        if ratio > UNEQUAL:
            name = type(self).__name__
            warnings.warn(
                f"the sides of {self.domain} differ by a factor of {ratio:.3g}, and {name} "
                "measures plain lengths, as in the paper: it learns little along short sides. "
                "Predictive makes sides equal; or give every coordinate a unit in which they are",
                UnequalSidesWarning,
                stacklevel=4,
            )

    @abstractmethod
    def _sharp(self) -> Schedule:
        """The schedule with sharp constants."""

    @abstractmethod
    def _paper(self, horizon: int) -> tuple[Schedule, float]:
        """The paper's schedule, and the round at which its theorem begins (rho, rho')."""

    def _checked_paper(self) -> Schedule:
        if self.horizon is None or self.horizon < 2:
            raise HorizonRequiredError(
                "constants='paper' contain ln T and need horizon=T, at least 2, "
                f"got {self.horizon!r}; the default constants='sharp' need none"
            )
        schedule, needed = self._paper(self.horizon)
        if self.horizon < needed:
            warnings.warn(
                f"the paper's theorem begins at T = {needed:.2g} rounds and horizon is "
                f"{self.horizon}: before that its constants let hardly anything be learnt, and the "
                "certificate grows like T. The default constants='sharp' hold for every T.",
                PaperConstantsWarning,
                stacklevel=4,
            )
        return schedule

    def arguments(self) -> dict[str, Any]:
        return {
            "loss_range": self.loss_range,
            "horizon": self.horizon,
            "constants": self.constants,
        }
