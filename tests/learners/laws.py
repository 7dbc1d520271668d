"""The laws that a learner's family adds to those of every learner."""

from dikin.checks import Law, laws
from dikin.learners.barrier_ftrl import BarrierFTRL
from dikin.learners.base import Learner
from dikin.learners.descent import Descent


def laws_of(learner: type[Learner]) -> dict[str, Law]:
    """Every law of a learner's class, by name."""
    found = laws("dikin.checks.learner")
    if not learner.measures_range:
        found |= laws("learners.unknown_range_laws")
    if issubclass(learner, BarrierFTRL | Descent):
        found |= laws("learners.exploration_laws")
    return found | (laws("learners.barrier_ftrl_laws") if issubclass(learner, BarrierFTRL) else {})
