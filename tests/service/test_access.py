"""Who may do what. `trial.py` sends every kind of token to every endpoint."""

import json
import secrets
import socket
import sqlite3
import time
from typing import Any

import pytest
from click.testing import CliRunner

import dikin
from dikin import errors
from dikin.cli import main
from dikin.service.tokens import TokenCheck, TokenStore
from service.serving import FRESH, TUNER, Serving, shop


def test_a_refusal_says_what_is_missing(guarded: Serving) -> None:
    right = guarded.tokens["admin"]
    for sent, status, words in (
        (None, 401, "needs a token"),
        (f"Bearer dikin_00000000_{secrets.token_urlsafe(32)}", 401, "not known to this service"),
        (f"Basic {right}", 401, "another word"),
        (f"Bearer {guarded.tokens['read']}", 403, "needs a token with the right play"),
        (f"Bearer {guarded.tokens['foreign']}", 403, "is for 'prices', not for 'shop'"),
        (f"Bearer {guarded.tokens['expired']}", 401, "token 'expired' is expired"),
        (f"Bearer {guarded.tokens['revoked']}", 401, "token 'revoked' is revoked"),
    ):
        headers = {} if sent is None else {"Authorization": sent}
        found = guarded.problem("POST", "/v1/studies/shop/ask", b"{", **headers)
        assert found[:2] == (status, "access"), sent
        assert words in found[2]


def test_only_what_a_token_covers_is_seen(guarded: Serving) -> None:
    token = guarded.token("one", "read", "prices", "gone")
    time.sleep(FRESH)
    seen = guarded.send("GET", "/v1/studies", token=token).content
    assert [study["name"] for study in seen["studies"]] == ["prices"]
    assert guarded.send("GET", "/v1/token", token=token).content == {
        "name": "one",
        "right": "read",
        "studies": ["prices", "gone"],
    }
    metrics = guarded.send("GET", "/metrics", token=token).content.decode()
    assert 'study="prices"' in metrics
    assert 'study="shop"' not in metrics
    _, code, detail = guarded.problem("GET", "/v1/studies/gone", token=token)
    assert code == "unknown_study"
    assert "shop" not in detail
    assert guarded.store not in detail


def test_a_token_is_revoked(guarded: Serving) -> None:
    store = TokenStore(guarded.store)
    revoked = store.create("short", "read")
    time.sleep(FRESH)
    assert guarded.send("GET", "/v1/token", token=revoked).status == 200
    store.revoke("short")
    time.sleep(FRESH)
    assert guarded.send("GET", "/v1/token", token=revoked).status == 401


def test_a_table_of_tokens_that_is_gone_opens_nothing(file: str) -> None:
    token = TokenStore(file).create("only", "admin")
    with Serving(file) as running:
        assert running.send("GET", "/v1/token", token=token).status == 200
        with sqlite3.connect(file) as database:
            database.execute("DROP TABLE dikin_tokens")
        database.close()
        time.sleep(FRESH)
        assert running.send("GET", "/v1/token").status == 401


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
def test_no_password_is_printed(url: str) -> None:
    store = url.replace("dikin@", "dikin:hush-hush@")
    done = CliRunner().invoke(main, ["token", "list", "--url", store])
    assert "has no tokens" in done.output
    made = CliRunner().invoke(main, ["token", "create", "a", "--url", store])
    assert "is in postgresql" in made.output
    TokenStore(store).revoke("a")
    with Serving(store) as running:
        said = running.said + running.logged()
    refused = CliRunner().invoke(main, ["serve", "--host", "0.0.0.0", "--url", store])
    for text in (done.output, made.output, said, refused.output):
        assert "hush-hush" not in text


