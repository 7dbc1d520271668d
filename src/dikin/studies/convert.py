"""Studies of version 8, in the tables 2, become those of today.

Their rows are facts too: every trial that was asked is opened again, every answer is told again,
and today's tuner learns from them. Ids, times, clients and keys stay. The old tables stay as they
are. The version that wrote them refuses to open them.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

from dikin.errors import BusyError
from dikin.studies.database import Database, Row
from dikin.studies.fold import text_of
from dikin.studies.log import Log, create_tables
from dikin.tuning.space import Space
from dikin.tuning.tuner import Tuner

VERSION = 8  # the version of states that is converted
LONGEST = 600.0  # seconds to wait for another client that converts
AT_ONCE = 500  # rows with one seal
UNIT = "\x1f"

logger = logging.getLogger("dikin")

OldRow = tuple[Any, ...]
"""Number, kind, query, client, time, body, seal."""


def convert(database: Database) -> None:
    """Convert the studies of a database, or wait while another client does, for ten minutes."""
    deadline, waits = time.monotonic() + LONGEST, False
    while True:
        try:
            return _convert_all(database)
        except BusyError:
            if time.monotonic() > deadline:
                raise
            if not waits:
                logger.warning("%s: waiting while another client converts it", database.name)
            waits = True


def _convert_all(database: Database) -> None:
    with database.transaction():
        if database.run("SELECT version FROM dikin_version") != [(2,)]:
            return  # another client was first
        studies = database.run("SELECT id, name FROM dikin_studies ORDER BY id")
        create_tables(database)
        for id, name in studies:
            _convert(database, id, Log(database, name))
    logger.warning("%s: %d studies of version 8 were converted", database.name, len(studies))


def _convert(database: Database, id: int, log: Log) -> None:
    sql = "SELECT number, seal, state FROM dikin_snapshots WHERE study = ? ORDER BY number LIMIT 1"
    first, seal, text = database.run(sql, (id,))[0]
    old = json.loads(text)
    rows = list(_intact(database, id, log.name, first, seal))
    learner, open_asks = old["learner"], old["asked"]
    is_tuner = "tuner" in learner and old.get("version") == VERSION
    tuner = _earlier_tuner(learner) if is_tuner else None
    if tuner is not None:
        rounds = int(learner["rounds"])
        content = text_of(tuner.state_in_study(log.name) | {"rounds": rounds}, rounds=rounds)
    else:
        content = text_of(
            None,
            why=f"this is the study of a bare learner ({learner.get('learner')}), or of a tuner of "
            "a version before 8: no tuner continues it. Its rows can be read: dikin study history "
            f"{log.name}",
        )
    keys = dict[int, str]()
    if database.has_table("dikin_keys"):  # of several under one key, each has a part of it
        sql = "SELECT name, query FROM dikin_keys WHERE study = ?"
        keys = {query: name for name, query in database.run(sql, (id,)) if UNIT not in name}
    records = list(_records(tuner, open_asks, rows, keys))
    log.create(content, -len(records) - 1)
    for place in range(0, len(records), AT_ONCE):
        database.append(log.study, records[place : place + AT_ONCE], log.head()[1])
    ids = [row[2] for row in rows if row[1] == "ask"] + [int(ask) for ask in open_asks]
    last = max([int(learner.get("next", 0)) - 1, *ids])
    skip = Row("skip", json.dumps({"converted": len(rows)}))
    database.append(log.study, [skip], log.head()[1], jump=last + 1)


def _intact(database: Database, id: int, name: str, n: int, seal: str) -> Iterator[OldRow]:
    """Yield the old rows up to the first that was altered."""
    sql = (
        "SELECT number, kind, query, client, time, body, seal FROM dikin_events WHERE study = ? "
        "AND number > ? ORDER BY number"
    )
    for row in database.run(sql, (id, n)):
        content = "\n".join(map(str, (seal, *row[:-1])))
        if blake2b(content.encode(), digest_size=16).hexdigest() != row[-1]:
            logger.error(
                "study %r in %s was altered or damaged at row %d: it was converted up to there. "
                "The rows as they were are in the table dikin_events",
                *(name, database.name, row[0]),
            )
            return
        seal = row[-1]
        yield row


def _records(
    tuner: Tuner | None, open_asks: dict[str, Any], rows: list[OldRow], keys: dict[int, str]
) -> Iterator[Row]:
    """Yield the rows of today for those of an old study, and for its open trials before them."""
    told = {row[2]: json.loads(row[5]) for row in rows if row[1] == "tell"}
    asked = [
        (0, "ask", int(id), who, at, f'{{"point": {point}}}', "")
        for id, (who, at, point, *_) in open_asks.items()
    ]
    for _, kind, query, who, at, text, _ in asked + rows:
        body, client = json.loads(text), who.rpartition("#")[0]
        if kind == "ask":
            fact = body if tuner is None else _earlier_fact(tuner, body, told.get(query, {}))
            context = _plain_values(body.get("context")) or None
            fact = {"id": query, "for": [context, None, None]} | fact
            yield Row("ask", json.dumps(fact), None, keys.get(query), client, at)
        elif kind == "tell":
            body["paused"] = bool(body.pop("held", False))
            body.setdefault("value", body.get("loss"))
            body.setdefault("expected", None)
            yield Row("tell", json.dumps(body), query, None, client, at)
        elif kind == "forget":
            yield Row("forget", "{}", query, None, client, at)
        elif kind in ("hold", "resume"):
            name = "pause" if kind == "hold" else kind
            yield Row(name, "{}", None, None, client, at)


def _earlier_tuner(state: dict[str, Any]) -> Tuner:
    space, learner = Space.from_spec(state["tuner"]), state["learner"]["arguments"]
    maximize, contexts = bool(state["tuner"]["maximize"]), state["contexts"] or {}
    ends, compared = learner["loss_range"], state["comparison"]
    if ends is not None and maximize:
        ends = [-ends[1], -ends[0]]
    options: dict[str, Any] = {}
    if compared is not None:
        control = space.params(np.array(compared["control"], dtype=float))
        guard = compared["guard"] and compared["guard"]["limit"]
        holdback = compared["estimate"]["holdback"]
        options = {"holdback": holdback, "control": control, "guard": guard}
    gone = {
        "separable": state["tuner"].get("separable") or None,
        "memory": None if learner["memory"] == "auto" else learner["memory"],
        "budget": compared and compared.get("budget"),
    }
    for name, value in gone.items():
        if value is not None:
            logger.warning("the option %s=%s of a tuner of version 8 is left out", name, value)
    declared = {name: kind for name, kind in state["declared"].items() if name not in contexts}
    return Tuner(
        space.parameters,
        constraints=space.constraints,
        maximize=maximize,
        context=contexts or None,
        covariates=declared or None,
        value_range=None if ends is None else tuple(ends),
        smoothness=learner["smoothness"],
        lipschitz=learner["lipschitz"],
        **options,
    )


def _earlier_fact(tuner: Tuner, asked: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a trial from the rows that asked and told it."""
    held = bool(told.get("held"))
    fact = {
        "point": asked["point"],
        "expected": told.get("expected"),
        "paused": held,
        "covariates": _plain_values(asked.get("covariates")),
        "context": _plain_values(asked.get("context")),
        "held_back": bool(told.get("held_back")),
        "play": None,
        "center": told.get("center", asked["point"]),
    }
    return fact | ({} if tuner.control is None else {"control": told.get("expected_control")})


def _plain_values(values: Any) -> dict[str, Any]:
    """Return contexts or covariates as they are written today."""
    return dict((values or {}).get("items", values or {}))
