"""The laws that a learner's family adds to those of every learner."""

from __future__ import annotations

from dikin.checks import Law, laws
from dikin.learners.barrier_ftrl import BarrierFTRL
from dikin.learners.base import Learner
from dikin.learners.descent import Descent


def laws_of(learner: type[Learner]) -> dict[str, Law]:
    """Every law of a learner's class, by name."""
    explores = ("exploration_laws",) if issubclass(learner, BarrierFTRL | Descent) else ()
    leader = ("barrier_ftrl_laws",) if issubclass(learner, BarrierFTRL) else ()
    ranges = "measured_range_laws" if learner.measures_range else "unknown_range_laws"
    own = [laws(f"learners.{module}") for module in (ranges, *explores, *leader)]
    return laws("dikin.checks.learner") | {name: law for part in own for name, law in part.items()}
