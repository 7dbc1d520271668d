"""The gain of tuning over the control, and the guard that stops harm.

`holdback` draws the rounds that use the control and notices values that are missing in one arm,
`estimate` finds the gain and stops harm, with the sums and intervals of `sums`, `uplift` is the
record that users read, and `power` computes the number of rounds that it takes to see a gain.
"""

from __future__ import annotations

from dikin.worth.power import rounds_to_see
from dikin.worth.uplift import Uplift

__all__ = ["Uplift", "rounds_to_see"]
