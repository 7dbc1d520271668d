"""Every error a user can meet.

One family: `except dikin.DikinError` catches them all, and each is also the built-in that a
Python programmer would expect (`ValueError`, `KeyError`, ...). A message says what was passed, what
is required and, if there is one, the next right step. An error is raised before anything has
changed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from itertools import islice


class DikinError(Exception):
    """Root of the family: every error that this library raises on purpose.

    Catch it to catch them all; the message says what was passed, what is required and what to do.
    """

    def __str__(self) -> str:
        # KeyError would print the repr of its message, quotes and all.
        return " ".join(str(part) for part in self.args)


# --- what a learner or a domain was built from -------------------------------------------------


class ParameterError(DikinError, ValueError):
    """An argument is invalid: wrong sign, NaN, a reversed range, the wrong type.

    Correct the argument that the message names. Nothing was built or changed.
    """


class HorizonRequiredError(ParameterError):
    """The paper's constants depend on the number of rounds, and no horizon was passed.

    Pass `horizon`, or leave `constants` at "sharp", which needs none.
    """


class UnknownParameterError(ParameterError, KeyError):
    """A tuner has no parameter of that name.

    Use one of the names in the message.
    """


class UnknownKindError(DikinError, KeyError):
    """No class or variant has that name.

    Use one of the names in the message. A class of your own is found once the module that
    registers it (`dikin.register`) has been imported.
    """


class DomainError(DikinError, ValueError):
    """A set on which no bandit problem can be played.

    Use another set; the subclasses say what is wrong with this one.
    """


class EmptyDomainError(DomainError):
    """No point satisfies the description of a domain.

    Look for constraints that contradict each other.
    """


class FlatDomainError(DomainError):
    """The set has points but no interior.

    Describe it with fewer coordinates: leave out those that the others determine.
    """


class UnboundedDomainError(DomainError):
    """The set is unbounded in some direction.

    Add bounds: on an unbounded set the regret is unbounded too.
    """


class ShapeError(DikinError, ValueError):
    """An array has the wrong shape.

    Use the shape in the message; points have the domain's `point_shape`.
    """


class OutsideDomainError(DikinError, ValueError):
    """A point does not belong to the domain.

    Pass a point for which `domain.contains(point)` holds; the message says how far outside it is.
    """


# --- answers to a query ------------------------------------------------------------------------


class LossError(DikinError, ValueError):
    """A loss is not a finite real number.

    Tell a finite number, or `forget` the query if its loss was lost. The query stays open.
    """


class FeedbackError(LossError):
    """The answer is not of the kind that the learner declares, or the environment has none.

    Tell what `learner.feedback` describes; play with an environment whose `offers` contain it.
    """


class ForecastError(DikinError, ValueError):
    """A forecast is not one finite number, or is passed after the point is known.

    Pass one number to `ask`, or none.
    """


class ContextError(FeedbackError):
    """A context is missing, was not declared, or has a value that it cannot have.

    Give `ask` a value for each name of the tuner's `context`, within its words or its range.
    """


class CovariateError(DikinError, ValueError):
    """A covariate is not a finite number or a word, or not of the kind that it was before.

    Correct the covariate that the message names, or leave it out. Nothing was changed.
    """


class LossRangeError(LossError):
    """A loss lies outside the declared `loss_range`.

    Build the learner with a wider range, or with `loss_range=None` if none is known. The query
    stays open.
    """


class CurvatureError(DikinError, ValueError):
    """A curvature is negative, NaN, infinite or not a number.

    Pass a number of at least 0; 0 is always safe.
    """


class CurvatureTooLargeError(CurvatureError):
    """No loss of the declared smoothness, Lipschitz constant or range can be so strongly convex.

    Tell less curvature, which is always safe, or declare a larger constant.
    """


class ConstantError(DikinError, ValueError):
    """The smoothness or Lipschitz constant told of one loss is not one that it can have.

    Tell a number from 0 to the constant that was declared for all losses, or none: an overstated
    one is safe.
    """


class QueryError(DikinError, KeyError):
    """The query that is being answered is not open.

    Answer each query once, with what `ask` returned; the subclasses say what happened to it.
    """


class UnknownQueryError(QueryError):
    """A query with that number was never asked.

    Answer with the query that `ask` returned, or with its number.
    """


class ClosedQueryError(QueryError):
    """A query was already answered or forgotten.

    Nothing is left to do: its first answer counts.
    """


class TooManyOpenError(QueryError):
    """So many queries of a study wait for their answers that no more may be asked.

    Tell them, or forget those that will never be answered: `Study.forget(older_than=...)`.
    """


class ForeignQueryError(QueryError):
    """A query belongs to another learner.

    Answer it there, or ask this learner for a query of its own.
    """


# --- saved state -------------------------------------------------------------------------------


class NotAFileError(DikinError, OSError):
    """The path is not that of a plain file (but of a folder, device or pipe), or is not a path.

    Pass the path of a file. Nothing was written.
    """


class StateError(DikinError, ValueError):
    """A saved state cannot be read: truncated, altered, or not written by this library.

    Load another copy. Nothing was restored.
    """


class StateVersionError(StateError):
    """A saved state was written by a version of the library with another layout.

    If it is newer, upgrade dikin. If it is older, continue with that version or start again.
    """


class NotSavableError(DikinError, TypeError):
    """An object is not saved because it could not be loaded: functions, an unregistered class.

    Write `@dikin.register` above a class of your own; pass a domain made of functions again when
    loading.
    """


# --- studies -----------------------------------------------------------------------------------


class StoreError(StateError, OSError):
    """The database of a study cannot be read or written: disk full, read-only, server down.

    Repair the store and repeat the call; committed events are not lost.
    """

    retry_after = 0
    """Seconds after which a service asks to be called again; 0 if it did not say."""


class BusyError(StoreError, TimeoutError):
    """Another client held the study for longer than this one's patience.

    Repeat the call, or open the `Study` with a longer patience. Nothing was changed.
    """


class UnknownStudyError(StateError, KeyError):
    """No study has that name.

    Use one of the names in the message, or pass a learner to create a study.
    """


class StudyExistsError(StateError):
    """A study of that name exists, with another learner.

    Open it without a learner, or create one under another name.
    """


class AnsweredError(ClosedQueryError):
    """A query was already answered, with another value.

    The first answer counts; the message says what it was.
    """


class RequestError(DikinError, ValueError):
    """An HTTP request is not understood: send what the message names."""


class AccessError(DikinError, PermissionError):
    """A service rejects a client: no token, an unknown one, or one without the necessary right.

    Use the token that `dikin token create` printed; the message says which right is needed.
    """


# --- the rest ----------------------------------------------------------------------------------


class NumericalError(DikinError, ArithmeticError):
    """A solve did not converge.

    The state is as it was before the call. Look for numbers of very different size in the domain
    or the losses.
    """


class CheckFailedError(DikinError, AssertionError):
    """A mathematical law that every domain, learner or environment obeys is broken.

    The message says which object breaks it and by how much: correct the class.
    """


class MissingExtraError(DikinError, ImportError):
    """An optional package is required but not installed.

    Install the extra that the message names.
    """


class ConstructionWarning(UserWarning):
    """Base of the warnings given when a learner is built, and not again when it is loaded.

    The learner works; the subclasses say what to change if it is slow.
    """


class PaperConstantsWarning(ConstructionWarning):
    """The paper's constants hardly move the learner at this horizon.

    Leave `constants` at "sharp" unless the paper itself is to be reproduced.
    """


class StartWarning(ConstructionWarning):
    """A start is so close to the boundary that leaving it takes long.

    Pass a start farther inside.
    """


class UnequalSidesWarning(ConstructionWarning):
    """The sides of the domain are so unequal that a learner of Euclidean lengths is slow there.

    Use a learner with `equal_sides`, such as `Predictive`, or choose other units.
    """


class ForkWarning(UserWarning):
    """A forked process continues with the learner of its parent.

    Both draw the same directions from now on, and neither learns what the other does. Create a
    learner in each process, with its own seed, or share a tuner by `dikin.Study`.
    """


class EntryPointWarning(UserWarning):
    """An installed package offers a class that cannot be imported or registered.

    The class is skipped; all others work. Repair or remove the package.
    """


class AssumptionWarning(UserWarning):
    """A learner is played against losses that it was not built for.

    Pass it the constants of the environment; its certificate does not hold otherwise.
    """


class CertificateVoidWarning(UserWarning):
    """The certificate is NaN at the learner's current centre.

    It returns when the centre is farther inside; points and answers are not affected.
    """


FEW = 10
"""Ids that a message lists."""
LONGEST = 200
"""Characters of a value in a message."""
LONGEST_MESSAGE = 2000
"""Characters of a message to a program at the other end of a pipe or a connection."""
LARGEST_SHOWN = 10_000
"""Entries of a value that a message prints; for a larger one it gives the size."""
KNOWN = 50
"""Names that a message lists."""


def shown(value: object) -> str:
    """A value as a message prints it: its repr, shortened if it is long; never raises.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    str
        At most about 200 characters.
    """
    if isinstance(value, list | tuple | dict) and _is_large(value):
        return f"a {type(value).__name__} of {len(value):,} entries, too large to be shown"
    try:
        text = repr(value)
    except Exception:  # a number of too many digits, a list nested too deeply, a broken repr
        if isinstance(value, int):
            return f"a whole number of {value.bit_length()} bits"
        return f"a {type(value).__name__} that cannot be printed"
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]} ... {text[-20:]} ({len(text):,} characters)"


def _is_large(value: Collection[object]) -> bool:
    """Whether printing a value would take long; looks at no more of it than necessary."""
    waiting, entries = [value], 0
    while waiting and entries <= LARGEST_SHOWN:
        part = waiting.pop()
        entries += len(part)
        if entries <= LARGEST_SHOWN:
            inner = part.values() if isinstance(part, dict) else part
            waiting += [each for each in inner if isinstance(each, list | tuple | dict)]
    return entries > LARGEST_SHOWN


def shortened(message: str) -> str:
    """A message as it is sent to a program: shortened if it is long.

    Parameters
    ----------
    message : str
        Any message.

    Returns
    -------
    str
        At most 2,000 characters.
    """
    if len(message) <= LONGEST_MESSAGE:
        return message
    end = f" ... (cut: {len(message):,} characters)"
    return message[: LONGEST_MESSAGE - len(end)] + end


def few_of(ids: Collection[int]) -> str:
    """Ids as a message lists them: all if they are few, else the first ones.

    Parameters
    ----------
    ids : collection of int
        In the order in which they are listed.

    Returns
    -------
    str
        Such as "[3, 5]", "none", or "[0, 1, ...] and 49,990 more".
    """
    few = list(islice(ids, FEW))
    more = f" and {len(ids) - FEW:,} more" if len(ids) > FEW else ""
    return f"{few}{more}" if few else "none"


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """A sentence with the nearest known name, and the list of known names, or its first ones.

    Parameters
    ----------
    name : str
        The unknown name.
    candidates : iterable of str
        The known names.

    Returns
    -------
    str
        What to add to an error's message; it begins with a space.
    """
    names = sorted(candidates)
    near = difflib.get_close_matches(name[:LONGEST].lower(), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    more = f" and {len(names) - KNOWN:,} more" if len(names) > KNOWN else ""
    return f"{hint} Known: {', '.join(names[:KNOWN])}{more}."


def error_code(kind: type[DikinError]) -> str:
    """A name for an error that programs can compare: LossRangeError is `loss_range`.

    Parameters
    ----------
    kind
        The class of the error.

    Returns
    -------
    str
        Its words in lower case.
    """
    words = re.findall("[A-Z][a-z]*", kind.__name__.removesuffix("Error"))
    return "_".join(words).lower()
