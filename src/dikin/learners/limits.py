"""How curved a loss can be, by what a learner assumes of it: a limit and its reason."""

from __future__ import annotations

from dikin.domains.base import Domain
from dikin.errors import CurvatureTooLargeError, ParameterError
from dikin.learners.base import Learner
from dikin.units import LARGEST

Limit = tuple[float, str]
"""In the user's units."""

LINEAR: Limit = (0.0, "as linear losses are not strongly convex")


def of_smooth(smoothness: float) -> Limit:
    """A smooth loss is at most as strongly convex as it is smooth."""
    return smoothness, "the smoothness that this learner was built with"


def of_lipschitz(lipschitz: float, domain: Domain) -> Limit:
    """A Lipschitz loss on a set of diameter D (docs/mathematics.md)."""
    return 4.0 * lipschitz / domain.diameter, "4 L/D: no loss of this Lipschitz constant has more"


def believed(learner: Learner, curvature: float) -> float:
    """A strong convexity that is believed of every loss, in the paper's units."""
    limit, reason = learner.curvature_limit
    if curvature > limit:
        raise CurvatureTooLargeError(f"curvature={curvature:g} exceeds {limit:g}, {reason}")
    sigma = learner.units.curvature(curvature)
    if sigma * LARGEST < 1.0:
        raise ParameterError(
            f"curvature={curvature:g} is {sigma:g} in units of the domain's radius and the losses' "
            f"range; its inverse must be at most {LARGEST:g} to compute with"
        )
    return sigma
