"""Four clients play one study and are killed at random; then all must add up (`make kills`)."""

import json
import os
import random
import signal
import time
import warnings
from collections import Counter
from contextlib import closing
from math import sin
from pathlib import Path
from typing import Any, NamedTuple

import dikin
from dikin.errors import BusyError, StoreError
from dikin.studies.arguments import ANSWER, answer_of
from studies.small import folded, state_of

CLIENTS = 4
NAME = "kills"


def tuner() -> dikin.Tuner:
    speed = {"threads": dikin.Integer(1, 9, start=6), "wait": dikin.Real(0.001, 1, log=True)}
    worth = {"holdback": 0.2, "guard": 0.5}
    known = {"context": {"region": ["eu", "us"]}, "covariates": {"load": float}}
    limits = ["p99_ms <= 200", "failed <= 0.5"]
    return dikin.Tuner(speed, maximize=True, limits=limits, seed=11, **worth, **known)


def value_at(query: int) -> float:
    return 0.9 * sin(1.7 * query)


def asked_with(chance: random.Random) -> dict[str, Any]:
    """What is known of a round beforehand."""
    return {
        "context": {"region": chance.choice(["eu", "us"])},
        "covariates": {"load": chance.random()},
    }


def told_with(query: int) -> dict[str, Any]:
    """Return the arguments of `tell`: some trials fail, some have a covariate."""
    told: dict[str, Any] = {"value": None, "metrics": None, "covariates": None, "failed": False}
    if query % 7 == 3:
        return told | {"failed": True}
    told |= {"value": value_at(query), "metrics": {"p99_ms": 150.0 + query % 60}}
    return told if query % 3 else told | {"covariates": {"late": sin(query)}}


def client(url: str, acks: Path, seed: int) -> None:
    """Ask, tell and forget until killed or told to stop, with up to three queries at a time."""
    warnings.simplefilter("ignore")
    chance, mine = random.Random(seed), list[Any]()
    with acks.open("a") as file:

        def acknowledged(*what: Any) -> None:
            file.write(json.dumps(what) + "\n")
            file.flush()
            os.fsync(file.fileno())

        def insist(call: Any, *arguments: Any, **named: Any) -> Any:
            """Until it works; waits that somebody might notice are on record."""
            while True:
                start = time.monotonic()
                try:
                    return call(*arguments, **named)
                except BusyError:
                    acknowledged("busy")
                except StoreError as away:  # the server was crashed
                    acknowledged("away", str(away)[:200])
                    time.sleep(0.02)
                finally:
                    end = time.monotonic()
                    if end - start > 0.02:
                        acknowledged("wait", start, end, call.__name__)

        def opening() -> dikin.Study:
            return dikin.Study(url, NAME)

        study = insist(opening)
        while True:
            if not mine or (len(mine) < 3 and chance.random() < 0.4):
                known = asked_with(chance)
                query = insist(study.ask, **known)
                mine.append(query)
                acknowledged("ask", query.id, {"point": query.point.tolist(), **known})
                continue
            if chance.random() < 0.05:
                switch = study.resume if insist(is_paused, study) else study.pause
                insist(switch)
                acknowledged(switch.__name__)
            query = mine.pop(chance.randrange(len(mine)))
            if chance.random() < 0.1:
                insist(study.forget, query)
                acknowledged("forget", query.id)
            else:
                known = told_with(query.id)
                insist(study.tell, query, **known)
                acknowledged("tell", query.id, known)


def is_paused(study: dikin.Study) -> bool:
    return study.paused


class Report(NamedTuple):
    """What a game came to."""

    kills: int
    crashes: int
    acknowledged: Counter[str]
    longest_wait: float


