"""The gain of tuning over the control, and the guard that stops harm."""

from __future__ import annotations

from dikin.worth.power import rounds_to_see
from dikin.worth.uplift import Uplift

__all__ = ["Uplift", "rounds_to_see"]
