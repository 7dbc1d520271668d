"""An event whose commit was cut off: its seal tells whether it was written, its number does not."""

from __future__ import annotations

from typing import Any, cast

import pytest

import dikin
from dikin import errors
from dikin.studies.session import Session
from studies.small import fresh
from studies.test_commits import failing


# What `_resolve_uncertain` may get wrong: it believes any row of that number, it never finds the
# row, or it takes the outcome of a tell for a query.
def any_row(session: Session) -> None:
    (event, result), session._uncertain = cast(Any, session._uncertain), None
    if session.journal.seal_at(event.number) is not None and isinstance(result, dikin.Query):
        session.unclaimed.append((event, result))


def no_row(session: Session) -> None:
    session._uncertain = None


def any_result(session: Session) -> None:
    (event, result), session._uncertain = cast(Any, session._uncertain), None
    if session.journal.seal_at(event.number) == event.seal:
        session.unclaimed.append((event, result))


def lost_ask(file: str, monkeypatch: pytest.MonkeyPatch, written: bool) -> None:
    """Another client asks meanwhile: no query has two owners, and none is lost.

    The same learner asks the same thing again, under the same id and number of a row: if the first
    ask was not written, only the seal tells that the row there is the other client's.
    """
    with dikin.Study(file, "a", fresh()) as study, dikin.Study(file, "a") as other:
        failing(monkeypatch, study, errors.StoreError("the disk went away"), written)
        with pytest.raises(errors.StoreError, match="went away"):
            study.ask()
        theirs, ours = other.ask(), study.ask()
        assert (theirs.id, ours.id) == ((1, 0) if written else (0, 1))
        assert study.verify() == 2


def lost_tell(file: str, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """What was written of a tell or a forget is no query for the next ask."""
    with dikin.Study(file, "a", fresh()) as study:
        query = study.ask()
        failing(monkeypatch, study, errors.StoreError("the disk went away"), written=True)
        with pytest.raises(errors.StoreError, match="went away"):
            study.forget(query) if verb == "forget" else study.tell(query, 0.5)
        assert study.ask().id == 1
        assert study.verify() == 3


OUTCOMES = [
    (lost_ask, False, any_row),
    (lost_ask, True, no_row),
    (lost_tell, "tell", any_result),
    (lost_tell, "forget", any_result),
]


@pytest.mark.parametrize(("check", "case", "mutant"), OUTCOMES)
def test_an_event_whose_outcome_is_unknown_is_decided_by_its_seal(
    file: str, monkeypatch: pytest.MonkeyPatch, check: Any, case: Any, mutant: Any
) -> None:
    check(file, monkeypatch, case)
    dikin.Study.delete(file, "a")
    with pytest.MonkeyPatch.context() as wrong:
        wrong.setattr(Session, "_resolve_uncertain", mutant)
        with pytest.raises((AssertionError, AttributeError)):
            check(file, monkeypatch, case)


def forgetful(session: Session) -> None:
    """The mutant: what is uncertain is forgotten before it is known."""
    (event, result), session._uncertain = cast(Any, session._uncertain), None
    if session.journal.seal_at(event.number) == event.seal:
        session.unclaimed.append((event, result))


def lost_twice(file: str, monkeypatch: pytest.MonkeyPatch, owner: str, verb: str) -> None:
    """The connection breaks in a commit, and again while its outcome is looked up."""
    with dikin.Study(file, "a", fresh()) as study:
        failing(monkeypatch, study, errors.StoreError("the disk went away"), written=True)
        with pytest.raises(errors.StoreError, match="went away"):
            study.ask()
        place = getattr(study._backend, owner)

        def once(*_: Any) -> None:
            monkeypatch.undo()
            raise errors.StoreError("gone again")

        monkeypatch.setattr(place, verb, once)
        with pytest.raises(errors.StoreError, match="gone again"):
            study.ask()
        assert study.ask().id == 0
        assert [query.id for query in study.open_queries] == [0]


def test_a_query_stays_uncertain_until_its_row_was_read(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_twice(file, monkeypatch, "journal", "seal_at")
    dikin.Study.delete(file, "a")
    with pytest.MonkeyPatch.context() as wrong:
        wrong.setattr(Session, "_resolve_uncertain", forgetful)
        with pytest.raises(AssertionError):
            lost_twice(file, monkeypatch, "journal", "seal_at")


def test_a_query_that_was_found_and_not_returned_is_found_again(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_twice(file, monkeypatch, "session", "_finish")
