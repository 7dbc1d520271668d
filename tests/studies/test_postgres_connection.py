"""A server that falls silent, a pooler in between, roles with defaults of their own."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

import dikin
from dikin import errors
from studies.adversity import insist
from studies.postgres import Server, unprivileged
from studies.small import fresh, rows_of, step

PATIENCE = 0.2
"""Seconds; a silent server is given half a second more."""


@pytest.fixture
def study(server: Server) -> Iterator[dikin.Study]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS silent CASCADE; CREATE SCHEMA silent")
    url = f"{server.url}&options=-csearch_path%3Dsilent"
    with dikin.Study(url, "a", fresh(), patience=PATIENCE) as opened:
        yield opened


def test_a_call_to_a_silent_server_ends(server: Server, study: dikin.Study) -> None:
    step(study)
    with server.frozen() as stopped:
        with pytest.raises(errors.StoreError, match=r"has not answered for 0\.7 seconds"):
            study.ask()
        with pytest.raises(errors.StoreError, match="is unavailable"):  # while connecting again
            study.ask()
        study.close()
        assert stopped, "it waited until the server went on"


def test_ctrl_c_while_the_server_is_silent(server: Server, study: dikin.Study) -> None:
    """It asks nobody to cancel anything, and ends long before its patience of ten minutes."""
    url, me = study._ledger.database.url, threading.main_thread().ident
    with dikin.Study(url, "a", patience=600) as patient, server.frozen() as stopped:
        threading.Timer(0.2, signal.pthread_kill, (me, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            patient.ask()
        assert stopped
    assert insist(study.ask).id <= 1  # the server may have written the first one meanwhile
    assert study.verify().rows <= 2


@contextmanager
def role(server: Server, options: str, *settings: str) -> Iterator[str]:
    """The URL of a role with these settings."""
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE other LOGIN {options}")  # type: ignore[arg-type]
        for setting in settings:
            admin.execute(f"ALTER ROLE other SET {setting}")  # type: ignore[arg-type]
        try:
            yield server.url.replace("dikin@", "other@")
        finally:
            admin.execute("DROP OWNED BY other")
            admin.execute("DROP ROLE other")


def test_a_server_without_a_free_place_is_tried_again(server: Server) -> None:
    """And if none becomes free, the error is ours and says why."""
    with (
        role(server, "CONNECTION LIMIT 0") as url,
        pytest.raises(errors.StoreError, match="too many connections for role"),
    ):
        dikin.Study(url, "a", fresh(), patience=PATIENCE)


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_turns_see_what_was_committed_whatever_the_role_prefers(server: Server, level: str) -> None:
    """At another level a turn would see the database as it was before it waited."""
    preferred = f"default_transaction_isolation = '{level}'", "synchronous_commit = off"
    with role(server, "SUPERUSER", *preferred) as url:
        with dikin.Study(url, "level", fresh()) as study:
            database = study._ledger.database
            database.begin()
            assert database.run("SHOW transaction_isolation") == [("read committed",)]
            assert database.run("SHOW synchronous_commit") == [("on",)]
            database.rollback()
            step(study)
            assert study.verify().rows == 2
        dikin.Study.delete(url, "level")


@pytest.mark.parametrize(
    ("settings", "more"),
    [(("client_encoding = 'SQL_ASCII'",), ""), ((), "&client_encoding=SQL_ASCII")],
    ids=["the role", "the URL"],
)
def test_text_is_text_in_whatever_encoding(
    server: Server, settings: tuple[str, ...], more: str
) -> None:
    with role(server, "SUPERUSER", *settings) as url:
        with dikin.Study(url + more, "Löhne", fresh(), client="Zürich") as study:
            query = study.ask()
            assert [each.client for each in study.open_queries] == ["Zürich"]
            study.tell(query, 0.5)
            assert study.verify().rows == 2
        dikin.Study.delete(url, "Löhne")


POOLER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")


@contextmanager
def pooled(server: Server) -> Iterator[str]:
    """PgBouncer in transaction mode before a server, with two connections for all clients."""
    settings = server.folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\npostgres = host={server.folder} user=dikin\n[pgbouncer]\n"
        f"unix_socket_dir = {server.folder}\nlisten_port = 6432\nauth_type = any\n"
        "pool_mode = transaction\ndefault_pool_size = 2\n"
    )
    command = [str(POOLER), str(settings)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd="/", **unprivileged())
    try:
        while not Path(server.folder, ".s.PGSQL.6432").exists():
            assert process.poll() is None
            time.sleep(0.01)
        yield f"{server.url}&port=6432"
    finally:
        process.terminate()
        process.wait()


def play_through(url: str, name: str) -> None:
    """Four clients; psycopg prepares what was run five times."""
    with ExitStack() as stack:
        studies = [stack.enter_context(dikin.Study(url, name, fresh())) for _ in range(4)]
        for _ in range(8):
            for study in studies:
                step(study)
        assert studies[0].verify().rows == len(rows_of(url, name)) == 64


@pytest.mark.skipif(POOLER is None, reason="apt-get install pgbouncer")
def test_a_pooler_that_gives_each_transaction_another_connection(server: Server) -> None:
    with pooled(server) as url:
        play_through(url, "pooled")
    dikin.Study.delete(server.url, "pooled")
