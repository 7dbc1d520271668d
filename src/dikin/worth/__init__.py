"""What tuning is worth: a comparison with the control, what it guarantees, and when to stop.

`holdback` draws the rounds that play the control, `estimate` finds the gain over it (`uplift`, with
`sums`, `offsets`, `clipping` and `intervals`), `guard` stops what does harm, `budget` limits what
tuning may cost, `pipeline` notices values that cannot be right, and `power` says how many rounds it
takes to see a gain.
"""

from __future__ import annotations

from dikin.worth.budget import Budget
from dikin.worth.estimate import UpliftEstimate
from dikin.worth.guard import Guard
from dikin.worth.holdback import holdback_share, is_held_back
from dikin.worth.pipeline import PipelineWatch
from dikin.worth.power import rounds_to_see
from dikin.worth.uplift import Uplift

__all__ = [
    "Budget",
    "Guard",
    "PipelineWatch",
    "Uplift",
    "UpliftEstimate",
    "holdback_share",
    "is_held_back",
    "rounds_to_see",
]
