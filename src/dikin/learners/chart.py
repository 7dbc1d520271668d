"""The base of learners that compute in the chart: vectors have d entries on every domain."""

from __future__ import annotations

from math import isfinite

import numpy as np

from dikin.domains.base import Array
from dikin.domains.dense import DenseGeometry
from dikin.learners.base import Learner


class ChartLearner(Learner):
    """A learner whose working vectors are chart vectors in units of the radius."""

    geometry: DenseGeometry

    def _form(self) -> DenseGeometry:
        return DenseGeometry(self.domain, self.units.radius)

    def _at(self, u: Array) -> Array:
        """The point of a working vector, guaranteed to be inside."""
        return self._inside(u)

    def _excess(self, u: Array, size: float) -> float:
        """The factor by which a vector must shrink to lie in `size` times the set: 1 inside."""
        v = self.units.radius / size * u
        with np.errstate(all="ignore"):  # outside the set a formula may overflow
            inside = isfinite(self.domain.barrier(v))
        return 1.0 if inside else max(1.0, self.domain.gauge(v))