def test_the_client_gives_its_token(guarded: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    with dikin.Study(guarded.url, "shop", token=guarded.tokens["play"]) as study:
        study.forget(study.ask())
        with pytest.raises(errors.AccessError, match="needs a token with the right admin"):
            dikin.Study.delete(guarded.url, "shop", token=guarded.tokens["play"])
    with pytest.raises(errors.AccessError, match="needs a token"):
        dikin.Study(guarded.url, "shop")
    with pytest.raises(errors.AccessError, match="not known to this service"):
        dikin.Study.names(guarded.url, token="dikin_a_b")
    monkeypatch.setenv("DIKIN_TOKEN", guarded.tokens["read"])
    assert dikin.Study.names(guarded.url) == ["prices", "shop"]
    with pytest.raises(errors.AccessError):
        dikin.Study.delete(guarded.url, "shop")


def test_without_tokens_only_this_machine_is_answered(service: Serving) -> None:
    assert service.send("GET", "/v1/token").content == {
        "name": None,
        "right": "admin",
        "studies": None,
    }
    status, _, detail = service.problem("GET", "/v1/studies", Via="1.1 proxy")
    assert (status, detail[:31]) == (403, "this service has no tokens, so ")
    own = service.url
    assert service.send("PUT", "/v1/studies/a", TUNER, Origin=own).status == 201
    assert service.send("GET", "/healthz", Host="studies.example.com").status == 200


def test_it_refuses_to_listen_beyond_this_machine(file: str) -> None:
    def serve() -> Any:
        return CliRunner().invoke(
            main, ["serve", "--url", file, "--host", "0.0.0.0", "--port", "0"]
        )

    done = serve()
    assert done.exit_code == 2
    assert "no valid token: anyone could use it" in done.stderr
    TokenStore(file).create("old", "admin")
    TokenStore(file).revoke("old")
    assert serve().exit_code == 2
    token = TokenStore(file).create("new", "read")
    with Serving(file, "--host", "0.0.0.0") as running:
        running.url = f"http://127.0.0.1:{running.port}"
        assert running.send("GET", "/v1/studies").status == 401
        assert running.send("GET", "/v1/studies", token=token).status == 200
        assert "put a proxy with TLS in front" in running.logged()


def test_the_last_token_revoked_opens_nothing(file: str) -> None:
    TokenStore(file).create("only", "admin")
    TokenStore(file).revoke("only")
    with Serving(file) as running:
        assert running.send("GET", "/v1/studies").status == 401


@pytest.mark.parametrize("store", ["/no/such/folder/x.db", "sqlite:////no/such/folder/x.db"])
def test_a_store_that_cannot_be(store: str) -> None:
    for words in (["serve"], ["token", "create", "a"]):
        done = CliRunner().invoke(main, [*words, "--url", store])
        assert done.exit_code == 2
        assert "there is no folder /no/such/folder" in done.output


def test_a_port_that_is_taken(file: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(main, ["serve", "--url", file, "--port", port])
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code == 2
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in done.output


def test_tokens_by_hand(url: str) -> None:
    def run(*words: str, status: int = 0) -> Any:
        done = CliRunner().invoke(main, ["token", *words, "--url", url])
        assert done.exit_code == status, done.output
        return done

    assert "has no tokens" in run("list").output
    made = run("create", "wall", "--study", "shop")
    (text,) = (line for line in made.output.splitlines() if line.startswith("dikin_"))
    assert "there is no study 'shop' yet" in made.output
    assert "token 'wall' (read, shop) is in " in made.output
    assert "the first token of this store" in made.output
    run("create", "robot", "--right", "play", "--days", "30")
    assert "valid token called 'wall'" in run("create", "wall", status=2).output
    wall, robot = run("list").stdout.splitlines()
    assert wall.split("\t")[1:4] == ["wall", "read", "shop"]
    assert wall.endswith("valid")
    assert robot.split("\t")[2:4] == ["play", "all studies"]
    assert "valid until" in robot
    assert text not in run("list").output
    run("revoke", "wall")
    assert "revoked" in run("list").stdout.splitlines()[0]
    assert "no valid token 'wall'; valid are: robot" in run("revoke", "wall", status=2).output
    run("create", "wall")  # the name is free again
    assert len(TokenStore(url).all()) == 3
    assert "1 to 150 printable" in run("create", "a\nb", status=2).output


def test_only_a_digest_is_kept(file: str) -> None:
    shop(file).close()
    text = TokenStore(file).create("wall", "read")
    secret = text.rpartition("_")[2] if text.count("_") == 2 else text.split("_", 2)[2]
    with sqlite3.connect(file) as database:
        dump = "\n".join(database.iterdump())
    database.close()
    assert secret not in dump
    token = TokenStore(file).all()[0]
    assert token.digest in dump
    assert TokenCheck([token]).access(f"Bearer {text}").name == "wall"


def test_the_log_has_no_secrets(guarded: Serving) -> None:
    secret = guarded.tokens["play"]
    guarded.send("POST", "/v1/studies/shop/ask", {"covariates": {"load": 31337.5}}, secret)
    guarded.send("GET", f"/v1/studies?token={secret}", token="dikin_mistyped_hush")
    guarded.send("GET", f"/v1/{secret}")
    for round in range(60):  # a few are far off, and the tuner says so
        id = guarded.send("POST", "/v1/studies/shop/ask", {}, secret).content["id"]
        value = 31337.5 if round % 4 == 3 else 5.0 + 0.1 * (round % 3)
        answer = {"id": id, "value": value}
        assert guarded.send("POST", "/v1/studies/shop/tell", answer, secret).status == 200
    text = guarded.logged()
    lines = [json.loads(line) for line in text.splitlines()]
    assert {"event": "warning of a study", "thread": "study shop"}.items() <= max(
        (line for line in lines if line["logger"] == "dikin"), key=lambda line: line["time"]
    ).items()
    asked = [line for line in lines if line.get("route") == "/v1/studies/{name}/ask"]
    assert {"time", "level", "event", "request", "method", "status", "milliseconds"} <= set(
        asked[-1]
    )
    assert asked[-1]["token"] == "play"
    assert asked[-1]["study"] == "shop"
    for hidden in (*guarded.tokens.values(), "hush", "31337", "Bearer"):
        assert hidden not in text