def spawn(url: str, folder: Path, serial: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        client(url, folder / f"acks-{serial}", serial)
    except BaseException as error:
        (folder / f"error-{serial}").write_text(f"{type(error).__name__}: {error}")
    finally:
        os._exit(1)


def wait_until_it_plays(folder: Path, serial: int) -> None:
    """On a busy machine a client may take long to begin: to kill it before would try nothing."""
    acks, trouble = folder / f"acks-{serial}", folder / f"error-{serial}"
    while not trouble.exists() and not (acks.exists() and acks.stat().st_size):
        time.sleep(0.002)


def game(
    url: str,
    folder: Path,
    kills: int,
    *,
    store: str | None = None,
    seed: int = 0,
    crashes: int = 0,
    server: Any = None,
) -> Report:
    """Play, kill, and check; `store` is where the service at `url` keeps the study."""
    chance = random.Random(seed)
    dikin.Study(url, NAME, tuner()).close()
    children = {spawn(url, folder, i): i for i in range(CLIENTS)}
    absences: list[tuple[float, float]] = []
    serial, due = CLIENTS, [kills * (i + 1) // (crashes + 1) for i in range(crashes)]
    for kill in range(kills):
        time.sleep(chance.uniform(0.0, 0.12))
        victim = chance.choice(list(children))
        wait_until_it_plays(folder, children[victim])
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        del children[victim]
        children[spawn(url, folder, serial)] = serial
        serial += 1
        if kill in due:
            gone = time.monotonic()
            server.crash(signal.SIGKILL if kill % 2 else signal.SIGQUIT)
            server.start()
            absences.append((gone, time.monotonic()))
    time.sleep(0.3)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    troubles = [path.read_text() for path in folder.glob("error-*")]
    assert not troubles, troubles
    return check(store or url, folder, kills, absences)


def rows_of(url: str) -> list[tuple[Any, ...]]:
    """Number, kind, trial and body of each row by plain SQL, without any code of the package."""
    sql = "SELECT n, kind, coalesce(ask, n), body FROM dikin_row ORDER BY n"
    if url.startswith("postgresql"):
        import psycopg

        with psycopg.connect(url) as server:
            return server.execute(sql).fetchall()
    import sqlite3

    with closing(sqlite3.connect(url)) as file:
        return file.execute(sql).fetchall()


def settled_rows(url: str) -> list[tuple[Any, ...]]:
    """The journal once nothing is added: a service may still carry out a request of the dead."""
    rows = rows_of(url)
    while True:
        time.sleep(0.5)
        before, rows = rows, rows_of(url)
        if rows == before:
            return rows


def acknowledgements(folder: Path) -> list[list[Any]]:
    found = []
    for path in sorted(folder.glob("acks-*")):
        lines = path.read_text().split("\n")
        found += [json.loads(line) for line in lines[:-1]]  # the last may be torn
    return found


def check(url: str, folder: Path, kills: int, absences: list[tuple[float, float]]) -> Report:
    warnings.simplefilter("ignore")
    rows, acks = settled_rows(url), acknowledgements(folder)
    journal = {(kind, query): json.loads(body) for _, kind, query, body in rows}
    assert len(journal) == len(rows), "something is in the journal twice"
    closed = Counter(query for _, kind, query, _ in rows if kind in ("tell", "forget"))
    assert all(times == 1 for times in closed.values()), "a query was closed twice"
    given = Counter(ack[1] for ack in acks if ack[0] == "ask")
    assert all(times == 1 for times in given.values()), "a query was given to two clients"
    for what, *told in acks:
        if what == "ask":
            kept = journal.get(("ask", told[0]))
            assert kept is not None, f"query {told[0]} was lost"
            assert {part: kept[part] for part in told[1]} == told[1]
        elif what == "tell":
            kept = journal.get(("tell", told[0]))
            assert kept is not None, f"the answer to query {told[0]} was lost"
            assert {part: kept[part] for part in ANSWER if part in kept} == answer_of(**told[1])
        elif what == "forget":
            assert ("forget", told[0]) in journal, f"query {told[0]} was forgotten in vain"
    with dikin.Study(url, NAME) as study:
        assert study.verify().rows == len(rows)
        assert state_of(study) == state_of(folded(url, NAME))
        left = study.open_queries
        asked = {query for _, kind, query, _ in rows if kind == "ask"}
        assert {query.id for query in left} == asked - set(closed)
        for query in left:
            assert query.point.tolist() == journal["ask", query.id]["point"]
        close_queries(study, left)
    counts = Counter(ack[0] for ack in acks if ack[0] != "wait")
    longest = max((end - start for start, end in waits(acks, absences)), default=0.0)
    return Report(kills, len(absences), counts, longest)


def waits(acks: list[list[Any]], absences: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Begin and end of the waits for a turn that no absence of the server explains."""
    found = [(ack[1], ack[2]) for ack in acks if ack[0] == "wait" and ack[3] != "opening"]
    return [
        (start, end)
        for start, end in found
        if not any(start < back and gone < end for gone, back in absences)
    ]


def close_queries(study: dikin.Study, left: list[Any]) -> None:
    """What the dead left open is answered or forgotten by another."""
    rounds = study.rounds
    for place, query in enumerate(left):
        if place % 2:
            study.forget(query)
        else:
            study.tell(query, **told_with(query.id))
    assert study.open_queries == []
    assert study.rounds == rounds + (len(left) + 1) // 2
