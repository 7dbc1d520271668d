"""A study does exactly what the tuner alone would have done, whoever holds it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.studies import session
from studies.small import alone, sharing
from studies.small import prices as fresh


def moves(first: int = 0) -> Iterator[tuple[str, Any]]:
    """Rounds with late answers and forgotten trials, the same for everyone."""
    for t in range(first, first + 24, 4):
        yield from (("ask", ()) for _ in range(4))
        for trial in (t + 2, t, t + 3):
            yield "tell", (trial, float(20 + 18 * np.sin(1.7 * trial)))
        if (t - first) % 8:
            yield "forget", (t + 1,)


def move(player: Any, kind: str, given: Any) -> Any:
    found = getattr(player, kind)(*given)
    return found if kind == "ask" else None


def test_two_clients_are_one_tuner(url: str) -> None:
    twin = alone(fresh())
    clients = itertools.cycle([dikin.Study(url, "a", fresh()), dikin.Study(url, "a")])
    for step in moves():
        assert move(next(clients), *step) == move(twin, *step)
    one, two = next(clients), next(clients)
    assert one.state() == two.state() == twin.state()
    assert [query.id for query in one.open_queries] == [query.id for query in twin.open_queries]
    assert one.rounds == twin.rounds
    assert np.array_equal(two.center, twin.center)
    one.close()
    two.close()


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


def test_trimming_does_not_touch_the_tuner(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 11)
    twin = alone(fresh())
    with dikin.Study(url, "a", fresh()) as study, dikin.Study(url, "a") as other:
        late = study.ask()
        twin.ask()
        for t, step in enumerate(moves(first=1)):
            assert move(study, *step) == move(twin, *step)
            if t in (20, 35):
                before, kept = study.state(), study.history(first=t // 3)
                assert study.trim(t // 3) > 0
                assert study.trim(t // 3) == 0
                assert study.history()["round"][0] == t // 3
                assert np.array_equal(study.history()["price"], kept["price"])
                assert study.state() == other.state() == before
                assert study.verify() < t
        assert late.id in [query.id for query in study.open_queries]
        assert next(q for q in study.open_queries if q.id == 0).client == study.client
        other.tell(late, 4.0)
        twin.tell(0, 4.0)
        assert np.array_equal(other.history()["price"][-1], late.point[0])
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


def test_events_that_wait_are_written_together(url: str) -> None:
    twin = alone(fresh())
    with (
        sharing(url, "a", fresh(), seconds=0.4) as study,
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
        study._flush()  # the other gets its turn
        other.tell(5, 2.0)
        twin.tell(5, 2.0)
        assert study.state() == twin.state()
        assert study.verify() == 12
