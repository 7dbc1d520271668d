"""Requests of every kind, good and bad, and what a client may rely on in the answers."""

import json
import socket
from typing import Any
from urllib.parse import urlencode

import pytest
import urllib3
from prometheus_client.parser import text_string_to_metric_families

import dikin
from dikin.service import commands
from service.serving import QUICK, TUNER, Serving, shop


def test_a_study_from_its_creation_to_its_end(service: Serving) -> None:
    assert service.send("PUT", "/v1/studies/life", TUNER).status == 201
    assert service.send("PUT", "/v1/studies/life", TUNER).status == 200
    status, code, detail = service.problem("PUT", "/v1/studies/life", TUNER | {"maximize": False})
    assert (status, code) == (409, "study_exists")
    assert "maximize" in detail
    asked = service.send("POST", "/v1/studies/life/ask").content
    told = {"id": asked["id"], "value": 512}
    first = service.send("POST", "/v1/studies/life/tell", told)
    again = service.send("POST", "/v1/studies/life/tell", told)
    assert first.content == again.content == {}
    listed = service.send("POST", "/v1/studies/life/ask", {"n": 2}).content["queries"]
    one, two = (each["id"] for each in listed)
    waiting = service.send("GET", "/v1/studies/life/open?limit=1").content
    assert [query["id"] for query in waiting["queries"]] == [one]
    assert waiting["total"] == 2
    after = service.send("GET", f"/v1/studies/life/open?after={one}").content
    assert [query["id"] for query in after["queries"]] == [two]
    seen = service.send("GET", "/v1/studies/life").content
    assert (seen["rounds"], seen["open"]["count"], seen["best"]) == (1, 2, {"price": 4.0})
    assert service.send("DELETE", "/v1/studies/life").status == 204
    assert service.problem("GET", "/v1/studies/life")[1] == "unknown_study"
    assert service.problem("DELETE", "/v1/studies/life")[0] == 404
    assert service.send("PUT", "/v1/studies/life", TUNER).status == 201
    assert service.send("POST", "/v1/studies/life/ask").content["id"] == 0


def test_a_study_that_another_process_has_made_anew(service: Serving) -> None:
    """The service has the old one open; the new one begins at once."""
    service.send("PUT", "/v1/studies/anew", TUNER)
    service.send("POST", "/v1/studies/anew/ask")
    dikin.Study.delete(service.store, "anew")
    shop(service.store, "anew").close()
    assert service.send("POST", "/v1/studies/anew/ask").content["id"] == 0


def test_words_of_a_client_do_not_fill_the_metrics(service: Serving) -> None:
    for number in range(20):
        assert service.send(f"WORD{number}", "/v1/studies").status == 400
    service.send("PROPFIND", "/v1/studies")
    text = service.send("GET", "/metrics").content.decode()
    assert "WORD" not in text
    assert "PROPFIND" not in text
    assert 'method="other"' in text


