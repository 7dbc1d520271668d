"""The contract of the log in both databases: rows are appended, sealed, and counted once."""

import random
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from dikin import errors
from dikin.studies import log as logs
from dikin.studies.database import ANY, Row, Taken, digest_of, open_database, seal_after
from dikin.studies.log import Damage, Log, Snapshot, create_tables


class Model:
    """A log without a database."""

    def __init__(self, seal: str) -> None:
        self.rows: list[Row] = []
        self.n, self.seal, self.epoch = -1, seal, 0

    def append(
        self, rows: list[Row], epoch: int, heads: tuple[int, int], jump: int
    ) -> tuple[int, str] | None:
        if epoch != self.epoch or self.n not in range(heads[0], heads[1] + 1):
            return None
        closed = {row.ask for row in self.rows if row.ask is not None}
        keys = {row.key for row in self.rows if row.key is not None}
        if any(row.ask in closed or row.key in keys for row in rows):
            raise Taken
        first = self.n + 1 + jump
        self.seal = seal_after(self.seal, first, digest_of(rows))
        self.rows += [row._replace(n=n, seal=self.seal) for n, row in enumerate(rows, first)]
        self.n, self.epoch = first + len(rows) - 1, self.epoch + (rows[0].kind == "pause")
        return first, self.seal


@pytest.fixture
def log(url: str) -> Iterator[Log]:
    with closing(open_database(url, 5.0)) as database:
        database.connect()
        log = Log(database, "a")
        with database.transaction():
            create_tables(database)
            assert log.create('{"of": "a"}')
        yield log


def another(log: Log) -> Log:
    found = Log(log.database.another(), log.name)
    assert found.find()
    return found


def read(log: Log) -> list[Row]:
    first = log.beginning()
    return [row for group in log.rows(first.n, first.seal) for row in group]


def ask(text: str = "{}", **parts: Any) -> Row:
    return Row("ask", text, who="me", at=7, **parts)


def append(log: Log, *rows: Row, epoch: int = 0) -> Any:
    return log.database.append(log.study, rows, epoch)


def test_what_is_appended_is_read(log: Log) -> None:
    """A walk of appends that fit, come late, are repeated, jump, and raise the epoch."""
    chance, model = random.Random(5), Model(log.beginning().seal)
    for step in range(120):
        seen, slack = model.n - chance.choice([0, 0, 1, 2]), chance.choice([None, 0, 1, 3])
        heads = ANY if slack is None else (seen, seen + slack)
        rows = [
            Row(
                "pause" if step % 13 == 3 else chance.choice(["ask", "tell"]),
                f'{{"text": "{step} é \\\\u0000"}}',
                chance.choice([None, chance.randrange(40)]),
                chance.choice([None, f"key {chance.randrange(40)}"]),
                "wer\u00a0auch",
                step,
            )
            for _ in range(chance.choice([1, 1, 2, 5]))
        ]
        if len({row.ask for row in rows}) < len(rows) or len({row.key for row in rows}) < len(rows):
            rows = rows[:1]
        more = model.epoch - (step % 17 == 9), heads, 100 if step % 41 == 5 else 0
        outcomes = []
        for target in (model.append, partial(log.database.append, log.study)):
            try:
                outcomes.append(target(rows, *more))
            except Taken:
                outcomes.append("taken")
        assert outcomes[0] == outcomes[1], step
    assert read(log) == model.rows
    assert log.head() == (model.n, model.epoch)
    assert len(model.rows) > 60
    for row in model.rows[::7]:
        assert log.row(n=row.n) == row
        if row.ask is not None:
            assert log.row(ask=row.ask) == row
        if row.key is not None:
            assert log.row(key=row.key) == row
    assert (log.row(n=10**6), log.row(ask=10**6), log.row(key="none")) == (None, None, None)


def test_several_pages_and_parts_of_a_log(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "PAGE", 3)
    for count in (1, 2, 4, 1, 7, 3):
        append(log, *[ask()] * count)
    rows, first = read(log), log.beginning()
    assert [row.n for row in rows] == list(range(18))
    groups = list(log.rows(first.n, first.seal))
    assert [len(group) for group in groups] == [1, 2, 4, 1, 7, 3]
    assert [row for group in log.rows(2, rows[2].seal, 6) for row in group] == rows[3:7]
    with pytest.raises(Damage):  # a seal in the middle of a group begins no other
        list(log.rows(4, rows[4].seal))


