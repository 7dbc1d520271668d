"""A study does exactly what the tuner alone would have done, whoever holds it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.studies import session
from studies.small import prices as fresh
from studies.small import sharing


def play(player: Any, t: int) -> Any:
    """A round, of which some are forgotten."""
    trial = player.ask()
    if t % 4:
        player.tell(trial.id, float(20 + 18 * np.sin(1.7 * t)), 0.5 * (t % 4 == 1))
    else:
        player.forget(trial.id)
    return trial


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
    twin = fresh()
    with dikin.Study(url, "a", twin) as study, dikin.Study(url, "a") as other:
        late = study.ask()
        twin.ask()
        for t in range(40):
            assert play(study, t) == play(twin, t)
            if t in (20, 35):
                before, kept = study.state(), study.history(first=t // 3)
                assert study.trim(t // 3) > 0
                assert study.trim(t // 3) == 0
                assert study.history()["round"][0] == t // 3
                assert np.array_equal(study.history()["price"], kept["price"])
                assert study.state() == other.state() == before
                assert study.verify() < 2 * t
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
    twin = fresh()
    with (
        sharing(url, "a", twin, seconds=0.4) as study,
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