BAD: list[tuple[str, Any, int, str, str]] = [
    ("ask", b"{", 400, "request", "the body is not JSON: Expecting property name"),
    ("ask", b'{"covariates": {"load": NaN}}', 422, "covariate", "got nan"),
    ("ask", b"\xff", 400, "request", "the body is not JSON"),
    ("ask", [], 422, "request", "got []"),
    ("ask", {"context": json.loads("[" * 900 + "]" * 900)}, 422, "request", "levels deep"),
    ("ask", {"covariate": 1}, 422, "request", "not known in the body. Did you mean 'covariates'?"),
    ("ask", {"n": 1001}, 422, "parameter", "n must be at most 1,000, got 1001"),
    ("ask", {"covariates": 3}, 422, "covariate", "covariates are given by name"),
    ("ask", {"context": {"hour": 1}}, 422, "context", "declared without contexts"),
    ("tell", None, 422, "request", "the body is missing"),
    ("tell", {"value": 1}, 422, "request", "id is missing in the body"),
    ("tell", {"id": 0, "value": "1"}, 422, "loss", "'1'"),
    ("tell", {"id": 0, "loss": 2}, 422, "request", "'loss' is not known"),
    ("tell", {"id": 0, "value": 1, "metrics": {"p99_ms": None}}, 422, "loss", "p99_ms"),
    ("tell", {"id": 0, "failed": "yes"}, 422, "parameter", "'yes'"),
    ("tell", {"id": "0", "value": 1}, 404, "unknown_query", "pass the trial or its id, got '0'"),
    ("tell", {"id": 10**40, "value": 1}, 404, "unknown_query", "was never asked"),
    ("tell", {"id": 0, "value": 1, "point": [2]}, 409, "query", "another learner or tuner"),
    ("tell", {"id": 0, "value": 1, "point": "x"}, 422, "domain", "point"),
    ("tell", {"id": 0, "value": 1e300}, 422, "loss", "finite number below"),
    ("tell", b'{"id": 0, "value": NaN}', 422, "loss", "got nan"),
    ("forget", {"id": 0, "value": 1}, 422, "request", "'value' is not known"),
    ("forget", b'{"older_than": NaN}', 422, "parameter", "got nan"),
    ("add_trial", b'{"params": {"price": NaN}, "value": 1}', 422, "parameter", "price=nan"),
]


@pytest.mark.parametrize(("verb", "body", "status", "code", "words"), BAD)
def test_a_bad_request_changes_nothing(
    service: Serving, verb: str, body: Any, status: int, code: str, words: str
) -> None:
    path = "/v1/studies/bad"
    if service.send("PUT", path, TUNER).status == 201:
        service.send("POST", path + "/ask")
    before = service.send("GET", path + "/state").content
    found = service.problem("POST", f"{path}/{verb}", body)
    assert found[:2] == (status, code)
    assert words in found[2]
    assert service.send("GET", path + "/state").content == before


BARE = {"learner": "fkm", "domain": {"kind": "ball", "dim": 2}}
LEARNER = dikin.Predictive(dikin.Ball(2), seed=1)
FORGED = dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1).state() | {"search": [[]]}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "a study holds a tuner"),
        ({"tuner": {}}, "one or more names"),
        ({"tuner": 3}, "a JSON object of parameters by name"),
        ({"tuner": {"a": {"low": 1}}}, "a: high missing"),
        ({"tuner": {"a": {"low": 1, "hihg": 2}}}, "a: 'hihg' is not known. Did you mean 'high'?"),
        ({"tuner": {"a": {"kind": "share"}}}, "is called 'share'. Did you mean 'shares'?"),
        ({"tuner": {"a": [1, 2]}}, "a: a parameter is an object such as"),
        ({"tuner": {"x": {"low": 0, "high": 1}}, "maximise": True}, "mean 'maximize'?"),
        (BARE, "a study holds a tuner: send its parameters"),
        ({"state": LEARNER.state()}, "a study holds a tuner"),
        ({"tuner": {"x": {"low": 0, "high": 1}}, "state": {}}, "state"),
        ({"state": {}}, "state"),
        ({"state": {"learner": "fkm"}}, "cannot be used"),
        ({"state": FORGED}, "cannot be used"),
    ],
)
def test_a_study_that_cannot_be(service: Serving, spec: Any, words: str) -> None:
    status, _, detail = service.problem("PUT", "/v1/studies/cannot%20be", spec)
    assert status == 422
    assert words in detail
    assert service.send("GET", "/v1/studies/cannot%20be").status == 404


