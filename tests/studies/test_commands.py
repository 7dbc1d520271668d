"""`dikin study` with a tuner: flags, lines of JSON, and the other commands."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin.studies.commands import RANGE, by_name, parameter
from studies.small import command

PRICE = ("--param", "price=1:14:4")
FLAGS = (*PRICE, "--param", "ads=0:60:40", "--maximize", "--seed", "7")


def twin() -> dikin.Tuner:
    ranges = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}
    return dikin.Tuner(ranges, maximize=True, seed=7)


@pytest.fixture
def store(file: str) -> str:
    """A file with the study `prices` of a tuner."""
    assert command("create", "prices", *FLAGS, "--url", file).exit_code == 0
    return file


def test_where_studies_are(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, empty = "prices\t0 rounds\t0 open\n", str(tmp_path / "empty.db")
    monkeypatch.setenv("DIKIN_URL", store)
    assert command("list").output == listed
    assert command("list", "--url", empty).output.endswith(f"{empty} has no studies\n")


@pytest.mark.parametrize(
    ("params", "parameters"),
    [
        (["price=1:14:4"], {"price": dikin.Real(1, 14, start=4)}),
        ([" price = 1 : 14 "], {"price": dikin.Real(1, 14)}),
        (["rate=0.001:1:0.01:log"], {"rate": dikin.Real(0.001, 1, start=0.01, log=True)}),
        (["rate=1e-3:1:log"], {"rate": dikin.Real(0.001, 1, log=True)}),
        (["t=-5:5:-1.5"], {"t": dikin.Real(-5, 5, start=-1.5)}),
        (["level=1:9:6:int"], {"level": dikin.Integer(1, 9, start=6)}),
        (["level=1:9:int"], {"level": dikin.Integer(1, 9)}),
        (["n=1:512:32:int:log"], {"n": dikin.Integer(1, 512, start=32, log=True)}),
        (["codec=Choice(['a', 'b'])"], {"codec": dikin.Choice(["a", "b"])}),
        (["batch=Levels([16, 32], start=32)"], {"batch": dikin.Levels([16, 32], start=32)}),
        (["size = dikin.levels(['s', 'l'])"], {"size": dikin.Levels(["s", "l"])}),
        (["t=Real(-5, 5, -1.5)"], {"t": dikin.Real(-5, 5, start=-1.5)}),
        (
            ["a=0:1", "traffic=Shares(['old', 'new'], [0.9, 0.1])"],
            {"a": dikin.Real(0, 1), "traffic": dikin.Shares(["old", "new"], start=[0.9, 0.1])},
        ),
    ],
)
def test_flags_describe_parameters(params: list[str], parameters: dict[str, Any]) -> None:
    assert by_name("--param", tuple(params), RANGE, parameter) == parameters


def test_a_study_by_flags(store: str) -> None:
    with dikin.Study(store, "prices") as study:
        assert study.state() == twin().state_in_study("prices")
        assert not study.created
    again = command("create", "prices", *FLAGS, "--url", store)
    assert "existed with this tuner and 0 rounds: nothing was changed" in again.output
    more = ("--constraint", "ads + 3*staff <= 100", "--limit", "p99_ms <= 200")
    ranges = ("--param", "ads=0:60", "--param", "staff=0:30")
    made = command("create", "plan", *ranges, *more, "--url", store)
    assert made.output.startswith("created study 'plan' in ")
    assert made.exit_code == 0, made.output
    with dikin.Study(store, "plan") as study:
        assert study.space is not None
        assert study.space.constraints == ["ads + 3*staff <= 100"]
        assert study.status().limits == ["p99_ms <= 200"]


def test_a_range_of_values_by_flags(file: str) -> None:
    flags = ["--param", "a=1:2", "--maximize", "--value-range", "-3", "8.5", "--url", file]
    assert command("create", "ranged", *flags).exit_code == 0
    flags[4] = "-4"
    assert "value_range [-3.0, 8.5]" in command("create", "ranged", *flags).output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "a tuner needs its parameters, each as --param NAME=LOW:HIGH"),
        (
            ("--param", "a=1:2", "--value-range", "1", "0"),
            "value_range must be finite with low < high",
        ),
        (("--param", "price"), "--param wants NAME=LOW:HIGH[:START]"),
        (("--param", "price=1:2:1:2"), "got 'price=1:2:1:2'"),
        (("--param", "price=1:ten"), "price: high must be a number, got 'ten'"),
        (
            ("--param", "price=1:nan"),
            "price: high must be a finite number between -1e+100 and 1e+100, got nan",
        ),
        (
            ("--param", "level=1:9.5:int"),
            "level: high of an Integer must be a whole number, got 9.5",
        ),
        (("--param", "batch=Lvels([16, 32])"), "batch: no parameter kind is called 'lvels'. Did"),
        (("--param", "batch=Levels([16, 32)"), "batch: wanted a call such as Levels("),
        (("--param", "batch=Levels(x for x in y)"), "batch: malformed node"),
        (("--param", "batch=Levels([1, 2], **{})"), "batch: "),
        (("--param", "batch=__import__('os').system('true')"), "batch: wanted a call such as"),
        (("--param", "a=1:2", "--param", "a=1:3"), "'a' is given twice"),
        (("--param", "ads=0:1", "--constraint", "adds <= 1"), "Did you mean 'ads'?"),
        ((*PRICE, "--limit", "a"), "a limit is a text such as"),
        ((*PRICE, "--context", "region"), "--context wants NAME="),
        ((*PRICE, "--context", "=eu,us"), "--context wants NAME="),
        ((*PRICE, "--context", "region=eu"), "at least two different words"),
        ((*PRICE, "--context", "load=0.."), "the high end of load must be a number"),
        ((*PRICE, "--context", "load=1..0"), "two ends"),
        ((*PRICE, "--context", "hour=cycle:day"), "the period of hour"),
        ((*PRICE, "--context", "a=x,y", "--context", "a=1..2"), "'a' is given twice"),
        ((*PRICE, "--limit", "p99_ms < 200"), "must compare with <= or >="),
        ((*PRICE, "--covariate", "hour=cycle:no"), "a number"),
        ((*PRICE, "--covariate", "kind=a,,b"), "--covariate wants"),
        ((*PRICE, "--guard", "0.02"), "needs a holdback"),
        ((*PRICE, "--holdback", "5"), "write 0.05"),
        ((*PRICE, "--holdback", "0.1", "--control", "price"), "NAME=VALUE"),
        ((*PRICE, "--holdback", "0.1", "--control", "prise=4"), "price"),
    ],
)
def test_a_description_that_is_none(file: str, arguments: tuple[str, ...], words: str) -> None:
    made = command("create", "prices", *arguments, "--url", file)
    assert made.exit_code == 2
    assert words in made.output
    assert made.output.startswith("dikin: ")
    assert "Traceback" not in made.output
    assert not Path(file).exists()


def test_the_commands(store: str) -> None:
    with dikin.Study(store, "prices", client="worker") as study:
        for t in range(12):
            study.tell(study.ask(), 500.0 + t % 3)
        waiting = study.ask()
        table = study.history()
    shown = command("show", "prices", "--url", store)
    assert shown.exit_code == 0, shown.output
    lines = {line.split()[0]: line for line in shown.output.splitlines()}
    assert {"study", "price", "ads"} <= lines.keys()
    assert lines["rounds"].split()[1] == "12,"
    assert command("list", "--url", store).output == "prices\t12 rounds\t1 open\n"
    listed = command("open", "prices", "--url", store).output.strip().split("\t")
    assert listed[:2] == ["24", "worker"]
    assert json.loads(listed[3]) == waiting.params
    assert command("pause", "prices", "--url", store).output.startswith("paused")
    with dikin.Study(store, "prices") as study:
        assert study.paused
        assert str(study.recommend()) in command("recommend", "prices", "--url", store).output
    assert command("resume", "prices", "--url", store).exit_code == 0
    found = list(csv.reader(io.StringIO(command("export", "prices", "--url", store).output)))
    assert tuple(found[0]) == table.dtype.names
    assert found[3][:4] == ["3", *(repr(float(table[n][2])) for n in ("price", "ads", "value"))]
    assert command("verify", "prices", "--url", store).output.startswith("27 rows are intact")
    assert command("rewind", "prices", "--url", store).output.startswith("all rows are intact")
    assert command("trim", "prices", "--before", "7", "--url", store).exit_code == 0
    rows = command("history", "prices", "--url", store, "--first", "11").output.splitlines()
    assert [json.loads(row)["round"] for row in rows] == [11, 12]
    assert (
        command("convert", "--url", store).output == f"1 studies in {store} are of this version\n"
    )


def test_a_cell_of_an_export_is_no_formula(file: str) -> None:
    with dikin.Study(file, "a", twin(), client="=cmd|' /C calc'!A0") as study:
        study.tell(study.ask(), -3.0)
    rows = list(csv.DictReader(io.StringIO(command("export", "a", "--url", file).output)))
    assert rows[0]["client"] == "'=cmd|' /C calc'!A0"
    assert rows[0]["value"] == "-3.0"  # a number is one


def test_a_tuner_is_drawn_into_a_file(store: str, tmp_path: Path) -> None:
    with dikin.Study(store, "prices") as study:
        for _ in range(12):
            study.tell(study.ask(), 3.0)
        with pytest.raises(dikin.errors.ParameterError, match=r"ends in \.png, \.svg, \.pdf"):
            study.plot(tmp_path / "a.xyz")
    out = tmp_path / "prices.svg"
    assert command("show", "prices", "--url", store, "--out", str(out)).exit_code == 0
    assert out.read_bytes().startswith(b"<?xml")
