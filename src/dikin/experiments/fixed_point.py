"""The fixed-point baseline: the centre in every round, which a learner must beat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from dikin.domains.base import Array, Domain
from dikin.experiments.external import External
from dikin.units import LossRange


class FixedPoint(External):
    """Plays the centre in every round, whatever it is told."""

    package = "baseline"
    quick = True

    def __init__(
        self,
        domain: Domain,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)

    def _wanted(self) -> tuple[Any, Array]:
        return None, self._believed()

    def _believed(self) -> Array:
        return np.zeros(self.domain.dim)

    def _answered(self, candidate: Any, loss: float) -> None:
        pass

    def arguments(self) -> dict[str, Any]:
        return {"loss_range": list(self.units.loss_range)}

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
