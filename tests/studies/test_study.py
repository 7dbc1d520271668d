"""A study plays exactly what the learner alone would have played, whoever holds it."""

from __future__ import annotations

import contextlib
import itertools
import threading
import warnings
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from math import isnan
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors, registry
from dikin.checks.learner import answer_at
from dikin.domains.base import Geometry
from dikin.feedback import Feedback
from dikin.learners.base import LEARNERS, Learner
from dikin.studies import session
from dikin.studies.rows import Answer
from studies.small import prices as fresh


def moves(learner: Learner, first: int = 0) -> Iterator[tuple[str, Any]]:
    """A game with late answers and forgotten queries, the same for everyone who plays it."""
    context = learner.domain.outward(np.linspace(1, 2, learner.domain.dim))
    seen = (context,) if learner.feedback is Feedback.CONTEXT else ()
    for t in range(first, first + 24, 4):
        yield from (("ask", seen) for _ in range(4))
        for late, query in enumerate((t + 2, t, t + 3)):
            answer = answer_at(learner, float(0.9 * np.sin(1.7 * query)))
            # Read now: a learner that finds the range itself learns it on the way.
            most = learner.curvature_limit[0]
            yield "tell", (query, answer, most * (0.9 if late == 1 else 0))
        if (t - first) % 8:
            yield "forget", (t + 1,)


def move(player: Any, kind: str, given: Any) -> Any:
    return getattr(player, kind)(*given)


class Contextual(dikin.AdaptiveSmooth):
    """A learner of which every ask depends on what it is given."""

    def ask(self, context: Any = None) -> dikin.Query:
        for _ in range(int(sum(context))):
            self._noise.draw()
        return super().ask()


def test_a_context_is_replayed(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEARNERS, "classes", {**LEARNERS.classes})
    dikin.register(Contextual)
    twin = Contextual(dikin.Ball(2), 1.0, seed=3)
    dikin.Study(file, "a", twin).close()
    for context in ([1, 2.0], np.array([2, 1]), (0.0, 5.0)):
        with dikin.Study(file, "a") as study:
            assert study.ask(context) == twin.ask(context)
            assert study.open_queries[-1].point.tolist() == twin.open_queries[-1].point.tolist()
            study.tell(study.open_queries[-1], 0.5)
            twin.tell(twin.open_queries[-1].id, 0.5)
            assert study.state() == twin.state()
            assert len(study.history()) == study.rounds


@cache
def places(kind: str) -> list[Any]:
    """Three domains, or those of them that a learner takes, or a line."""
    found = []
    for domain in (dikin.Ball(2), dikin.Simplex(3), dikin.Spectrahedron(2)):
        with contextlib.suppress(errors.DomainError):
            next(registry.learners()[kind].examples(domain, 3))
            found.append(domain)
    return found or [dikin.Box([2], [2.5])]


