"""Every error a user can meet.

One family: `except dikin.DikinError` catches them all, and each is also the built-in that a
Python programmer would expect (`ValueError`, `KeyError`, ...). A message names what came, what was
wanted and, where there is one, the next right step. An error is raised before anything has changed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from itertools import islice


class DikinError(Exception):
    """Root of the family: every error that this library raises on purpose.

    Catch it to catch them all; the message says what came, what was wanted and what to do.
    """

    def __str__(self) -> str:
        # KeyError would print the repr of its message, quotes and all.
        return " ".join(str(part) for part in self.args)


# --- what a learner or a domain was built from -------------------------------------------------


class ParameterError(DikinError, ValueError):
    """An argument is unusable: wrong sign, NaN, a reversed range, something of another type.

    Correct the argument that the message names. Nothing was built or changed.
    """


class HorizonRequiredError(ParameterError):
    """The paper's constants contain the number of rounds, and no horizon was given.

    Give `horizon`, or leave `constants` at "sharp", which need none.
    """


class UnknownParameterError(ParameterError, KeyError):
    """A tuner has no parameter of that name.

    Use one of the names in the message.
    """


class UnknownKindError(DikinError, KeyError):
    """No class or variant has that name.

    Use one of the names in the message. A class of your own is known once the module that
    registers it (`dikin.register`) was imported.
    """


class DomainError(DikinError, ValueError):
    """A set on which no bandit problem can be played.

    Describe another set; the subclasses say what is wrong with this one.
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
    """The set has a direction without end.

    Add bounds: regret on such a set has none.
    """


class ShapeError(DikinError, ValueError):
    """An array has other dimensions than the object needs.

    Give it the shape in the message; points have the domain's `point_shape`.
    """


class OutsideDomainError(DikinError, ValueError):
    """A point does not belong to the domain.

    Give a point with `domain.contains(point)`; the message says by how much it is outside.
    """


# --- answers to a query ------------------------------------------------------------------------


class LossError(DikinError, ValueError):
    """A loss is not a finite real number.

    Tell a finite number, or `forget` the query if its loss was lost. The query stays open.
    """


class FeedbackError(LossError):
    """The answer is of another kind than the learner declares, or is not offered.

    Tell what `learner.feedback` says; play with an environment whose `offers` contain it.
    """


class ForecastError(DikinError, ValueError):
    """A forecast is not one finite number, or comes when the point is known already.

    Give one number to `ask`, or none.
    """


class LossRangeError(LossError):
    """A loss lies outside the declared `loss_range`.

    Build the learner with a wider range, or with `loss_range=None` if none is known. The query
    stays open.
    """


class CurvatureError(DikinError, ValueError):
    """A curvature is negative, NaN, infinite or no number.

    Give a number of at least 0; 0 is always safe.
    """


class CurvatureTooLargeError(CurvatureError):
    """No loss of the declared smoothness, Lipschitz constant or range can be so strongly convex.

    Tell less curvature, which is always safe, or declare a larger constant.
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


class ForeignQueryError(QueryError):
    """A query belongs to another learner.

    Answer it there, or ask this learner for a query of its own.
    """


# --- saved state -------------------------------------------------------------------------------


class NotAFileError(DikinError, OSError):
    """What should be written or read is no plain file (a folder, a device, a pipe), or no path.

    Give the path of a file. Nothing was written.
    """


class StateError(DikinError, ValueError):
    """A saved state cannot be read: torn, altered, or not written by this library.

    Load another copy. Nothing was restored.
    """


class StateVersionError(StateError):
    """A saved state was written by a version of the library with another layout.

    If it is newer, upgrade dikin. If it is older, go on with that version or begin anew.
    """


class NotSavableError(DikinError, TypeError):
    """What cannot be loaded is not saved: Python functions, or a class that is not registered.

    Write `@dikin.register` above a class of your own; a domain made of functions
    is given again when loading.
    """


# --- studies -----------------------------------------------------------------------------------


class StoreError(StateError, OSError):
    """The database of a study cannot be read or written: disk full, read-only, server away.

    Mend the store and repeat the call; what was committed is kept.
    """


class BusyError(StoreError, TimeoutError):
    """Another client held the study for longer than this one's patience.

    Repeat the call, or give `Study` a longer patience. Nothing was changed.
    """


class UnknownStudyError(StateError, KeyError):
    """No study has that name.

    Look at the names in the message, or give a learner to begin a study.
    """


class StudyExistsError(StateError):
    """A study of that name exists, with another learner.

    Open it without a learner, or begin one under another name.
    """


class AnsweredError(ClosedQueryError):
    """A query was already answered, with another value.

    The first answer counts; the message says what it was.
    """


class RequestError(DikinError, ValueError):
    """A line on standard input, or what came over HTTP, is not a request that is known.

    Send what the message names; the next line or request is read as usual.
    """


class AccessError(DikinError, PermissionError):
    """A service refuses a client: no token, one that it does not know, or one of too small a right.

    Give the token that `dikin token create` printed; the message says which right is needed.
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
    """An optional package is needed and not installed.

    Install the extra that the message names.
    """


