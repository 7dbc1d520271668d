"""Lipschitz losses that make exploration felt: a kink |a.v| that each crossing pays for."""

from __future__ import annotations

from dikin.environments.steep import Steep


class Kink(Steep):
    """Losses of a given Lipschitz constant and curvature pattern, steep across one plane.

    `dikin.environments.steep` has the formula.

    >>> from dikin import Ball
    >>> Kink(Ball(2), lipschitz=2.0, curvature=0.5, seed=1).curvature(7)
    0.5
    """

    @staticmethod
    def _kink() -> float:
        return 1.0