def test_paths_methods_and_queries(service: Serving) -> None:
    assert service.problem("GET", "/v2/studies")[0] == 404
    assert service.problem("GET", "/v1/studies/")[0] == 404
    assert service.problem("PATCH", "/v1/studies/x")[0] == 405
    assert service.send("PATCH", "/v1/studies/x").headers["Allow"] == "DELETE, GET, PUT"
    assert service.send("GET", "/v1/studies/x/ask").headers["Allow"] == "POST"
    assert service.send("HEAD", "/healthz").status == 200
    assert service.problem("GET", "/v1/studies?limit=0")[0] == 422
    assert service.problem("GET", "/v1/studies/%FF")[0] == 422
    assert service.problem("GET", "/v1/studies/a%0Ab")[0] == 422
    service.send("PUT", "/v1/studies/asked", TUNER)
    for query, words in (
        ("first=x", "first must be a whole number, got 'x'"),
        ("first=0", "first must be at least 1"),
        ("limit=1001", "limit must be at most 1,000"),
        ("first=1&first=2", "'first' occurs twice in the query"),
        ("firts=1", "'firts' is not known in the query. Did you mean 'first'?"),
    ):
        status, _, detail = service.problem("GET", "/v1/studies/asked/history?" + query)
        assert status == 422
        assert detail.startswith(words)
    status, _, detail = service.problem("PUT", "/v1/studies/x", TUNER, Content_Encoding="gzip")
    assert (status, detail[:34]) == (415, "a body must have no Content-Encodi")
    assert service.problem("PUT", "/v1/studies/x", b"a=1", Content_Type="text/plain")[0] == 415


def test_a_body_that_nobody_reads_is_refused(service: Serving) -> None:
    service.send("PUT", "/v1/studies/still", TUNER)
    status, code, detail = service.problem("POST", "/v1/studies/still/pause", {"until": "noon"})
    assert (status, code) == (422, "request")
    assert "takes no body" in detail
    assert not service.send("GET", "/v1/studies/still").content["paused"]
    assert service.send("POST", "/v1/studies/still/pause", {}).status == 200


def test_a_body_that_is_too_large(service: Serving) -> None:
    status, _, detail = service.problem("POST", "/v1/studies/x/ask", b" " * 1_000_001)
    assert status == 413
    assert "at most 1,000,000 bytes" in detail
    # It is refused by its length, before it is sent.
    head = SLOW.replace(b"Content-Length: 100", b"Content-Length: 1000000000")
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.settimeout(600)
        client.sendall(head)
        assert client.recv(4096).startswith(b"HTTP/1.1 413")
    # Without a length, piece by piece.
    pieces = (b" " * 100_000 for _ in range(20))
    answer = urllib3.PoolManager(retries=False).request(
        "POST",
        service.url + "/v1/studies/x/ask",
        body=pieces,
        headers={"Content-Type": "application/json"},
        chunked=True,
    )
    assert answer.status == 413


