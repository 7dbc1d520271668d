"""Requests that are large, or describe something large: refused briefly, and nobody else waits."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
import urllib3
from dikin.service.sizes import refuse_large, refuse_large_state
from starlette.requests import Request

import dikin
from dikin import errors
from dikin.service import bodies, limits, middleware, schemas
from dikin.service.limits import (
    DEEPEST_REQUEST,
    FAULTS,
    LARGEST_STATE,
    LONGEST_CONSTRAINT,
    LONGEST_NAME,
    MOST_CONSTRAINTS,
    MOST_ENTRIES,
    MOST_KEYS,
    MOST_PARTS,
    MOST_PIECES,
    MOST_VALUES,
    READ_AT_ONCE,
)
from dikin.service.problems import Problem
from dikin.service.service import Service
from service.adversity import keys
from service.conftest import folder
from service.serving import QUICK, TUNER, Serving

LONGEST_ANSWER = 4096
"""Bytes of an error."""


def parameters(count: int) -> dict[str, Any]:
    return {f"p{n}": {"low": 0, "high": 1} for n in range(count)}


def domain(**spec: Any) -> dict[str, Any]:
    return {"learner": "predictive", "domain": spec}


TWICE = keys(98_000)[:-1] + b',"%x":1}' % 97_999  # the last one
UNKNOWN = json.dumps({"id": 0, "value": 1} | {f"u{n}": 0 for n in range(60_000)}).encode()
LARGE: list[tuple[str, Any, int, str]] = [
    ("POST tell", TWICE, 400, "'17ecf' occurs twice in one object"),
    ("POST tell", UNKNOWN, 422, "at most 1,000 keys, and one has 60,002; send fewer"),
    ("POST tell", {"id": 0, "value": {"x": json.loads(keys(1001))}}, 422, "one has 1,001"),
    ("POST ask", json.loads(keys(900)), 422, "and 895 more"),
    ("POST ask", {"x" * 900_000: 1}, 422, "(900,002 characters) is not known in the body"),
    ("POST ask", b'{"n": ' + b"9" * 900_000 + b"}", 400, "at most 1,000 digits"),
    ("POST ask", {"n": "x" * 900_000}, 422, "n must be a whole number"),
    ("POST ask", b'{"forecast": 1e999999}', 422, "finite"),
    ("POST ask", [[]] * 200_000, 422, "a list of 200,000 entries"),
    ("POST tell", b"[" * 900_000, 400, "nested too deeply"),
    ("POST tell", {"id": [[]] * 200_000, "value": 1}, 422, "id must be a whole number"),
    ("POST tell", {"id": 0, "value": [0] * 300_000}, 422, "of 300,000 entries, too large"),
    ("POST tell", {"id": 0, "value": 1, "point": [0] * 300_000}, 422, "price; got a list"),
    ("PUT", {"tuner": parameters(20_000)}, 422, "at most 1,000 keys, and one has 20,000"),
    ("PUT", {"tuner": [0] * 300_000}, 422, "the tuner must be a JSON object"),
    ("PUT", {"learner": "x" * 900_000, "domain": {"kind": "ball", "dim": 2}}, 422, "no learner"),
    ("PUT", {**TUNER, "x" * 900_000: 1}, 422, "Tuner has no argument"),
    ("PUT", {**TUNER, "memory": [0] * 300_000}, 422, "memory"),
    ("PUT", {"state": {"tuner": {"parameters": parameters(20_000)}}}, 422, "at most 1,000 keys"),
    ("PUT", domain(kind="x" * 900_000), 422, "no domain is called"),
    ("PUT", domain(kind="spectrahedron", n=1000), 422, "got 1000000: describe a smaller set"),
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


def test_an_error_lists_the_first_faults_and_counts_the_others(service: Serving) -> None:
    service.send("PUT", "/v1/studies/faults", TUNER)
    given = {f"u{n}": 0 for n in range(FAULTS + 2)}
    detail = service.problem("POST", "/v1/studies/faults/ask", given)[2]
    assert detail.count("is not known in the body") == FAULTS
    assert detail.endswith("; and 2 more")
    del given["u0"], given["u1"]
    detail = service.problem("POST", "/v1/studies/faults/ask", given)[2]
    assert detail.count("is not known in the body") == FAULTS
    assert "more" not in detail


def test_an_unknown_study_among_many_is_refused_in_few_words(file: str) -> None:
    async def said() -> str:
        served = Service(file, 2.0)
        many = [f"{n:04} " + "x" * 140 for n in range(3000)]

        async def names() -> list[str]:
            return many

        served.workers.names = names  # type: ignore[method-assign]
        access = dikin.service.tokens.EVERYTHING
        error = errors.UnknownStudyError("there is none")
        return (await served.problem_for(error, access, "y" * 150)).content()["detail"]

    assert len(asyncio.run(said())) == errors.LONGEST_MESSAGE


def in_chunks(count: int) -> bytes:
    """A request whose body comes in so many chunks, each of a byte."""
    return (
        b"POST /v1/studies/chunks/ask HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"1\r\n{\r\n" + (count - 2) * b"1\r\n \r\n" + b"1\r\n}\r\n0\r\n\r\n"
    )


def test_a_body_in_too_many_pieces_is_not_read_to_its_end(service: Serving) -> None:
    service.send("PUT", "/v1/studies/chunks", TUNER)
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.settimeout(600)
        for _ in range(2):  # each body by itself
            client.sendall(in_chunks(MOST_PIECES))
            answer = HTTPResponse(client)
            answer.begin()
            assert answer.status == 200
            answer.read()
        with suppress(ConnectionError):  # it may be closed while the rest is sent
            client.sendall(in_chunks(MOST_PIECES + 1))
            assert client.recv(4096).startswith(b"HTTP/1.1 400")
    assert service.send("GET", "/v1/studies/chunks/open").content["total"] == 2


# --- what a study may be -------------------------------------------------------------------------

Build = Callable[[int], dict[str, Any]]


def tuner(**more: Any) -> dict[str, Any]:
    return {"tuner": parameters(2), **more}


def shares(parts: int, count: int = 1) -> dict[str, Any]:
    names = [f"part {n}" for n in range(parts)]
    return {"tuner": {f"s{n}": {"kind": "shares", "names": names} for n in range(count)}}


def constrained(count: int) -> dict[str, Any]:
    return {"tuner": parameters(count), "constraints": ["p0 + p1 <= 1"]}


def polytope(rows: int) -> dict[str, Any]:
    return domain(kind="polytope", A=[[1] * 100] * rows, b=[1] * rows)


def product(parts: int, dim: int) -> dict[str, Any]:
    return domain(kind="product", parts=[{"kind": "ball", "dim": dim}] * parts)


SIDES = 111  # 111 * (2 * 111 + 1) entries
LIMITS: dict[str, tuple[Build, int, str]] = {
    "values": (lambda n: {"tuner": parameters(n)}, MOST_VALUES, "values of a tuner"),
    "parts of shares": (shares, MOST_VALUES, "values of a tuner"),
    "shares": (lambda n: shares(2, n), MOST_PARTS, "parameters that are shares"),
    "name": (
        lambda n: {"tuner": {"s": {"names": ["a", "b" * n]}}},
        LONGEST_NAME,
        "characters in the name of a share",
    ),
    "constraints": (
        lambda n: tuner(constraints=["p0 + p1 <= 1"] * n),
        MOST_CONSTRAINTS,
        "constraints",
    ),
    "constraint": (
        lambda n: tuner(constraints=["p0 <= 1".ljust(n)]),
        LONGEST_CONSTRAINT,
        "characters in a constraint",
    ),
    "matrix of constraints": (constrained, SIDES, "entries in the matrix of the constraints"),
    "ball": (lambda n: domain(kind="ball", dim=n), MOST_VALUES, "entries in a point"),
    "simplex": (lambda n: domain(kind="simplex", n=n), MOST_VALUES, "entries in a point"),
    "box": (
        lambda n: domain(kind="box", lower=[0] * n, upper=[1] * n),
        MOST_VALUES,
        "entries in a point",
    ),
    "spectrahedron": (
        lambda n: domain(kind="spectrahedron", n=n),
        int(MOST_VALUES**0.5),
        "entries in a point",
    ),
    "product": (lambda n: product(10, n), MOST_VALUES // 10, "entries in a point"),
    "parts": (lambda n: product(n, 1), MOST_PARTS, "parts of a domain"),
    "polytope": (polytope, MOST_ENTRIES // 100, "entries in the matrix of a polytope"),
    "within": (
        lambda n: domain(kind="affine", domain={"kind": "ball", "dim": n}, matrix=[[1]], shift=[0]),
        MOST_VALUES,
        "entries in a point",
    ),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_what_is_described_has_limits(limit: str) -> None:
    build, most, what = LIMITS[limit]
    refuse_large(build(most))
    with pytest.raises(errors.ParameterError, match=f"over HTTP there can be at most .* {what}"):
        refuse_large(build(most + 1))


@pytest.mark.parametrize("limit", ["values", "constraints", "ball"])
def test_a_state_has_the_same_limits(limit: str) -> None:
    build, most, what = LIMITS[limit]
    for count in (most, most + 1):
        given = build(count)
        state: dict[str, Any] = given
        if "tuner" in given:
            constraints = given.get("constraints", [])
            state = {"tuner": {"parameters": given["tuner"], "constraints": constraints}}
        if count == most:
            refuse_large({"state": state})
        else:
            with pytest.raises(errors.ParameterError, match=what):
                refuse_large({"state": state})


@pytest.mark.parametrize("spec", [{}, {"tuner": 1}, {"state": 1}, {"domain": {"kind": 3}}])
def test_what_is_no_description_is_left_to_the_library(spec: dict[str, Any]) -> None:
    refuse_large(spec)


def test_a_state_of_many_numbers_is_refused() -> None:
    refuse_large_state({"a": [0.0] * LARGEST_STATE})
    with pytest.raises(errors.ParameterError, match="numbers in the state"):
        refuse_large_state({"a": [0.0] * LARGEST_STATE, "b": {"c": [[1.0]]}})


LEARNERS_WITH_MATRICES = [
    {
        "learner": "banditnewton",
        "horizon": 1000,
        "lipschitz": 1,
        "domain": {"kind": "ball", "dim": 1000},
    },
    {"learner": "liftedlinear", "horizon": 1000, "domain": {"kind": "simplex", "n": 1000}},
    {
        "learner": "kernelline",
        "horizon": 10**12,
        "domain": {"kind": "box", "lower": [0], "upper": [1]},
    },
]


@pytest.mark.parametrize("spec", LEARNERS_WITH_MATRICES, ids=lambda spec: spec["learner"])
def test_learners_with_large_states_are_refused(service: Serving, spec: dict[str, Any]) -> None:
    status, _, detail = service.problem(
        "PUT", "/v1/studies/matrix", {**spec, "loss_range": [0, 1], "seed": 7}
    )
    assert status == 422
    assert "numbers in the state" in detail
    assert service.send("GET", "/v1/studies/matrix").status == 404


def test_the_largest_study_is_played(service: Serving) -> None:
    given = {"tuner": parameters(MOST_VALUES), "seed": 7}
    assert service.send("PUT", "/v1/studies/wide", given).status == 201
    assert service.send("PUT", "/v1/studies/wide", given).status == 200
    fit = 66  # 200,000 numbers, three for each value
    with dikin.Study(service.url, "wide") as study:
        for trial in study.ask(n=fit + 2):
            study.tell(trial, float(trial.id))
        page = service.send("GET", "/v1/studies/wide/history?limit=1000").content
        assert [row["round"] for row in page["rounds"]] == list(range(1, fit + 1))
        assert page["next"] == fit + 1
        assert study.history()["round"].tolist() == list(range(1, fit + 3))
    assert service.send("GET", "/v1/studies").status == 200
    assert b'dikin_best{parameter="p999",study="wide"}' in service.send("GET", "/metrics").content


# --- apart from the event loop -------------------------------------------------------------------


def test_only_small_bodies_are_read_by_the_event_loop(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: dict[int, threading.Thread] = {}

    def noted(body: bytes) -> None:
        read[len(body)] = threading.current_thread()

    async def ask(size: int) -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b" " * size, "more_body": False}

        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % size)]
        request = Request({"type": "http", "headers": headers}, receive)
        layer = middleware.RequestMiddleware(None, None, served, 10**6)  # type: ignore[arg-type]
        await layer._body(request)

    served = Service(file, 2.0)
    monkeypatch.setattr(middleware, "read_body", noted)
    for size in (READ_AT_ONCE, READ_AT_ONCE + 1):
        asyncio.run(ask(size))
    here = threading.current_thread()
    assert read[READ_AT_ONCE] is here
    assert read[READ_AT_ONCE + 1] is not here


def test_a_body_may_be_as_deep_and_wide_as_allowed() -> None:
    deep: Any = []
    for _ in range(DEEPEST_REQUEST - 1):
        deep = [deep]
    assert bodies.read_body(json.dumps(deep).encode()) == deep
    with pytest.raises(Problem, match="nested more than"):
        bodies.read_body(json.dumps([deep]).encode())
    assert len(bodies.read_body(keys(MOST_KEYS))) == MOST_KEYS
    with pytest.raises(Problem, match="at most 1,000 keys"):
        bodies.read_body(b"[" + keys(MOST_KEYS + 1) + b"]")


ASKED = {
    "id": 1,
    "params": None,
    "point": [0.5],
    "expected": None,
    "held": False,
    "covariates": None,
    "context": None,
    "held_back": False,
}


def test_an_answer_is_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    content = {
        "queries": [{"id": n, "point": [0.1] * 5, "é": None} for n in range(1000)],
        "state": {"learner": {"array": [0.5] * 1000}, "empty": [], "none": None, "bool": True},
    }
    pieces: list[str] = []

    class Noted(json.JSONEncoder):
        def encode(self, o: Any) -> str:
            pieces.append(super().encode(o))
            return pieces[-1]

    monkeypatch.setattr(bodies, "ENCODER", Noted(allow_nan=False))
    text = bodies.written(content)
    monkeypatch.undo()
    assert json.loads(text) == content
    assert len(pieces) > 2000
    assert max(map(len, pieces)) < 100
    model = schemas.Questions(queries=[schemas.Question(**ASKED) for _ in range(3)])
    assert json.loads(bodies.written(model)) == {"queries": [ASKED] * 3}
    with pytest.raises(ValueError, match="not JSON compliant"):
        bodies.written({"a": [float("nan")]})


@pytest.mark.parametrize(("size", "rounds"), [(1, 1000), (66, 1000), (1000, 66), (10**6, 1)])
def test_pages_have_fewer_rounds_where_points_are_large(size: int, rounds: int) -> None:
    assert limits.rounds_at_once(1000, size) == rounds


BLOCKED = """
from pathlib import Path
from dikin.service import middleware, routes
def blocked(module, name, when):
    original = getattr(module, name)
    def wait(given):
        if when(given):
            Path({pipe!r}).read_bytes()  # until the test closes its end
        return original(given)
    setattr(module, name, wait)
