"""The service ends, dies and loses its database: what it acknowledged is kept, and counted once."""

import os
import signal
import sqlite3
import threading
import time

import pytest

import dikin
from dikin import errors
from dikin.service import limits
from in_memory import in_memory
from service import adversity, crowd
from service.proxy import Proxy
from service.serving import QUICK, FreshServing, Serving, shop
from studies.postgres import Server


def test_an_end_finishes_what_was_begun(file: str) -> None:
    shop(file).close()
    end = threading.Event()
    with FreshServing(file) as running:
        clients = crowd.start(8, running.url, "shop", 0.3, end)
        crowd.wait_for_rounds(clients, 40)
        assert running.stop() == -signal.SIGTERM  # after its own end, as uvicorn does
        end.set()
        account = crowd.together(clients)
        assert "Application shutdown complete" in running.logged()
        assert "Traceback" not in running.logged()
    assert crowd.faults(file, "shop", account) == crowd.NOTHING


def test_two_services_behind_a_proxy_one_of_them_killed(server: Server) -> None:
    store = f"{server.url}&options=-csearch_path%3Dpublic"
    shop(store, "pair").close()
    end = threading.Event()
    with Serving(store) as one, Serving(store) as two, Proxy(one.port, two.port) as proxy:
        clients = crowd.start(8, proxy.url, "pair", 600.0, end)
        while min(len(each.logged().splitlines()) for each in (one, two)) <= 10:
            crowd.wait_for_rounds(clients, 1)  # until both had work
        one.kill()
        crowd.wait_for_rounds(clients, 20)
        end.set()
        account = crowd.together(clients)
    assert account.refused == []
    assert crowd.faults(store, "pair", account) == crowd.NOTHING
    dikin.Study.delete(store, "pair")


def test_a_database_that_is_away() -> None:
    with Server(place=in_memory()) as away:
        shop(away.url).close()
        with Serving(away.url, "--patience", "0.1") as running:
            with dikin.Study(running.url, "shop", patience=0.05) as study:
                trial = study.ask()
                away.crash()
                # A process of the server may live long enough to take the row, not its commit.
                lost = "the store is unavailable|may be lost"
                with pytest.raises(errors.StoreError, match=lost):
                    study.tell(trial, 1.0)
                answer = running.send("POST", "/v1/studies/shop/ask")
                assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
                assert running.problem("GET", "/readyz")[:2] == (503, "store")
                assert running.send("GET", "/healthz").status == 200
                away.start()
                while running.send("GET", "/readyz").status != 200:
                    time.sleep(0.05)  # as soon as the server is back
            with dikin.Study(running.url, "shop", patience=60.0) as patient:
                patient.tell(trial, 1.0)
                assert patient.rounds == 1
            metrics = running.send("GET", "/metrics").content.decode()
            assert 'status="503"} ' in metrics


def test_a_database_that_is_busy(file: str) -> None:
    shop(file).close()
    with Serving(file, "--patience", "0.2") as running:
        running.send("GET", "/v1/studies/shop")
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answer = running.send("POST", "/v1/studies/shop/ask")
        assert (answer.status, answer.content["code"]) == (503, "busy")
        assert answer.headers["Retry-After"] == "1"
        assert running.send("GET", "/v1/studies/shop").status == 200  # a look waits for nobody
        other.execute("ROLLBACK")
        other.close()
        assert running.send("POST", "/v1/studies/shop/ask").content["id"] == 0


def test_a_damaged_study_is_told_and_others_go_on(file: str) -> None:
    shop(file, "broken", rounds=3).close()
    shop(file, "whole", rounds=3).close()
    with sqlite3.connect(file) as database:
        database.execute(
            "UPDATE dikin_row SET body = replace(body, '4', '5') WHERE study = 1 AND n = 3"
        )
    database.close()
    with Serving(file) as running:
        status, code, detail = running.problem("POST", "/v1/studies/broken/ask")
        assert (status, code) == (500, "damage")
        assert "dikin study rewind broken" in detail
        assert file not in detail
        broken, sound = running.send("GET", "/v1/studies").content["studies"]
        assert broken["rounds"] < sound["rounds"] == 3  # up to the last row that is intact
        assert running.send("POST", "/v1/studies/whole/ask").status == 200


def test_a_file_that_is_replaced_under_the_service(file: str) -> None:
    """One request is refused; the next finds the study of the new file, and plays it."""
    shop(file, rounds=5).close()
    shop(f"{file}.backup", rounds=2).close()
    with Serving(file) as running:
        asked = running.send("POST", "/v1/studies/shop/ask").content["id"]
        for ending in ("-wal", "-shm"):
            os.unlink(f"{file}{ending}")
        os.replace(f"{file}.backup", file)
        status, code, detail = running.problem("POST", "/v1/studies/shop/ask")
        assert (status, code) == (503, "replaced_file")
        assert "is another file now" in detail
        assert running.send("GET", "/v1/studies/shop").content["rounds"] == 2
        lost = {"id": asked + 99, "value": 1.0}
        assert running.send("POST", "/v1/studies/shop/tell", lost).status == 404
        for _ in range(3):
            told = {"id": running.send("POST", "/v1/studies/shop/ask").content["id"], "value": 1.0}
            assert running.send("POST", "/v1/studies/shop/tell", told).status == 200
    with dikin.Study(file, "shop") as study:
        assert study.rounds == 5


def test_silent_connections() -> None:
    assert adversity.silent_connections(300).rounds >= adversity.ROUNDS


def test_enormous_requests() -> None:
    assert 0.98 < len(adversity.ENORMOUS) / limits.LARGEST_REQUEST < 1.0
    assert adversity.enormous_requests(4).rounds > 0


def test_a_service_that_loses_answers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: every fifth answer is acknowledged and not written."""
    loses = """
from functools import wraps
from dikin.studies.study import Study
tell = Study.tell
@wraps(tell)
def loses(self, query, *given, **named):
    if getattr(query, "id", query) % 5:
        tell(self, query, *given, **named)
Study.tell = loses
"""
    monkeypatch.setattr(Serving, "program", loses + QUICK)
    with pytest.raises(AssertionError, match=r"'lost': [1-9]"):
        adversity.enormous_requests(2)
