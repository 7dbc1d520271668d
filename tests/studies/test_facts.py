"""A study is what its rows make of its tuner: for every client, after any restart."""

import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.studies import ledger
from dikin.studies.database import Row
from dikin.studies.ledger import SLACK, Ledger
from dikin.tuning.space import Space
from studies.small import alone, folded, prices, rows_of, state_of, step

PARAMETERS = {"price": dikin.Real(1, 14, start=4), "level": dikin.Integer(1, 9)}
CODEC = {"codec": dikin.Choice(["lz4", "zstd"], start="lz4")}
CONTEXT = {"region": ["eu", "us"], "hour": dikin.Cycle(24), "load": (0, 1)}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "contexts": {"context": CONTEXT},
    "covariates": {"covariates": {"queue": float, "hour": dikin.Cycle(24)}},
    "held back": {"holdback": 0.3, "guard": 0.5, "maximize": True},
    "limits": {"limits": ["p99_ms <= 200", "failed <= 0.3"], "parameters": PARAMETERS | CODEC},
    "certified": {
        "parameters": {"price": PARAMETERS["price"], "ads": dikin.Real(0, 60)},
        "value_range": (0, 9), "smoothness": 9.0,
    },
}  # fmt: skip


def made(kind: str) -> dikin.Tuner:
    return dikin.Tuner(**{"parameters": PARAMETERS, "seed": 3} | KINDS[kind])