def test_a_transaction_that_fails_leaves_nothing(log: Log) -> None:
    def fails() -> None:
        with log.database.transaction():
            append(log, ask())
            raise errors.NumericalError

    with pytest.raises(errors.NumericalError):
        fails()
    assert read(log) == []
    append(log, ask(key="k"), ask())
    with pytest.raises(Taken):
        append(log, ask(), ask(key="k"))
    assert [row.n for row in read(log)] == [0, 1]
    assert append(log, ask()) is not None


def test_a_study_that_is_gone_takes_no_rows(log: Log) -> None:
    mine = another(log)
    with log.database.transaction():
        log.delete()
    assert append(mine, ask()) is None
    for call in (mine.head, lambda: mine.page(-1), mine.beginning):
        with pytest.raises(errors.UnknownStudyError, match="deleted while it was open"):
            call()
    assert logs.names(log.database) == []
    with log.database.transaction():
        assert log.create("{}")
        assert not log.create("{}")
    mine.database.close()
    (again,) = log.database.run("SELECT id FROM dikin_study")
    assert again[0] == log.study > mine.study


DAMAGES = {
    "a body": "UPDATE dikin_row SET body = '{\"x\": 1}' WHERE n = 5",
    "a client": "UPDATE dikin_row SET who = 'you' WHERE n = 5",
    "a time": "UPDATE dikin_row SET at = at + 1 WHERE n = 5",
    "a kind": "UPDATE dikin_row SET kind = 'tell' WHERE n = 5",
    "a trial": "UPDATE dikin_row SET ask = 1 WHERE n = 5",
    "a key": "UPDATE dikin_row SET key = 'k' WHERE n = 5",
    "a seal": "UPDATE dikin_row SET seal = 'x' WHERE n = 5",
    "a number": "UPDATE dikin_row SET n = 50 WHERE n = 5",
    "a missing row": "DELETE FROM dikin_row WHERE n = 5",
    "a row too many": "INSERT INTO dikin_row SELECT study, 55, kind, ask, key, who, at, body, seal "
    "FROM dikin_row WHERE n = 5",
    "swapped rows": "UPDATE dikin_row SET body = CASE n WHEN 5 THEN (SELECT body FROM dikin_row "
    "WHERE n = 6) ELSE (SELECT body FROM dikin_row WHERE n = 5) END WHERE n IN (5, 6)",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_alteration_is_noticed_and_rewound(log: Log, damage: str) -> None:
    """Rows 0 to 4 are intact, each with a seal of its own; 5 and 6 have one."""
    for i in range(5):
        append(log, ask(f'{{"i": {i}}}'))
    append(log, ask('{"i": 5}'), ask('{"i": 6}'))
    whole = read(log)
    log.database.run(DAMAGES[damage])
    first, intact = log.beginning(), list[Row]()

    def look() -> None:
        for group in log.rows(first.n, first.seal):
            intact.extend(group)

    with pytest.raises(Damage, match="dikin study rewind a") as caught:
        look()
    assert caught.value.n == intact[-1].n == 4
    assert log.rewind() > 0
    *rest, skip = read(log)
    assert (rest, skip.kind) == (whole[:5], "skip")
    assert skip.n > 6  # no number is given again
    assert append(log, ask(), epoch=log.head()[1]) is not None


def test_a_beginning_that_was_altered_is_refused(log: Log) -> None:
    log.database.run("UPDATE dikin_snapshot SET state = replace(state, 'of', 'no')")
    with pytest.raises(errors.StateError, match="its beginning is missing or not the one"):
        log.beginning()


def test_a_trimmed_log_begins_later(log: Log) -> None:
    for _ in range(6):
        append(log, ask())
    rows = read(log)
    assert log.trim(Snapshot(3, rows[3].seal, '{"of": "b"}'), -1) == 4
    assert log.beginning().n == 3
    assert log.beginning().seal == rows[3].seal
    assert read(log) == rows[4:]
    with pytest.raises(errors.StateError, match="trimmed by another client meanwhile"):
        log.trim(Snapshot(4, rows[4].seal, "{}"), -1)
    assert read(log) == rows[4:]


def test_a_snapshot_is_replaced_by_a_newer_one_of_its_version(log: Log) -> None:
    assert (log.snapshot(), log.page(-1).saved) == (None, -1)
    later = another(log)
    later.version += 1
    for n, place in ((4, log), (8, log), (6, log), (3, later)):
        place.save_snapshot(Snapshot(n, f"seal {n}", f"state {n}"))
    assert log.snapshot() == (8, "seal 8", "state 8")
    assert later.snapshot() == (3, "seal 3", "state 3")
    assert (log.page(-1).saved, later.page(-1).saved) == (8, 3)
    log.database.run("UPDATE dikin_snapshot SET state = 'x' WHERE n = 8")
    assert log.snapshot() is None  # a cache: it is made again
    later.database.close()
