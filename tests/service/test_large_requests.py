"""Requests that are large, or describe something large: refused briefly, and nobody else waits."""

import asyncio
import json
import threading
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.service import app
from dikin.service.app import Service
from dikin.service.limits import DEEPEST_REQUEST, MOST_KEYS, READ_AT_ONCE
from service.adversity import keys
from service.serving import TUNER, Serving, ask_asgi

LONGEST_ANSWER = 4096
"""Bytes of an error."""


def parameters(count: int) -> dict[str, Any]:
    return {f"p{n}": {"low": 0, "high": 1} for n in range(count)}


TWICE = keys(98_000)[:-1] + b',"%x":1}' % 97_999  # the last one
UNKNOWN = json.dumps({"id": 0, "value": 1} | {f"u{n}": 0 for n in range(60_000)}).encode()
LARGE: list[tuple[str, Any, int, str]] = [
    ("POST tell", TWICE, 400, "'17ecf' occurs twice in one object"),
    ("POST tell", UNKNOWN, 422, "at most 1,000 keys, and one has 60,002; send fewer"),
    ("POST ask", json.loads(keys(900)), 422, "and 895 more"),
    ("POST ask", {"x" * 900_000: 1}, 422, "is not known in the body"),
    ("POST ask", b'{"n": ' + b"9" * 900_000 + b"}", 400, "digits"),
    ("POST ask", b'{"covariates": {"load": 1e999999}}', 422, "finite"),
    ("POST ask", [[]] * 200_000, 422, "[[], [], "),
    ("POST tell", b"[" * 900_000, 400, "nested too deeply"),
    ("POST tell", {"id": [[]] * 200_000, "value": 1}, 404, "pass the trial or its id"),
    ("POST tell", {"id": 0, "value": [0] * 300_000}, 422, "number below 1e+100, got [0, 0"),
    ("POST tell", {"id": 0, "value": 1, "point": [0] * 300_000}, 409, "another learner or tuner"),
    ("PUT", {"tuner": parameters(20_000)}, 422, "at most 1,000 keys, and one has 20,000"),
    ("PUT", {"tuner": [0] * 300_000}, 422, "a JSON object of parameters by name"),
    ("PUT", {**TUNER, "x" * 900_000: 1}, 422, "Tuner has no argument"),
    ("PUT", {**TUNER, "limits": [0] * 300_000}, 422, "limits"),
    ("PUT", {"state": {"tuner": {"parameters": parameters(20_000)}}}, 422, "at most 1,000 keys"),
]


@pytest.mark.parametrize(("what", "body", "status", "words"), LARGE)
def test_large_requests_are_refused_in_few_words(
    service: Serving, what: str, body: Any, status: int, words: str
) -> None:
    study = "/v1/studies/large"
    if service.send("PUT", study, TUNER).status == 201:
        service.send("POST", study + "/ask")
    before = service.send("GET", study + "/state").content
    method, _, verb = what.partition(" ")
    path = f"{study}/{verb}" if verb else "/v1/studies/none"
    answer = service.send(method, path, body)
    assert answer.status == status
    assert words in answer.content["detail"]
    assert len(json.dumps(answer.content)) < LONGEST_ANSWER
    assert service.send("GET", study + "/state").content == before
    assert service.send("GET", "/v1/studies/none").status == 404


def test_a_large_study_is_played(service: Serving) -> None:
    given = {"tuner": parameters(100), "seed": 7}
    assert service.send("PUT", "/v1/studies/wide", given).status == 201
    assert service.send("PUT", "/v1/studies/wide", given).status == 200
    fit = 333  # 100,000 numbers, three for each value
    with dikin.Study(service.url, "wide") as study:
        for trial in study.ask(n=fit + 2):
            study.tell(trial, float(trial.id))
        page = service.send("GET", "/v1/studies/wide/history?limit=1000").content
        assert [row["round"] for row in page["rounds"]] == list(range(1, fit + 1))
        assert page["next"] == fit + 1
        assert study.history()["round"].tolist() == list(range(1, fit + 3))
    assert service.send("GET", "/v1/studies").status == 200
    assert b'dikin_best{parameter="p99",study="wide"}' in service.send("GET", "/metrics").content


def test_a_body_may_be_as_deep_and_wide_as_allowed() -> None:
    deep: Any = []
    for _ in range(DEEPEST_REQUEST - 1):
        deep = [deep]
    assert app._read(json.dumps(deep).encode()) == deep
    with pytest.raises(errors.RequestError, match="nested more than"):
        app._read(json.dumps([deep]).encode())
    assert len(app._read(keys(MOST_KEYS))) == MOST_KEYS
    with pytest.raises(errors.RequestError, match="at most 1,000 keys"):
        app._read(b"[" + keys(MOST_KEYS + 1) + b"]")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", "/v1/studies/mine/tell", UNKNOWN), ("PUT", "/v1/studies/new", b'{"tuner": {}}')],
    ids=["body", "creation"],
)
def test_others_are_answered_while_a_large_request_is_handled(
    file: str, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: bytes
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def blocked(call: Any, when: Any) -> Any:
        def wait(given: Any) -> Any:
            if when(given):
                reached.set()
                go_on.wait()
            return call(given)

        return wait

    monkeypatch.setattr(app, "_read", blocked(app._read, lambda b: len(b) > READ_AT_ONCE))
    monkeypatch.setattr(
        app, "tuner_from_spec", blocked(app.tuner_from_spec, lambda spec: "seed" not in spec)
    )

    async def play() -> tuple[int, int]:
        service = Service(file)
        for name in ("mine", "other"):
            await ask_asgi(service, "PUT", f"/v1/studies/{name}", json.dumps(TUNER).encode())
        hostile = asyncio.ensure_future(ask_asgi(service, method, path, body))
        await asyncio.to_thread(reached.wait)
        other = await ask_asgi(service, "POST", "/v1/studies/other/ask")
        assert not hostile.done()
        go_on.set()
        refused = await hostile
        await asyncio.to_thread(service.studies.close)
        return other, refused

    assert asyncio.run(play()) == (200, 422)
