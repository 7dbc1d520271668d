"""Lipschitz losses that are steep in every direction: a cone |v|, and no detour is free."""

from __future__ import annotations

from dikin.environments.steep import Steep


class Cone(Steep):
    """Losses of a given Lipschitz constant and curvature pattern, steep in every direction.

    `dikin.environments.steep` has the formula.

    >>> from dikin import Ball
    >>> Cone(Ball(2), lipschitz=2.0, curvature=0.5, seed=1).curvature(7)
    0.5
    """

    @staticmethod
    def _kink() -> float:
        return 0.0
