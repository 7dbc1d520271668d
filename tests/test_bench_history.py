"""benchmarks/history.csv: what `make bench` adds to it, and reads from it."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def modules() -> Iterator[tuple[Any, Any]]:
    """`history` and `timing`, which are scripts and no part of a package."""
    sys.path.insert(0, str(BENCHMARKS))
    yield import_module("history"), import_module("timing")
    sys.path.remove(str(BENCHMARKS))
    del sys.modules["history"], sys.modules["timing"]


@pytest.fixture
def history(modules: tuple[Any, Any]) -> Any:
    return modules[0]


@pytest.fixture
def rows(modules: tuple[Any, Any]) -> list[Any]:
    row = modules[1].Row
    return [
        row("ask, ball", "10 us", "loop, 5 us", 2.0, "<= 2"),
        row('a "quoted", odd one', "1 s", "", 3.5, "<= 2"),
        row("not installed", "", "pip install it"),
    ]


def run(history: Any, processor: str = "Abacus 3000", cores: str = "2") -> Any:
    return history.Run("2030-01-31T10:00Z", "abc", "1.0.0", "3.13.1", processor, cores)


def lines(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_runs_are_added_one_after_another(history: Any, rows: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    for count in (1, 2):
        history.append(path, run(history), "0.02", rows)
        assert len(lines(path)) == count * len(rows)
    first = lines(path)[0]
    assert tuple(first) == history.COLUMNS
    assert (first["ratio"], first["met"]) == ("2", "yes")
    assert [line["met"] for line in lines(path)[:3]] == ["yes", "no", ""]
    assert lines(path)[1]["what"] == 'a "quoted", odd one'


def test_only_calm_runs_on_the_same_kind_of_machine_count(
    history: Any, rows: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "history.csv"
    assert history.earlier(path, run(history)) == {}
    history.append(path, run(history), "0.02", rows)
    history.append(path, run(history), "", [rows[0]._replace(ratio=4.0)])
    history.append(path, run(history, processor="Other"), "0.00", [rows[0]._replace(ratio=90.0)])
    history.append(path, run(history, cores="64"), "0.00", [rows[0]._replace(ratio=80.0)])
    history.append(path, run(history), "0.90", [rows[0]._replace(ratio=70.0)])  # others' machine
    found = history.earlier(path, run(history))
    assert found == {"ask, ball": [2.0, 4.0], 'a "quoted", odd one': [3.5]}
    assert history.usual(found["ask, ball"]) == "3 (2)"
    assert history.usual([]) == ""


def test_a_run_that_is_killed_while_it_is_added_leaves_the_file(
    history: Any, rows: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.csv"
    history.append(path, run(history), "0.02", rows)
    before = path.read_bytes()

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", killed)
        with pytest.raises(KeyboardInterrupt):
            history.append(path, run(history), "0.02", rows)
    assert path.read_bytes() == before

    def plainly(path: Path, content: bytes) -> None:
        """A mutant: it writes into the file itself, and is killed half-way."""
        path.write_bytes(content[: len(content) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(history, "replace_file", plainly)
    with pytest.raises(KeyboardInterrupt):
        history.append(path, run(history), "0.02", rows)
    assert path.read_bytes() != before


@pytest.mark.parametrize(("used", "own", "share"), [(20, 10, "0.50"), (10, 10, "0.00")])
def test_what_others_took(
    history: Any, used: float, own: float, share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten seconds of two cores, of which this process had `own` seconds and all had `used`."""
    times = iter([(100.0, 5.0, 1000.0), (100.0 + used, 5.0 + own, 1010.0)])
    monkeypatch.setattr(history.Others, "_now", staticmethod(lambda: next(times)))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert history.Others().share() == share


def test_where_the_system_does_not_tell(history: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"(\d+\.\d\d)?", history.Others().share())
    monkeypatch.setattr(history.sys, "platform", "other")
    assert history.Others().share() == ""


def test_nothing_private_is_kept(history: Any) -> None:
    import getpass
    import socket

    now = history.this_run()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", now.date)
    assert re.fullmatch(r"([0-9a-f]{10}\+?)?", now.commit)
    assert now.processor
    for private in (socket.gethostname(), getpass.getuser(), str(Path.home())):
        assert private not in now


def test_the_file_that_is_kept_can_be_read(history: Any) -> None:
    if not history.HISTORY.exists():
        pytest.skip("benchmarks/history.csv: make bench was not run")
    kept = lines(history.HISTORY)
    assert kept
    assert tuple(kept[0]) == history.COLUMNS
    assert all(None not in line and None not in line.values() for line in kept)