class ConstructionWarning(UserWarning):
    """Base of what is said once, when a learner is built, and not again when it is loaded.

    The learner works; the subclasses say what to change if it is slow.
    """


class PaperConstantsWarning(ConstructionWarning):
    """The paper's constants hardly move the learner at this horizon.

    Leave `constants` at "sharp" unless the paper itself is to be reproduced.
    """


class StartWarning(ConstructionWarning):
    """A start is so close to the boundary that leaving it takes long.

    Give a start farther inside.
    """


class UnequalSidesWarning(ConstructionWarning):
    """The sides of the domain are so unequal that a learner of Euclidean lengths is slow there.

    Take a learner with `equal_sides`, such as `Predictive`, or choose other units.
    """


class ForkWarning(UserWarning):
    """A process goes on with a learner that it has from the process it was forked from.

    Both draw the same directions from here on, and what one learns the other does not. Make a
    learner in each process, with a seed of its own, or share one with `dikin.Study`.
    """


class EntryPointWarning(UserWarning):
    """An installed package offers a class that cannot be imported or registered.

    The class is left out; all others work. Mend or remove the package.
    """


class AssumptionWarning(UserWarning):
    """A learner is played against losses that it was not built for.

    Give it the constants of the environment; its certificate does not hold otherwise.
    """


class CertificateVoidWarning(UserWarning):
    """The certificate is NaN where the learner stands now.

    It comes back when the centre is farther inside; points and answers are not affected.
    """


FEW = 10
"""Ids that a message lists."""
LONGEST = 200
"""Characters of a value in a message."""
LONGEST_MESSAGE = 2000
"""Characters of a message to a program at the other end of a pipe or a connection."""
LARGEST_SHOWN = 10_000
"""Entries of a value that is printed to be shown; of a larger one the size is told."""
KNOWN = 50
"""Names that a message lists."""


def shown(value: object) -> str:
    """A value as it stands in a message: its repr, cut where that is long, and never an error.

    Parameters
    ----------
    value : object
        Whatever came.

    Returns
    -------
    str
        At most some 200 characters.
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
    """Whether to print a value would take long; no more of it is looked at than is needed."""
    waiting, entries = [value], 0
    while waiting and entries <= LARGEST_SHOWN:
        part = waiting.pop()
        entries += len(part)
        if entries <= LARGEST_SHOWN:
            inner = part.values() if isinstance(part, dict) else part
            waiting += [each for each in inner if isinstance(each, list | tuple | dict)]
    return entries > LARGEST_SHOWN


def shortened(message: str) -> str:
    """A message as it is sent to a program: cut where it is long.

    Parameters
    ----------
    message : str
        Whatever is to be said.

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
    """Ids as they stand in a message: all of a few, the first of many.

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


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """A sentence with the nearest known name, and with all of them, or the first of many.

    Parameters
    ----------
    wanted : str
        The name that is not known.
    known : iterable of str
        The names that are.

    Returns
    -------
    str
        What to add to an error's message; it begins with a space.
    """
    names = sorted(known)
    near = difflib.get_close_matches(wanted[:LONGEST].lower(), names, n=1)
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