def play(player: Any, t: int, waiting: list[Any], kind: str) -> Any:
    """Ask, and answer another trial: late, never, or as a failure; pause for a while."""
    known: dict[str, Any] = {}
    if kind == "contexts":
        known["context"] = {"region": ("eu", "us")[t % 2], "load": (t % 5) / 4, "hour": 5 * t % 24}
    if t % 5 and kind in ("contexts", "covariates"):
        known["covariates"] = {"queue": t % 3}
    if t in (12, 17):
        (player.pause if t == 12 else player.resume)()
    trial = player.ask(**known)
    waiting.append(trial.id)
    if len(waiting) > 3:
        old, value = waiting.pop(t % 3), 2.0 + (7.0 * t) % 5
        if t % 11 == 0:
            player.forget(old)
        elif t % 7 == 0:
            player.tell(old, failed=True)
        else:
            late = {"kind": "ab"[t % 2]} if kind == "covariates" and t > 9 else None
            player.tell(old, value, metrics={"p99_ms": 150.0 + t}, covariates=late)
    return trial


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_does_what_the_tuner_alone_would_do(
    url: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened anew for every ask, with another client beside it, snapshots and trials open."""
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 7)
    monkeypatch.setattr(Ledger, "exact", True)  # they draw by the numbers of rows alone
    twin, other = alone(made(kind)), dikin.Study(url, "a", made(kind))
    waiting: list[list[Any]] = [[], []]
    for t in range(30):
        with dikin.Study(url, "a", made(kind)) as study:
            ours = play(other if t % 3 == 0 else study, t, waiting[0], kind)
            theirs = play(twin, t, waiting[1], kind)
            assert ours == theirs
            for part in ("expected", "paused", "covariates", "context", "held_back"):
                assert repr(getattr(ours, part)) == repr(getattr(theirs, part))
            assert state_of(study) == state_of(other) == state_of(twin)
    found = other.verify()
    assert (found.rows, found.compared) == (len(rows_of(url)), 30)
    assert found.largest == 0.0
    assert state_of(folded(url)) == state_of(twin)
    mine, table = other.history(), twin.history()
    for name in table.dtype.names or ():
        if not name.startswith("best."):
            np.testing.assert_array_equal(mine[name], table[name])
    assert other.certificate == pytest.approx(twin.certificate, nan_ok=True)
    assert str(other.status().uplift) == str(twin.summary().uplift)
    assert other.status().failed == twin.summary().failed > 0
    before = other.history(9)
    assert other.trim(9) > 0
    assert other.trim(9) == 0
    assert state_of(folded(url)) == state_of(other) == state_of(twin)
    assert repr(other.history()) == repr(before)
    assert other.first_round == 9
    other.close()


@pytest.mark.parametrize("kind", KINDS)
def test_clients_that_ask_at_once_agree(url: str, kind: str) -> None:
    """Each asks from what it knows; nobody waits, nobody draws what another has drawn."""
    with dikin.Study(url, "a", made(kind)) as first, dikin.Study(url, "a") as second:
        waiting: list[list[Any]] = [[], []]
        for t in range(30):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(Ledger, "exact", t % 2 == 0)
                for player, own in zip((first, second), waiting, strict=True):
                    play(player, t, own, kind)
        assert state_of(first) == state_of(second) == state_of(folded(url))
        assert first.verify().largest == 0.0
        tuned = [json.loads(row.body) for row in rows_of(url) if row.kind == "ask"]
        tuned = [body for body in tuned if not (body["paused"] or body["held_back"])]
        if kind != "limits":  # a choice has few settings
            numbers = [body["play"] or body["point"] for body in tuned]
            assert len({json.dumps(each) for each in numbers}) == len(numbers)


def test_an_ask_is_a_few_rows_old_at_most(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with dikin.Study(url, "a", prices()) as study, dikin.Study(url, "a") as other:
        trials = [study.ask() for _ in range(60)]
        append, reads = Ledger.append, list[int]()

        def overtaken(mine: Ledger, *given: Any, **named: Any) -> Any:
            if mine is study._ledger and not mine.database.inside:
                with monkeypatch.context() as patched:
                    patched.setattr(Ledger, "append", append)
                    for _ in range(late):
                        other.tell(trials.pop(), 3.0)
            if mine is study._ledger:
                reads.append(mine.fold.n)
            return append(mine, *given, **named)

        for late, tries in ((SLACK, 1), (SLACK + 1, 2), (0, 1)):
            for _ in range(2):  # others write, and are no crowd
                step(other)
                assert study.rounds
            step(other)
            reads.clear()
            with monkeypatch.context() as overtaking:
                overtaking.setattr(Ledger, "append", overtaken)
                study.ask()
            asked = [row for row in rows_of(url) if row.kind == "ask"][-1]
            behind = asked.n - 1 - json.loads(asked.body).get("after", asked.n - 1)
            assert (behind, len(reads)) == ((late, 1) if tries == 1 else (0, 2))
        assert state_of(study) == state_of(other) == state_of(folded(url))


def test_a_row_is_learnt_once_whoever_wrote_it_and_however_late(url: str) -> None:
    """The client that was overtaken reads its own row where it stands."""
    with dikin.Study(url, "a", prices()) as study, dikin.Study(url, "a") as other:
        mine = study.ask()
        theirs = other.ask()
        other.tell(theirs, 9.0)
        study.tell(mine, 3.0)  # without reading what the other has written
        assert study._ledger.fold.rounds == 0
        assert study.rounds == other.rounds == 2
        assert [row.ask for row in rows_of(url) if row.kind == "tell"] == [theirs.id, mine.id]
        assert state_of(study) == state_of(other) == state_of(folded(url))


@pytest.mark.parametrize("far", [1e-13, 0.01], ids=["digits", "another version"])
def test_clients_that_compute_otherwise_share_a_study(
    file: str, far: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorded settings are those that were used; nobody is locked out."""
    values = Space.values

    def others(self: Space, x: Any, picks: Any) -> Any:
        return values(self, np.asarray(x) * (1.0 - far), picks)

    with dikin.Study(file, "a", prices()) as study, dikin.Study(file, "a") as other:
        for t in range(40):
            with monkeypatch.context() as patched:
                if t % 2:
                    patched.setattr(Space, "values", others)
                step((study, other)[t % 2], 3.0 + t % 3)
        recorded = [json.loads(row.body)["point"] for row in rows_of(file) if row.kind == "ask"]
        found, kept = study.verify(), study._ledger.fold.tuner._history
        assert [list(map(float, row.point)) for row in kept] == recorded
        assert (found.rows, study.rounds, other.rounds) == (80, 40, 40)
        assert 0.0 < found.largest < 2 * far
        assert (found.differences > 10) == (far > 1e-9)
        assert ("differ by up to" in str(found)) == (far > 1e-9)


def test_a_snapshot_or_a_version_that_is_gone_is_made_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 5)
    with dikin.Study(url, "a", prices()) as study:
        for _ in range(12):
            step(study)
        state, database = state_of(study), study._ledger.database
        ((n,),) = database.run("SELECT max(n) FROM dikin_snapshot")
        assert n > 15
        for change in ("SET state = 'x'", "SET version = version + 1", ""):
            what = f"UPDATE dikin_snapshot {change}" if change else "DELETE FROM dikin_snapshot"
            database.run(f"{what} WHERE version > 0")
            with dikin.Study(url, "a") as again:
                assert state_of(again) == state