@pytest.mark.parametrize(
    ("kind", "domain"),
    [(kind, domain) for kind in sorted(registry.learners()) for domain in places(kind)],
    ids=str,
)
def test_every_learner_goes_on_where_it_was(
    file: str, kind: str, domain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By two clients in turn, one of them opened anew each time, with snapshots all the time.

    All examples on the first domain, one on the others: that a state is restored exactly is a law,
    which every example keeps on every domain.
    """
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 7)
    examples = registry.learners()[kind].examples(domain, 3)
    several = domain is places(kind)[0]
    for place, twin in enumerate(examples if several else itertools.islice(examples, 1)):
        name = f"{place}"
        other = study = dikin.Study(file, name, twin)
        for turn, step in enumerate(moves(twin)):
            if turn % 4 == 1:
                study = dikin.Study(file, name)
            mine, alone = move(other if turn % 4 == 0 else study, *step), move(twin, *step)
            assert mine == alone
            if turn % 4 == 3:
                study.close()
        study.close()
        assert other.state() == twin.state()
        assert other.verify() == sum(1 for _ in moves(twin))
        other.close()


def test_a_range_that_is_found_on_the_way(file: str, caplog: pytest.LogCaptureFixture) -> None:
    """A loss outside the range restarts the learner; a replay does so again, silently."""
    caplog.set_level("INFO", "dikin")
    twin = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=None, seed=3)
    with dikin.Study(file, "a", twin) as study:
        for loss in (0.5, 7.0, -40.0, 3.0):
            study.tell(study.ask(), loss)
            twin.tell(twin.ask(), loss)
        assert study.state() == twin.state()
    heard = len(caplog.records)
    assert heard > 1
    with dikin.Study(file, "a") as study:
        assert study.state() == twin.state()
        assert study.ask() == twin.ask()
        assert study.verify() == 9
    assert len(caplog.records) == heard


def test_two_clients_are_one_learner(url: str) -> None:
    twin = fresh()
    clients = itertools.cycle([dikin.Study(url, "a", twin), dikin.Study(url, "a")])
    for step in moves(twin):
        assert move(next(clients), *step) == move(twin, *step)
    one, two = next(clients), next(clients)
    assert one.state() == two.state() == twin.state()
    assert [query.id for query in one.open_queries] == [query.id for query in twin.open_queries]
    assert one.rounds == twin.rounds
    assert np.array_equal(two.center, twin.center)
    one.close()
    two.close()


def test_an_answer_counts_once(url: str) -> None:
    with dikin.Study(url, "a", fresh()) as study, dikin.Study(url, "a") as other:
        query = study.ask()
        study.tell(query, 12.5, 0.25)
        before = study.state()
        for again in (study, other):
            again.tell(query, 12.5, 0.25)
            again.tell(query.id, 12.5, 0.25)
            again.tell(np.int64(query.id), np.float64(12.5), 0.25)
            with pytest.raises(
                errors.AnsweredError, match=r"answered with loss 12\.5 .* got 13\.0"
            ):
                again.tell(query, 13, 0.25)
            with pytest.raises(errors.AnsweredError, match=r"got 12\.5 and 0\.0"):
                again.tell(query, 12.5)
            with pytest.raises(errors.QueryError, match="another study"):
                again.tell(dikin.Query(query.id, query.point + 1), 12.5, 0.25)
            with pytest.raises(errors.ClosedQueryError):
                again.forget(query)
        assert (study.rounds, study.verify(), other.state()) == (1, 2, before)


@pytest.mark.parametrize(
    ("loss", "curvature", "error"),
    [
        (float("nan"), 0.0, errors.LossError),
        (41.0, 0.0, errors.LossRangeError),
        ("12", 0.0, errors.LossError),
        (10**400, 0.0, errors.LossError),
        (None, 0.0, errors.LossError),
        (1.0, -1.0, errors.CurvatureError),
        (1.0, 9.0, errors.CurvatureError),
    ],
)
def test_a_refused_answer_changes_nothing(
    file: str, loss: Any, curvature: float, error: type[Exception]
) -> None:
    with dikin.Study(file, "a", fresh()) as study:
        query, before = study.ask(), study.state()
        with pytest.raises(error):
            study.tell(query, loss, curvature)
        assert (study.state(), study.verify()) == (before, 1)
        study.tell(query, 3.0)


@pytest.mark.parametrize("key", [7, -1, 2**70, True, "0", None, [0], 0.0])
def test_no_such_query(file: str, key: Any) -> None:
    with dikin.Study(file, "a", fresh()) as study:
        study.ask()
        with pytest.raises(errors.UnknownQueryError):
            study.tell(key, 1.0)
        with pytest.raises(errors.UnknownQueryError):
            study.forget(key)
        assert study.verify() == 1


def test_what_the_dead_left_open(url: str) -> None:
    with dikin.Study(url, "a", fresh(), client="worker 3") as dead:
        given = [dead.ask() for _ in range(3)]
    with dikin.Study(url, "a", client="heir") as heir:
        left = heir.open_queries
        assert [(query.id, query.client) for query in left] == [(i, "worker 3") for i in range(3)]
        assert all(np.array_equal(a.point, b.point) for a, b in zip(left, given, strict=True))
        heir.tell(left[1], 5.0)
        heir.forget(left[0])
        heir.forget(left[0])
        heir.forget(2)
        assert heir.open_queries == []
        with pytest.raises(errors.ClosedQueryError):
            heir.tell(left[0], 5.0)


def test_the_history_is_a_table(url: str) -> None:
    twin = fresh()
    with dikin.Study(url, "a", twin) as study:
        assert len(study.history()) == 0
        rows = []
        for t in range(6):
            query = study.ask()
            twin.ask()
            study.tell(query, 7.0 + t, 0.1 * (t % 2))
            twin.tell(query.id, 7.0 + t, 0.1 * (t % 2))
            rows.append((t + 1, query.point, 7.0 + t, 0.1 * (t % 2), twin.center, twin.certificate))
        table = study.history()
        columns = ("round", "point", "loss", "curvature", "center", "certificate")
        assert table.dtype.names == columns
        for name, column in zip(columns, zip(*rows, strict=True), strict=True):
            assert np.array_equal(table[name], np.array(column))
        assert study.history(2, 4)["round"].tolist() == [2, 3, 4]


def test_trimming_does_not_touch_the_learner(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 11)
    twin = fresh()
    with dikin.Study(url, "a", twin) as study, dikin.Study(url, "a") as other:
        late = study.ask()
        twin.ask()
        for t, step in enumerate(moves(twin, first=1)):
            assert move(study, *step) == move(twin, *step)
            if t in (20, 35):
                before, kept = study.state(), study.history(first=t // 3)
                assert study.trim(t // 3) > 0
                assert study.trim(t // 3) == 0
                assert study.history()["round"][0] == t // 3
                assert np.array_equal(study.history()["point"], kept["point"])
                assert study.state() == other.state() == before
                assert study.verify() < t
        assert late.id in [query.id for query in study.open_queries]
        assert next(q for q in study.open_queries if q.id == 0).client == study.client
        other.tell(late, 4.0)
        twin.tell(0, 4.0)
        assert np.array_equal(other.history()["point"][-1], late.point)
        assert study.state() == twin.state()
    with dikin.Study(url, "a") as study:
        assert study.state() == twin.state()
        study.trim(10**9)
        assert len(study.history()) == 0
        assert study.ask() == twin.ask()


# --- threads, warnings, groups --------------------------------------------------------------------


def test_threads_share_a_study(file: str) -> None:
    with dikin.Study(file, "a", fresh()) as shared:

        def play(study: dikin.Study) -> None:
            for _ in range(15):
                study.tell(study.ask(), 9.0)

        own = [dikin.Study(file, "a") for _ in range(2)]
        threads = [threading.Thread(target=play, args=(s,)) for s in (shared, shared, *own)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert shared.rounds == 60
        assert shared.verify() == 120
        for study in own:
            study.close()


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a centre nothing is known but where it starts."""
    monkeypatch.setattr(Geometry, "converged", lambda self, place: not self.vector(place).any())


@pytest.mark.usefixtures("unsettled")
def test_who_voids_the_certificate_hears_of_it_once(file: str) -> None:
    with dikin.Study(file, "a", fresh()) as study, dikin.Study(file, "a") as other:
        with pytest.warns(errors.CertificateWarning):
            study.tell(study.ask(), 3.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert isnan(other.certificate)
            study.tell(study.ask(), 3.0)
            with dikin.Study(file, "a") as third:
                assert isnan(third.certificate)
                assert isnan(third.history()["certificate"][-1])


@pytest.mark.usefixtures("unsettled")
def test_a_warning_made_an_error_changes_nothing(file: str) -> None:
    with dikin.Study(file, "a", fresh()) as study:
        query = study.ask()
        before = study.state()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(errors.CertificateWarning):
                study.tell(query, 3.0)
        assert study.state() == before


def test_events_that_wait_are_written_together(url: str) -> None:
    twin = fresh()
    with (
        dikin.Study(url, "a", twin, commit_within=0.4) as study,
        dikin.Study(url, "a", patience=60.0) as other,
    ):
        for _ in range(5):
            query = study.ask()
            assert query == twin.ask()
            study.tell(query, 3.0)
            study.tell(query, 3.0)
            twin.tell(query, 3.0)
        assert study.state() == twin.state()
        assert len(study.history()) == 5
        assert other.state() == twin.state()
        study.ask()
        twin.ask()
        # Nobody calls again: the study does it by itself, and the other gets its turn.
        other.tell(5, 2.0)
        twin.tell(5, 2.0)
        assert study.state() == twin.state()
        assert study.verify() == 12


def test_an_answer_of_another_shape_is_read_as_it_was_told() -> None:
    """A pair, or a loss with its gradient: what is learnt live is what a replay reads."""
    import json

    from dikin import serialization

    told = Answer.of((Decimal("0.1"), np.array([1.0, -0.0])), np.float32(0.5))
    read = json.loads(f"{{{told.text('loss')}}}")
    loss = serialization.decode(read["loss"])
    assert loss[0] == told.loss[0] == 0.1
    assert np.array_equal(loss[1], told.loss[1])
    assert read["curvature"] == told.curvature == 0.5
    assert Answer.of([1, 2], 0).loss == (1.0, 2.0)
    # A learner takes an array of no dimension for a number, and a row must keep it as one.
    single = Answer.of(np.array(0.1), np.array(0.5))
    text = '"loss": 0.1, "curvature": 0.5'
    assert single.text("loss") == Answer.of(0.1, 0.5).text("loss") == text


def test_constants_of_one_loss_are_kept(file: str) -> None:
    """Told, replayed, repeated: a row has them only where they were told."""
    twin = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=3)
    with dikin.Study(file, "told", dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=3)) as study:
        for share in (None, 0.25, np.float32(0.5)):
            query, _ = study.ask(), twin.ask()
            study.tell(query, 0.5, 0.125, smoothness=share)
            twin.tell(query.id, 0.5, 0.125, smoothness=share)
        study.tell(1, 0.5, 0.125, smoothness=0.25)
        with pytest.raises(errors.AnsweredError, match=r"smoothness 0\.5"):
            study.tell(1, 0.5, 0.125, smoothness=0.5)
        query = study.ask()
        with pytest.raises(errors.CurvatureError, match="none was declared"):
            study.tell(query, 0.5, lipschitz=0.5)
        twin.ask()
    with dikin.Study(file, "told") as study:
        assert study.state() == twin.state()
        assert study.verify() == 7
    assert Answer.of(0.1, 0.0).text("loss") == '"loss": 0.1, "curvature": 0.0'
    text = '"loss": 0.1, "curvature": 0.0, "smoothness": 0.25, "lipschitz": 2.0'
    assert Answer.of(0.1, 0.0, None, None, 0.25, 2).text("loss") == text


def test_a_tuner_refuses_constants(file: str) -> None:
    with dikin.Study(file, "shop", dikin.Tuner({"price": dikin.Real(1, 9)}, seed=1)) as study:
        trial = study.ask()
        with pytest.raises(errors.CurvatureError, match="a tuner knows no smoothness"):
            study.tell(trial, 1.0, smoothness=0.5)
        study.tell(trial, 1.0)
