"""The clients in examples/clients, run as a reader would run them."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import dikin
from dikin.service.tokens import RIGHTS, TokenStore
from service.serving import Serving
from studies.conftest import new_file

CLIENTS = Path(__file__).parents[2] / "examples" / "clients"
NEEDED = {"client.js": ["node"], "client.sh": ["bash", "curl", "awk", "sed"]}
"""What each client needs; the first of them runs it."""
LINES = 30


@pytest.fixture(params=list(NEEDED))
def client(request: pytest.FixtureRequest) -> str:
    """The name of a client that can be run here."""
    return runnable(request.param)


def runnable(name: str) -> str:
    missing = [tool for tool in NEEDED[name] if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"examples/clients/{name} was NOT tried: there is no {', '.join(missing)} here")
    return name


@pytest.fixture(scope="module")
def closed() -> Iterator[Serving]:
    """A service with tokens and without studies."""
    with new_file() as store:
        tokens = {right: TokenStore(store).create(right, right) for right in RIGHTS}
        with Serving(store) as running:
            running.tokens = tokens
            yield running


def start(name: str, url: str, rounds: int, token: str | None = None) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DIKIN_")}
    environment |= {"DIKIN_URL": url} | ({} if token is None else {"DIKIN_TOKEN": token})
    return subprocess.Popen(
        [NEEDED[name][0], str(CLIENTS / name), str(rounds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pipesize=4096,
        text=True,
        env=environment,
    )


def run(name: str, url: str, rounds: int, token: str | None = None) -> tuple[int, str, str]:
    """Exit status, output and errors."""
    with start(name, url, rounds, token) as process:
        try:
            out, err = process.communicate(timeout=300)
        finally:
            process.kill()
    return process.returncode, out, err


def played(store: str) -> int:
    """The rounds of the study, of which none waits for its answer; then it is deleted."""
    with dikin.Study(store, "shop") as study:
        rounds = study.rounds
        assert study.open_queries == []
        assert len({row["query"] for row in study.records()}) == rounds
        assert study.verify().rows == 2 * rounds  # an ask and a tell for each, and no more
        assert set(study.best) == {"price"}
    dikin.Study.delete(store, "shop")
    return rounds


@pytest.mark.parametrize("name", NEEDED)
def test_a_client_is_short(name: str) -> None:
    lines = (CLIENTS / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 100


def test_a_client_creates_the_study_and_plays(client: str, service: Serving) -> None:
    status, out, err = run(client, service.url, 12)
    assert (status, err) == (0, "")
    assert out.count("price") == 12
    assert out.splitlines()[-1].startswith("round 12: price ")
    assert run(client, service.url, 3)[0] == 0  # the study is there, and goes on
    assert played(service.store) == 15


def test_a_client_with_tokens(client: str, closed: Serving) -> None:
    tokens = closed.tokens
    for token, words in (
        (None, "this needs a token"),
        ("dikin_00000000_mistyped", "not known to this service, or was mistyped"),
        (tokens["play"], "a token with the right admin; token 'play' has the right play"),
    ):
        status, out, err = run(client, closed.url, 3, token)
        assert (status, out) == (1, "")
        assert words in err
        assert err.count("\n") == 1  # the problem's words, and nothing else
    assert run(client, closed.url, 2, tokens["admin"])[0] == 0
    assert run(client, closed.url, 2, tokens["play"])[0] == 0  # enough, once the study is there
    status, _, err = run(client, closed.url, 2, tokens["read"])
    assert status == 1
    assert "token 'read' has the right read" in err
    assert played(closed.store) == 4


def test_a_service_killed_in_the_middle(file: str) -> None:
    """Nothing is lost, and nothing is played twice."""
    client = runnable("client.js")
    with Serving(file) as running, start(client, running.url, 200) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it plays, and stops when nobody reads on
        running.kill()
        assert 1 < len(running.logged().splitlines()) < 400
        running.start()
        out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert out.count("price") == 199
    assert played(file) == 200
