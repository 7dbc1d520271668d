"""Limits of one client: its requests, its connections."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from unittest.mock import AsyncMock

import pytest

from dikin.service import access, limits
from dikin.service.access import Quotas
from dikin.service.problems import Problem
from service.serving import QUICK, Serving, shop
from service.test_open_studies import in_a_loop, opened
from service.test_requests import SLOW
from studies.conftest import new_file


@contextmanager
def serving(setting: str, *options: str, tokens: bool = False) -> Iterator[Serving]:
    """A service with other limits, and if wanted with tokens."""

    class Limited(Serving):
        program = f"from dikin.service import limits\n{setting}\n{QUICK}"

    with new_file() as store:
        shop(store).close()
        with Limited(store, *options) as running:
            if tokens:
                running.tokens = {name: running.token(name, "admin") for name in ("one", "two")}
                while running.send("GET", "/v1/token").status != 401:
                    pass  # until the service has read them
            yield running


def test_connections_are_limited() -> None:
    with serving("limits.CONNECTIONS = 20") as running, ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
        while (answer := running.send("GET", "/healthz")).status != 503:
            pass  # until all of them are accepted
        assert b"Service Unavailable" in answer.content
        stack.close()
        while running.send("GET", "/healthz").status != 200:
            pass


def test_a_token_is_checked_before_the_body_is_read(guarded: Serving) -> None:
    """Neither a body that never comes nor a large one is waited for."""
    for length in (100, 900_000):
        with socket.create_connection(("127.0.0.1", guarded.port)) as client:
            client.settimeout(60)
            client.sendall(SLOW.replace(b"Content-Length: 100", b"Content-Length: %d" % length))
            assert client.recv(4096).startswith(b"HTTP/1.1 401")


def test_requests_of_a_token_are_limited() -> None:
    with serving("limits.REFUSAL_SECONDS = 0", "--rate", "5", tokens=True) as running:
        answers = [running.send("GET", "/v1/token", token=running.tokens["one"]) for _ in range(50)]
        refused = [answer for answer in answers if answer.status == 429]
        assert refused
        assert answers[0].status == 200
        assert refused[0].headers["Retry-After"] == "1"
        assert "'one' made more than 5 calls a second" in refused[0].content["detail"]
        assert running.send("GET", "/v1/token", token=running.tokens["two"]).status == 200
        metrics = running.send("GET", "/metrics", token=running.tokens["two"]).content.decode()
        assert f'route="/v1/token",status="429"}} {len(refused)}.0' in metrics


def test_a_large_request_counts_as_many_calls() -> None:
    """It is answered, and its token waits for as long as so many calls take."""
    large = b'{"id": 0, "value": "%s"}' % (b"1" * 900_000)
    with serving("", "--rate", "10", tokens=True) as running:
        for n in (-(10**9), 10**9):  # neither a credit nor a debt
            wrong = running.send("POST", "/v1/studies/shop/ask", {"n": n}, running.tokens["two"])
            assert wrong.status == 422
        for token, verb, body, status, calls in (
            ("one", "ask", {"n": 1000}, 200, 1000),
            ("two", "tell", large, 422, 900),
        ):
            sent = "POST", f"/v1/studies/shop/{verb}", body, running.tokens[token]
            assert running.send(*sent).status == status
            refused = running.send(*sent[:2], {}, sent[3])
            assert refused.status == 429
            assert calls / 20 < int(refused.headers["Retry-After"]) <= calls / 10 + 2


@in_a_loop
async def test_requests_under_way_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = Quotas(1e9)
    async with AsyncExitStack() as stack:
        for _ in range(limits.IN_FLIGHT_EACH):
            await stack.enter_async_context(allowed.request("one"))
        with pytest.raises(Problem, match="200 requests under way"):
            await stack.enter_async_context(allowed.request("one"))
        async with allowed.request("two"), allowed.request(None):
            pass
    async with allowed.request("one"):  # they are given back
        allowed.charge("one", 2e9)
    slept = AsyncMock()
    monkeypatch.setattr(access.asyncio, "sleep", slept)
    with pytest.raises(Problem, match="calls a second"):
        async with allowed.request("one"):
            pass
    slept.assert_awaited_once_with(limits.REFUSAL_SECONDS)


def test_calls_of_a_token_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(access.time, "monotonic", lambda: now[0])
    rated = Quotas(2.0)
    for seconds, calls in ((0.0, 2), (0.5, 1), (100.0, 2), (0.5, 5), (2.0, 0), (0.5, 1)):
        now[0] += seconds
        if calls:
            rated.charge("one", calls)
        with pytest.raises(Problem, match="2 calls a second"):
            rated.charge("one", 1.0)
        rated.charge("one", 0.0, before=10.0)  # for a request that was admitted


@in_a_loop
async def test_tokens_take_turns(file: str) -> None:
    """A token with many requests for a study does not delay that of another token."""
    done, go_on = list[str](), threading.Event()

    def act(token: str) -> None:
        go_on.wait()
        done.append(token)

    async with opened(file) as studies:
        tokens = ["one"] * 20 + ["two"]
        calls = [studies.do("shop", lambda _, t=t: act(t), "c", t) for t in tokens]
        sent = asyncio.gather(*calls)
        await asyncio.sleep(0)  # all of them were sent
        go_on.set()
        await sent
    assert len(done) == 21
    assert done.index("two") == limits.AT_ONCE_EACH
