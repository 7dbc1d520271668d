"""An event whose commit was cut off: its seal tells whether it was written, its number does not."""

from __future__ import annotations

from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies.database import LostConnection
from dikin.studies.journal import Journal
from studies.small import failing, fresh

CUT = LostConnection("cut")


def lost_ask(file: str, monkeypatch: pytest.MonkeyPatch, written: bool) -> None:
    """Another client asks meanwhile: no trial has two owners, and none is lost.

    The same tuner asks for the same trial again, under the same id and number of a row: if the
    first ask was not written, only the seal tells that the row there is the other client's.
    """
    with dikin.Study(file, "a", fresh()) as study, dikin.Study(file, "a") as other:
        theirs: list[dikin.Trial] = []
        failing(monkeypatch, study, CUT, written, lambda: theirs.append(other.ask()))
        ours = study.ask()
        assert (theirs[0].id, ours.id) == ((1, 0) if written else (0, 1))
        assert study.verify() == 2


def lost_skip(file: str, monkeypatch: pytest.MonkeyPatch, written: bool) -> None:
    """What cannot be repeated is made once, too."""
    with dikin.Study(file, "a", fresh()) as study:
        failing(monkeypatch, study, CUT, written)
        assert study.skip_ids(10) == 10
        assert study.ask().id == 10
        assert study.verify() == 2


def any_row(self: Journal, number: int) -> str | None:
    """The mutant: it believes any row of that number."""

    class Same(str):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = str.__hash__

    found = seal_at(self, number)
    return None if found is None else Same(found)


def no_row(self: Journal, number: int) -> None:
    """The mutant: it never finds the row."""


seal_at = Journal.seal_at
OUTCOMES = [
    (lost_ask, False, any_row),
    (lost_ask, True, no_row),
    (lost_skip, True, no_row),
    (lost_skip, False, None),
]


@pytest.mark.parametrize(("check", "written", "mutant"), OUTCOMES)
def test_an_event_whose_commit_was_cut_off_is_decided_by_its_seal(
    file: str, monkeypatch: pytest.MonkeyPatch, check: Any, written: bool, mutant: Any
) -> None:
    check(file, monkeypatch, written)
    if mutant is not None:
        dikin.Study.delete(file, "a")
        with pytest.MonkeyPatch.context() as wrong:
            wrong.setattr(Journal, "seal_at", mutant)
            with pytest.raises((AssertionError, errors.StateError)):
                check(file, monkeypatch, written)


def test_an_event_stays_uncertain_until_its_row_was_read(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks in a commit, and again while its outcome is looked up."""
    with dikin.Study(file, "a", fresh()) as study:

        def cut_again() -> None:
            def once(_: int) -> str | None:
                monkeypatch.undo()
                raise LostConnection("cut again")

            monkeypatch.setattr(study._backend.journal, "seal_at", once)

        failing(monkeypatch, study, CUT, True, cut_again)
        assert study.ask().id == 0
        assert [trial.id for trial in study.open_queries] == [0]


@pytest.mark.parametrize("verb", ["tell", "forget"])
def test_a_later_call_does_not_get_the_outcome_of_an_earlier_one(
    file: str, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    with dikin.Study(file, "a", fresh()) as study:
        trial = study.ask()
        failing(monkeypatch, study, errors.StoreError("the disk went away"), written=True)
        with pytest.raises(errors.StoreError, match="went away"):
            study.forget(trial) if verb == "forget" else study.tell(trial, 0.5)
        assert study.ask().id == 1
        assert study.verify() == 3