blocked(middleware, "read_body", lambda body: len(body) > middleware.READ_AT_ONCE)
blocked(routes, "refuse_large", lambda spec: "seed" not in spec)
"""
"""Reading a large body and creating a study without a seed wait for the test."""


class Blocked(Serving):
    """A service whose long work lasts until `let_go` is called."""

    def __init__(self, store: str, pipe: Path) -> None:
        os.mkfifo(pipe)
        self.pipe, self.program = pipe, BLOCKED.format(pipe=str(pipe)) + QUICK
        super().__init__(store)
        self.pool = urllib3.PoolManager(retries=False, maxsize=20, timeout=600)

    def reached(self, hostile: Future[Any]) -> int:
        """Wait until the service waits; the end of the pipe that lets it go on when closed."""
        while not hostile.done():
            try:
                return os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as reason:
                if reason.errno != errno.ENXIO:  # that nobody reads yet
                    raise
                time.sleep(0.01)
        raise AssertionError(f"nothing was blocked: {hostile.result()}")


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Blocked]:
    pipe = tmp_path_factory.mktemp("blocked") / "pipe"
    with folder() as store, Blocked(store, pipe) as running:
        yield running


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/studies/mine/tell", TWICE),
        ("POST", "/v1/studies/mine/tell", UNKNOWN),
        ("PUT", "/v1/studies/new", json.dumps({"tuner": parameters(20_000)}).encode()),
        ("PUT", "/v1/studies/new", json.dumps({"tuner": {}}).encode()),
    ],
    ids=["keys", "fields", "parameters", "creation"],
)
def test_others_are_answered_while_a_large_request_is_handled(
    blocked: Blocked, method: str, path: str, body: bytes
) -> None:
    for name in ("mine", "other"):
        blocked.send("PUT", f"/v1/studies/{name}", TUNER)
    with ThreadPoolExecutor(1) as pool:
        hostile = pool.submit(blocked.send, method, path, body)
        end = blocked.reached(hostile)
        try:
            assert blocked.send("GET", "/healthz").status == 200
            asked = blocked.send("POST", "/v1/studies/other/ask").content["id"]
            told = {"id": asked, "value": 1.0}
            assert blocked.send("POST", "/v1/studies/other/tell", told).status == 200
            assert blocked.send("GET", "/v1/studies/other").status == 200
            assert not hostile.done()
        finally:
            os.close(end)
        assert hostile.result().status in (400, 422)