def test_a_client_that_is_far_behind_reads_a_snapshot(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dikin.Study(file, "a", prices()) as study, dikin.Study(file, "a") as other:
        for _ in range(3):
            step(other)
        applied = list[int]()
        for _ in range(30):
            step(study)
        ours = study._ledger
        ours.log.save_snapshot(ours.fold.snapshot())
        step(study)
        apply = type(ours.fold).apply

        def counted(fold: Any, row: Any) -> None:
            applied.append(row.n)
            apply(fold, row)

        monkeypatch.setattr(type(ours.fold), "apply", counted)
        assert other.rounds == 34
        assert len(applied) == 2
        assert state_of(other) == state_of(study)


def test_what_only_a_change_needs_is_read_from_rows(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot has few rounds; a new covariate and new parameters learn all of them anew."""
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 10)
    monkeypatch.setattr("dikin.studies.fold.KEPT_IN_SNAPSHOT", 3)
    with dikin.Study(url, "a", prices()) as study:
        for t in range(20):
            study.tell(study.ask(), 9.0 + t % 4)
        with dikin.Study(url, "a") as late:
            assert late._ledger.fold.tuner.kept_rounds < 10
            assert state_of(late) == state_of(study) == state_of(folded(url))
        with dikin.Study(url, "a") as late:
            late.tell(late.ask(), 9.0, covariates={"load": 3.0})
            late.add_trial({"price": 5.0, "ads": 1.0}, 2.0)
            late.set_parameters({"price": dikin.Real(0, 20, start=5), "staff": dikin.Integer(1, 5)})
            for _ in range(3):
                step(late, 4.0)
            assert state_of(late) == state_of(study) == state_of(folded(url))
            table = study.history()
            told = [json.loads(row.body)["point"] for row in rows_of(url) if row.kind == "tell"]
            assert table["price"].tolist() == [point[0] for point in told]
            assert set(table["staff"][:21]) == {3}  # where the new parameter starts
            assert study.rounds == len(table) == 24
            assert study.space.columns == ("price", "staff")
            assert study.trim(23) > 0
            assert state_of(folded(url)) == state_of(late)


def test_a_trial_that_parameters_have_closed_is_refused(url: str) -> None:
    with dikin.Study(url, "a", prices()) as study, dikin.Study(url, "a") as other:
        trial = study.ask()
        other.set_parameters({"price": dikin.Real(0, 20, start=5)})
        with pytest.raises(errors.ClosedQueryError):
            study.tell(trial, 3.0)
        assert study.ask().params.keys() == {"price"}
        before = state_of(study)
        with pytest.raises(errors.ParameterError):
            study.set_parameters({"price": dikin.Real(9, 2)})
        with pytest.raises(errors.ParameterError, match="no parameter 'ads'"):
            study.add_trial({"price": 3.0, "ads": 2}, 1.0)
        assert state_of(study) == before == state_of(folded(url))


def test_two_clients_that_know_a_name_as_different_things(url: str) -> None:
    """Neither could know: the second row teaches nothing, and the study goes on."""
    with dikin.Study(url, "a", prices()) as study, dikin.Study(url, "a") as other:
        one, two = study.ask(), other.ask()
        study.tell(one, 3.0, covariates={"load": 3.0})
        other.tell(two, 3.0, covariates={"load": "high"})
        assert study.rounds == other.rounds == 2
        step(study)
        assert state_of(study) == state_of(other) == state_of(folded(url))
        assert len(study.history()) == 3


def test_a_row_of_a_later_version_stops_this_one_with_words(file: str) -> None:
    with dikin.Study(file, "a", prices()) as study, dikin.Study(file, "a") as other:
        step(study)
        study._ledger.database.append(study._ledger.log.study, [Row("merge", "{}")], 0)
        with pytest.raises(errors.StateError, match=r"'merge', which this dikin does not know"):
            other.ask()


def test_threads_share_a_study(file: str) -> None:
    with dikin.Study(file, "a", prices()) as shared:

        def run(study: dikin.Study) -> None:
            for _ in range(15):
                step(study, 9.0)

        own = [dikin.Study(file, "a", patience=30.0) for _ in range(2)]
        threads = [threading.Thread(target=run, args=(s,)) for s in (shared, shared, *own)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert shared.rounds == 60
        assert shared.verify().rows == 120
        assert state_of(shared) == state_of(folded(file))
        for study in own:
            study.close()


def back(url: str, study: dikin.Study, rows: int) -> None:
    """The database is as it was some rows ago."""
    last = rows_of(url)[-rows - 1]
    database = study._ledger.database
    database.run("DELETE FROM dikin_row WHERE n > ?", (last.n,))
    database.run("UPDATE dikin_study SET head = ?, seal = ?", (last.n, last.seal))


@pytest.mark.parametrize("goes_on", [False, True], ids=["", "others go on"])
def test_a_database_that_has_lost_rows_is_noticed_and_gives_no_id_again(
    url: str, goes_on: bool
) -> None:
    with dikin.Study(url, "a", prices()) as study:
        for _ in range(4):
            step(study)
        lost = study.ask()
        back(url, study, 3)
        if goes_on:
            with dikin.Study(url, "a") as other:
                for _ in range(4):
                    step(other)
        with pytest.raises(errors.StateError, match=r"has gone back from row 8 to row"):
            _ = study.rounds
        rounds = study.rounds
        assert rounds == (7 if goes_on else 3)
        assert study.ask().id > lost.id
        with pytest.raises(errors.QueryError):
            study.tell(lost, 3.0)
        assert state_of(study) == state_of(folded(url))


def test_a_damaged_study_is_read_up_to_its_last_intact_row(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dikin.Study(url, "a", prices()) as study:
        for _ in range(6):
            step(study)
        late = study.ask()
        study._ledger.database.run("UPDATE dikin_row SET who = 'x' WHERE n = 7")
    with dikin.Study(url, "a") as study:
        assert (study.rounds, len(study.records(1, 3))) == (3, 3)
        assert study.best
        words = "Rows up to 6 are intact and can be read.*dikin study rewind a"
        acts: list[Callable[[], Any]] = [
            study.ask, lambda: study.forget(6), study.pause, study.verify,
            lambda: study.add_trial({"price": 5.0, "ads": 1.0}, 2.0),
        ]  # fmt: skip
        for act in acts:
            with pytest.raises(errors.StateError, match=words):
                act()
    assert dikin.Study.rewind(url, "a") == 6
    assert dikin.Study.rewind(url, "a") == 0
    with dikin.Study(url, "a") as study:
        assert study.rounds == 3
        assert study.ask().id > late.id
        assert state_of(study) == state_of(folded(url))
