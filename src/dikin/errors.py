"""Every error a user can meet.

One family: `except dikin.DikinError` catches them all, and each is also the built-in that a
Python programmer would expect (`ValueError`, `KeyError`, ...). A message names the value that was
passed, the value that is required and, if it exists, the remedy. An error is raised before
anything has changed.
"""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Collection, Iterable
from itertools import islice


class DikinError(Exception):
    """Root of the family: every error that this library raises on purpose."""

    def __str__(self) -> str:
        # KeyError would print the repr of its message, quotes and all.
        return " ".join(str(part) for part in self.args)


# --- arguments ----------------------------------------------------------------------------------


class ParameterError(DikinError, ValueError):
    """An argument is invalid: wrong sign or type, NaN, a reversed range, unknown, or missing."""


class DomainError(DikinError, ValueError):
    """A set cannot be used (empty, flat, unbounded), or a point or array does not belong to it."""


# --- answers to a query ------------------------------------------------------------------------


class LossError(DikinError, ValueError):
    """A loss is not a finite real number. The query stays open: `forget` it if its loss is lost."""


class LossRangeError(LossError):
    """A loss lies outside the declared `loss_range`. The query stays open."""


class FeedbackError(LossError):
    """An answer or a forecast is not of the kind that `learner.feedback` describes."""


class ContextError(FeedbackError):
    """A context is missing, was not declared, or has a value that it cannot have."""


class CovariateError(ContextError):
    """A covariate is not a finite number or a word, or not of the kind that it was before."""


class QueryError(DikinError, KeyError):
    """A query belongs elsewhere, or too many wait for their answers.

    Answer each query once, where it was asked. Forget those that will never be answered.
    """


class UnknownQueryError(QueryError):
    """A query with that number was never asked."""


class ClosedQueryError(QueryError):
    """A query was already answered or forgotten. Nothing is left to do."""


class AnsweredError(ClosedQueryError):
    """A query was already answered, with another value, which the message has and which counts."""


# --- saved state and studies -------------------------------------------------------------------


class StateError(DikinError, ValueError):
    """A saved state cannot be read: truncated, altered, or not written by this version of dikin."""


class NotSavableError(DikinError, TypeError):
    """An object is not saved because it could not be loaded: functions, an unregistered class.

    Write `@dikin.register` above a class of your own.
    """


class StoreError(StateError, OSError):
    """The database of a study cannot be read or written: disk full, read-only, server down.

    Repair the store and repeat the call. Committed events are not lost.
    """

    retry_after = 0
    """Seconds after which a service asks to be called again, 0 if unknown."""


class BusyError(StoreError, TimeoutError):
    """Another client held the study for longer than this one's patience. Repeat the call."""


class UnknownStudyError(StateError, KeyError):
    """No study has that name. Pass a tuner to create one."""


class StudyExistsError(StateError):
    """A study of that name exists, with another tuner. Open it without a tuner."""


class RequestError(DikinError, ValueError):
    """An HTTP request is not understood."""


class AccessError(DikinError, PermissionError):
    """A service rejects a client: no token, an unknown one, or one without the necessary right."""


# --- the rest ----------------------------------------------------------------------------------


class NumericalError(DikinError, ArithmeticError):
    """A solve did not converge: look for numbers of very different size. Nothing was changed."""


class CheckFailedError(DikinError, AssertionError):
    """A mathematical law that every domain, learner or environment obeys is broken."""


class MissingExtraError(DikinError, ImportError):
    """An optional package is required but not installed. Install the extra in the message."""


class DikinWarning(UserWarning):
    """Root of the warnings: the work continues, and the message names the fault."""


class SlowLearnerWarning(DikinWarning):
    """A new learner will learn slowly: it starts close to the boundary, or its set is long.

    The paper's constants at a short horizon are another reason. The message names the remedy.
    """


class CertificateWarning(DikinWarning):
    """A certificate does not hold for these losses, or is NaN at the learner's current centre.

    Pass the learner the constants of the losses. Points and answers are not affected.
    """


# --- words of messages --------------------------------------------------------------------------

__all__ = [name for name in list(globals()) if name.endswith(("Error", "Warning"))]

FEW, KNOWN = 10, 50
"""Ids and names that a message lists."""
LONGEST, LONGEST_MESSAGE = 200, 2000
"""Characters of a value in a message, and of a message to another program."""

_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = 20
_short.maxlevel, _short.maxstring, _short.maxother, _short.maxlong = 4, LONGEST, LONGEST, LONGEST


def shown(value: object) -> str:
    """Return a value as a message prints it: its repr, about 200 characters. Never raises."""
    try:
        text = _short.repr(value)
    except Exception:  # a number of too many digits
        return f"<{type(value).__name__} that cannot be printed>"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


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
    """Return a sentence, after a space, with the nearest known name and the known names, if any."""
    names = sorted(candidates)
    if not names:
        return ""
    near = difflib.get_close_matches(name[:LONGEST].lower(), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    more = f" and {len(names) - KNOWN:,} more" if len(names) > KNOWN else ""
    return f"{hint} Known: {', '.join(names[:KNOWN])}{more}."


def error_code(kind: type[DikinError]) -> str:
    """Return a name for an error that programs can compare: LossRangeError is `loss_range`."""
    words = re.findall("[A-Z][a-z]*", kind.__name__.removesuffix("Error"))
    return "_".join(words).lower()
