"""Nobody waits for ever: neither for a study whose database is frozen, nor for a silent service."""

import signal
import socket
import time

import pytest

import dikin
from dikin import errors
from dikin.studies import remote
from service.proxy import LossyProxy
from service.serving import Serving, shop
from service.test_remote_study import answering
from studies.postgres import Server


def test_a_frozen_server(server: Server) -> None:
    """PostgreSQL's processes stop: 503, not ready, and SIGTERM is obeyed."""
    store = f"{server.url}&options=-csearch_path%3Dpublic"
    shop(store, "frozen").close()
    with Serving(store, "--deadline", "1", "--patience", "0.5") as running:
        assert running.send("POST", "/v1/studies/frozen/ask").status == 200
        assert running.send("GET", "/readyz").status == 200
        with server.frozen():
            for _ in range(2):
                answer = running.send("POST", "/v1/studies/frozen/ask")
                assert answer.status == 503, answer
                assert int(answer.headers["Retry-After"]) >= 1
            status, _, detail = running.problem("GET", "/readyz")
            assert status == 503
            assert "127.0.0.1" not in detail
            assert str(server.folder) not in detail
            assert running.send("GET", "/healthz").status == 200
            assert running.stop(seconds=120.0) == -signal.SIGTERM
    dikin.Study.delete(store, "frozen")


def test_a_silent_connection_costs_one_attempt(
    service: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request goes out again over a new connection, and is asked once."""
    monkeypatch.setattr(remote, "ATTEMPT", 1.0)
    with LossyProxy(service.port, mutes=True) as proxy, shop(service.url, "silent") as study:
        study._ledger.url = proxy.url
        assert [study.ask().id, study.ask().id] == [0, 1]
        assert [query.id for query in study.open_queries] == [0, 1]
        assert proxy.lost == 1
        study._ledger.close()


def test_a_service_that_is_silent_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several attempts, then an error."""
    monkeypatch.setattr(remote, "ATTEMPT", 0.1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(errors.StoreError, match="timed out"):
            dikin.Study(f"http://127.0.0.1:{silent.getsockname()[1]}", "x", patience=0.4)
        silent.settimeout(10)
        made = [silent.accept()[0] for _ in range(2)]  # there was more than one connection
        for each in made:
            each.close()


@pytest.mark.parametrize(("after", "pauses"), [("", 0.05), ("7", 7), ("600", 60), ("x", 0.05)])
def test_retry_after_is_obeyed(monkeypatch: pytest.MonkeyPatch, after: str, pauses: float) -> None:
    class Pause(Exception):  # noqa: N818
        pass

    slept = list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        raise Pause

    monkeypatch.setattr(time, "sleep", sleep)
    problem = b'{"code": "busy", "detail": "later"}'
    headers = {"Retry-After": after} if after else {}
    with (
        answering(503, "application/problem+json", problem, **headers) as url,
        pytest.raises(Pause),
    ):
        dikin.Study(url, "x", patience=100.0)
    assert slept == [pauses]
    if after == "7":  # not before its time, so there is no point in waiting
        with (
            answering(429, "application/problem+json", problem, **headers) as url,
            pytest.raises(errors.BusyError, match="later"),
        ):
            dikin.Study(url, "x", patience=6.0)
