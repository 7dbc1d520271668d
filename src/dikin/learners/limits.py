"""The largest strong convexity of a loss, by what a learner assumes of it, and the reason."""

from __future__ import annotations

from dikin.domains.base import Domain
from dikin.errors import CurvatureTooLargeError, ParameterError
from dikin.learners.base import Learner
from dikin.units import LARGEST

Limit = tuple[float, str]
"""In the user's units."""

LINEAR: Limit = (0.0, "as linear losses are not strongly convex")


def of_smooth(smoothness: float) -> Limit:
    """The limit for smooth losses: these are at most as strongly convex as they are smooth.

    Parameters
    ----------
    smoothness
        In the user's units.
    """
    return smoothness, "the smoothness that this learner was built with"


def of_lipschitz(lipschitz: float, domain: Domain) -> Limit:
    """The limit for Lipschitz losses on a set of diameter D (docs/mathematics.md).

    Parameters
    ----------
    lipschitz
        The Lipschitz constant, in the user's units.
    domain
        The set.
    """
    return 4.0 * lipschitz / domain.diameter, "4 L/D: no loss of this Lipschitz constant has more"


def assumed_curvature(learner: Learner, curvature: float) -> float:
    """A strong convexity that is assumed of every loss, in the paper's units.

    Parameters
    ----------
    learner
        What assumes it; its units and its limit count.
    curvature
        In the user's units.

    Raises
    ------
    CurvatureTooLargeError
        If it exceeds the learner's limit.
    ParameterError
        If it is too small to compute with.
    """
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
