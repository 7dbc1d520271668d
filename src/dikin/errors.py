"""Every error a user can meet.

One family: `except dikin.DikinError` catches them all, and each is also the built-in that a
Python programmer would expect (`ValueError`, `KeyError`, ...). A message names the value that was
passed, the value that is required and, if it exists, the remedy. An error is raised before
anything has changed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from itertools import islice


class DikinError(Exception):
    """Root of the family: every error that this library raises on purpose.

    Catch it to catch them all. The message names the value, the requirement and the remedy.
    """

    def __str__(self) -> str:
        # KeyError would print the repr of its message, quotes and all.
        return " ".join(str(part) for part in self.args)


# --- what a learner, a set or a tuner was built from --------------------------------------------


class ParameterError(DikinError, ValueError):
    """An argument is invalid: wrong sign or type, NaN, a reversed range, unknown, or missing.

    Correct the argument that the message names. Nothing was built or changed. A class of your own
    is known once the module that registers it (`dikin.register`) has been imported.
    """


class DomainError(DikinError, ValueError):
    """A set cannot be used: empty, flat, unbounded. Or a point or array does not belong to it.

    Correct the constraints that the message names, or use fewer coordinates. Pass a point of the
    shape `domain.point_shape` for which `domain.contains(point)` holds.
    """


# --- answers to a query ------------------------------------------------------------------------


class LossError(DikinError, ValueError):
    """A loss is not a finite real number.

    Tell a finite number, or `forget` the query if its loss was lost. The query stays open.
    """


class LossRangeError(LossError):
    """A loss lies outside the declared `loss_range`.

    Build the learner with a wider range, or with `loss_range=None` if none is known. The query
    stays open.
    """


class FeedbackError(LossError):
    """An answer or a forecast is not of the kind that the learner uses, or comes too late.

    Report the answer that `learner.feedback` describes. Play with an environment whose `offers`
    contain it. Pass a forecast to `ask`, as one finite number.
    """


class ContextError(FeedbackError):
    """A context is missing, was not declared, or has a value that it cannot have.

    Give `ask` a value for each name of the tuner's `context`, within its words or its range.
    """


class CovariateError(ContextError):
    """A covariate is not a finite number or a word, or not of the kind that it was before.

    Correct the covariate that the message names, or leave it out. Nothing was changed.
    """


class QueryError(DikinError, KeyError):
    """The query that is being answered belongs elsewhere, or too many wait for their answers.

    Answer each query once, where it was asked, with what `ask` returned. Forget those that will
    never be answered. The subclasses name other fates of a query.
    """


class UnknownQueryError(QueryError):
    """A query with that number was never asked.

    Answer with the query that `ask` returned, or with its number.
    """


class ClosedQueryError(QueryError):
    """A query was already answered or forgotten.

    Nothing is left to do: its first answer counts.
    """


class AnsweredError(ClosedQueryError):
    """A query was already answered, with another value.

    The first answer counts. The message has it.
    """


# --- saved state and studies -------------------------------------------------------------------


class StateError(DikinError, ValueError):
    """A saved state cannot be read: truncated, altered, or not written by this version of dikin.

    Load another copy, or use the version that the message names. Nothing was restored.
    """


class NotSavableError(DikinError, TypeError):
    """An object is not saved because it could not be loaded: functions, an unregistered class.

    Write `@dikin.register` above a class of your own. Pass a domain made of functions again when
    loading.
    """


class StoreError(StateError, OSError):
    """The database of a study cannot be read or written: disk full, read-only, server down.

    Repair the store and repeat the call. Committed events are not lost.
    """

    retry_after = 0
    """Seconds after which a service asks to be called again; 0 if it did not say."""


class BusyError(StoreError, TimeoutError):
    """Another client held the study for longer than this one's patience.

    Repeat the call, or open the `Study` with a longer patience. Nothing was changed.
    """


class UnknownStudyError(StateError, KeyError):
    """No study has that name.

    Use one of the names in the message, or pass a tuner to create a study.
    """


class StudyExistsError(StateError):
    """A study of that name exists, with another tuner.

    Open it without a tuner, or create one under another name.
    """


class RequestError(DikinError, ValueError):
    """An HTTP request is not understood.

    Follow the message.
    """


class AccessError(DikinError, PermissionError):
    """A service rejects a client: no token, an unknown one, or one without the necessary right.

    Use the token that `dikin token create` printed. The message names the right that is needed.
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


class DikinWarning(UserWarning):
    """Root of the warnings: the work continues, and the message names the fault.

    A forked process continues with the learner of its parent, or an installed package offers a
    class that cannot be imported.
    """


class SlowLearnerWarning(DikinWarning):
    """A learner works, but will learn slowly. It comes when it is built, not when it is loaded.

    It starts close to the boundary, the sides of its domain are very unequal, or the paper's
    constants hardly move it. The message names the remedy.
    """


class CertificateWarning(DikinWarning):
    """A certificate does not hold for these losses, or is NaN at the learner's current centre.

    Pass the learner the constants of the losses. A NaN goes when the centre is farther inside.
    Points and answers are not affected.
    """


# --- words of messages, for the library itself ---------------------------------------------------

__all__ = [name for name in list(globals()) if name.endswith(("Error", "Warning"))]

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
    """Return a value as a message prints it: its repr, about 200 characters. Never raises."""
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
    """Return whether printing a value would take long. Look at no more of it than necessary."""
    waiting, entries = [value], 0
    while waiting and entries <= LARGEST_SHOWN:
        part = waiting.pop()
        entries += len(part)
        if entries <= LARGEST_SHOWN:
            inner = part.values() if isinstance(part, dict) else part
            waiting += [each for each in inner if isinstance(each, list | tuple | dict)]
    return entries > LARGEST_SHOWN


def shortened(message: str) -> str:
    """Return a message as it is sent to a program: at most 2,000 characters."""
    if len(message) <= LONGEST_MESSAGE:
        return message
    end = f" ... (cut: {len(message):,} characters)"
    return message[: LONGEST_MESSAGE - len(end)] + end


def few_of(ids: Collection[int]) -> str:
    """Return ids as a message lists them: "[3, 5]", "none", "[0, 1, ...] and 49,990 more"."""
    few = list(islice(ids, FEW))
    more = f" and {len(ids) - FEW:,} more" if len(ids) > FEW else ""
    return f"{few}{more}" if few else "none"


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return a sentence, after a space, with the nearest known name and the known names."""
    names = sorted(candidates)
    near = difflib.get_close_matches(name[:LONGEST].lower(), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    more = f" and {len(names) - KNOWN:,} more" if len(names) > KNOWN else ""
    return f"{hint} Known: {', '.join(names[:KNOWN])}{more}."


def error_code(kind: type[DikinError]) -> str:
    """Return a name for an error that programs can compare: LossRangeError is `loss_range`."""
    words = re.findall("[A-Z][a-z]*", kind.__name__.removesuffix("Error"))
    return "_".join(words).lower()
