"""The gain of tuning over the control, and the guard that stops harm.

`holdback` draws the rounds that use the control and notices answers that get lost, `estimate` finds
the gain (`uplift`, with `sums`, `offsets`, `clipping` and `intervals`), `guard` stops harm, and
`power` computes the number of rounds that it takes to see a gain.
"""

from __future__ import annotations

from dikin.worth.holdback import is_held_back
from dikin.worth.power import rounds_to_see
from dikin.worth.uplift import Uplift

__all__ = ["Uplift", "is_held_back", "rounds_to_see"]
