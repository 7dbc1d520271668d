"""Every error a user can meet.

One family: `except dikin.DikinError` catches them all, and each is also the built-in that a
Python programmer would expect (`ValueError`, `KeyError`, ...). A message names what came, what was
wanted and, where there is one, the next right step. An error is raised before anything has changed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DikinError(Exception):
    """Root of the family."""

    def __str__(self) -> str:
        # KeyError would print the repr of its message, quotes and all.
        return " ".join(str(part) for part in self.args)


# --- what a learner or a domain was built from -------------------------------------------------


class ParameterError(DikinError, ValueError):
    """A constructor's argument is unusable: wrong sign, NaN, reversed range, ..."""


class HorizonRequiredError(ParameterError):
    """The paper's constants contain T, and no horizon was given."""


class UnknownKindError(DikinError, KeyError):
    """No domain or learner has that name."""


class DomainError(DikinError, ValueError):
    """A set on which no bandit problem can be played."""


class EmptyDomainError(DomainError):
    """No point satisfies the description."""


class FlatDomainError(DomainError):
    """The set has points but no interior."""


class UnboundedDomainError(DomainError):
    """The set has a direction without end."""


class ShapeError(DikinError, ValueError):
    """An array has other dimensions than the object needs."""


class OutsideDomainError(DikinError, ValueError):
    """A point does not belong to the domain."""


# --- answers to a query ------------------------------------------------------------------------


class LossError(DikinError, ValueError):
    """A loss is not a finite real number."""


class FeedbackError(LossError):
    """The answer is of another kind than the learner declares."""


class ForecastError(DikinError, ValueError):
    """A forecast is not one finite number, or comes when the point is known already."""


class LossRangeError(LossError):
    """A loss lies outside the declared `loss_range`."""


class CurvatureError(DikinError, ValueError):
    """A curvature is negative, NaN or infinite."""


class CurvatureTooLargeError(CurvatureError):
    """No loss of the declared smoothness (or Lipschitz constant) can be so strongly convex."""


class QueryError(DikinError, KeyError):
    """The query that is being answered is not open."""


class UnknownQueryError(QueryError):
    """That query was never asked."""


class ClosedQueryError(QueryError):
    """That query was already answered or forgotten."""


class ForeignQueryError(QueryError):
    """That query belongs to another learner."""


# --- saved state -------------------------------------------------------------------------------


class StateError(DikinError, ValueError):
    """A saved state cannot be read: torn, altered, or not ours."""


class StateVersionError(StateError):
    """A saved state was written by a newer version."""


class NotSavableError(DikinError, TypeError):
    """What cannot be loaded is not saved: Python functions, or a class that is not registered."""


# --- studies -----------------------------------------------------------------------------------


class StoreError(StateError, OSError):
    """The database of a study cannot be read or written: disk full, read-only, server away."""


class BusyError(StoreError, TimeoutError):
    """Another client held the study for longer than this one's patience."""


class UnknownStudyError(StateError, KeyError):
    """No study has that name."""


class StudyExistsError(StateError):
    """A study of that name exists, with another learner."""


class AnsweredError(ClosedQueryError):
    """That query was already answered, with another value."""


class RequestError(DikinError, ValueError):
    """A line on standard input is not a request that `dikin study run` knows."""


# --- the rest ----------------------------------------------------------------------------------


class NumericalError(DikinError, ArithmeticError):
    """A solve did not converge; the state is as it was before the call."""


class CheckFailedError(DikinError, AssertionError):
    """A mathematical law that every domain or learner obeys is broken."""


class MissingExtraError(DikinError, ImportError):
    """A package of an extra such as `dikin[lab]` is needed and not installed."""


class ConstructionWarning(UserWarning):
    """Said once, when a learner is built: not again when it is loaded."""


class PaperConstantsWarning(ConstructionWarning):
    """The paper's constants are inert at this horizon."""


class StartWarning(ConstructionWarning):
    """A start is so close to the boundary that leaving it takes long."""


class UnequalSidesWarning(ConstructionWarning):
    """The sides of the domain are so unequal that a learner of Euclidean lengths is slow there."""


class EntryPointWarning(UserWarning):
    """An installed package offers a class that cannot be imported or registered."""


class AssumptionWarning(UserWarning):
    """A learner is played against losses that it was not built for."""


class CertificateVoidWarning(UserWarning):
    """The certificate is NaN where the learner stands now."""


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """A sentence with the nearest known name, and all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(wanted.lower(), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{hint} Known: {', '.join(names)}."