def test_every_answer_has_the_security_headers(service: Serving) -> None:
    for path in ("/", "/page/page.js", "/v1/studies", "/nope", "/metrics", "/healthz"):
        headers = service.send("GET", path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Server" not in headers
        assert len(headers["X-Request-Id"]) == 8


def test_small_answers_are_sent_at_once() -> None:
    """Without TCP_NODELAY each would wait for an acknowledgement: 40 ms a request."""
    with commands._listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_metrics(service: Serving) -> None:
    with shop(service.url, "measured", rounds=30) as study:
        study.ask()
        summary = study.summary()
    text = service.send("GET", "/metrics").content.decode()
    found = {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("study") == "measured"
    }
    assert found["dikin_rounds_total"] == 30
    assert found["dikin_value_mean"] == pytest.approx(summary.recent_mean)
    assert found["dikin_open_queries"] == 1
    assert 0 <= found["dikin_oldest_open_query_seconds"] < 60
    assert found["dikin_paused"] == 0
    assert found["dikin_left_out_total"] == summary.left_out
    assert found["dikin_failed_trials"] == 0
    low, high = found["dikin_best_value_low"], found["dikin_best_value_high"]
    assert [found["dikin_best_value"], low, high] == pytest.approx(summary.best_value)
    assert "dikin_certificate" not in found  # no constant was declared
    assert 'dikin_request_seconds_count{method="POST",route="/v1/studies/{name}/ask"' in text


def test_a_page_polls(service: Serving) -> None:
    """The newest rounds in columns, and 304 for as long as nothing has happened."""
    path = "/v1/studies/watched/page"
    with shop(service.url, "watched", rounds=12) as study:
        first = service.send("GET", path)
        rounds, history = first.content["rounds"], study.history()
        assert rounds["round"] == list(range(1, 13))
        assert rounds["value"] == history["value"].tolist()
        assert rounds["played"] == [history[c].tolist() for c in ("price", "ads")]
        assert first.content["recommendation"] == study.recommend().to_json()
        tags = [first.headers["ETag"]]
        again = service.send("GET", path + "?after=12", If_None_Match=tags[0])
        assert (again.status, again.content) == (304, b"")
        trial = study.ask()
        for act in (
            lambda: study.tell(trial, 3.5),
            study.pause,
            study.resume,
            lambda: study.tell(study.ask(), failed=True),
            lambda: study.forget(study.ask()),
            study.ask,
        ):
            act()
            seen = service.send("GET", path + "?after=11", If_None_Match=tags[-1])
            assert seen.status == 200
            tags.append(seen.headers["ETag"])
        assert seen.content["rounds"]["round"] == [12, 13, 14]
        assert seen.content["rounds"]["value"][1:] == [3.5, None]
        assert seen.content["rounds"]["failed"] == [False, False, True]
        assert len(seen.content["open"]) == 1
        assert len(service.send("GET", path + "?after=99").content["rounds"]["round"]) == 14


@pytest.mark.parametrize(
    "query",
    ["", "?context=us", '?context={"region":"asia"}', "?context=[1]", '?context={"region":NaN}'],
)
def test_a_context_that_is_none(service: Serving, query: str) -> None:
    path = "/v1/studies/regions"
    service.send("PUT", path, TUNER | {"context": {"region": ["eu", "us"]}})
    here = "?" + urlencode({"context": '{"region": "us"}'})
    assert service.send("GET", path + "/recommend" + here).status == 200
    assert service.problem("GET", path + "/recommend" + query)[:2] == (422, "context")


def connect(service: Serving, text: bytes = b"") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", service.port))
    made.sendall(text)
    return made


SLOW = (
    b"POST /v1/studies/quick/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n{"
)


def test_a_slow_body_is_refused(file: str) -> None:
    class Quick(Serving):
        program = f"from dikin.service import limits\nlimits.BODY_SECONDS = 0.3\n{QUICK}"

    with Quick(file) as running, connect(running, SLOW) as client:
        client.settimeout(600)
        answer = b""
        while part := client.recv(4096):  # until the service closes it
            answer += part
        assert answer.startswith(b"HTTP/1.1 408")


def test_a_holdback_in_all_answers(service: Serving) -> None:
    """Trials, status, history and metrics; and the reason when the guard holds."""
    parameters = {"price": dikin.Real(1, 14, start=4)}
    tuner = dikin.Tuner(parameters, maximize=True, seed=7, holdback=0.3, guard=0.02)
    with dikin.Study(service.url, "compared", tuner) as study:
        first = study.ask(n=30)
        assert 2 <= sum(trial.held_back for trial in first) <= 16
        assert {trial["price"] for trial in first if trial.held_back} == {4.0}
        for trial in first:
            study.tell(trial, 500.0 + trial.id % 3)
        assert study.status().uplift == study.uplift
        assert study.history()["held_back"].tolist() == [trial.held_back for trial in first]
        while not study.paused:
            for trial in study.ask(n=20):
                study.tell(trial, (500.0 if trial.held_back else 300.0) + trial.id % 3)
        reason = study.status().guard_reason
        assert service.send("GET", "/v1/studies/compared").content["guard_reason"] == reason
        gain = service.send("GET", "/v1/studies/compared/uplift").content
        assert gain["mean"] < 0.0
        assert gain == study.uplift.to_json()
        text = service.send("GET", "/metrics").content.decode()
        assert 'dikin_guard_holds{study="compared"} 1.0' in text
        assert 'dikin_uplift{study="compared"}' in text
        study.resume()
        assert study.status().guard_reason is None
