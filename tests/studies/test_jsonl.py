"""`dikin study`: one JSON object a line, commands, and a client in another language."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import dikin
from ctrl_c import press_ctrl_c
from dikin.cli import main
from dikin.domains.base import Geometry
from dikin.studies import jsonl
from dikin.studies.spec import EXAMPLE, learner_from_text

COMMAND = [sys.executable, "-c", "from dikin.cli import main; main()", "study"]
PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "live.md"


def command(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["study", *arguments])


@pytest.fixture
def store(file: str) -> str:
    """A file with the study `prices`."""
    assert command("create", "prices", EXAMPLE, "--url", file).exit_code == 0
    return file


def lines(requests: tuple[Any, ...]) -> bytes:
    text = "".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in requests)
    return text.encode("latin-1")


def converse(store: str, *requests: Any, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The answers of `dikin study run`, called here."""
    arguments = ["study", "run", "prices", "--url", store, *options]
    done = CliRunner().invoke(main, arguments, input=lines(requests))
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def converse_apart(store: str, *requests: Any) -> list[dict[str, Any]]:
    """The same in a process of its own."""
    done = subprocess.run(
        [*COMMAND, "run", "prices", "--url", store],
        input=lines(requests),
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_conversation(store: str) -> None:
    twin = learner_from_text(EXAMPLE)
    first, told, again, second, third, left, gone, standing = converse_apart(
        store,
        {"ask": {}},
        {"tell": {"id": 0, "loss": 12.3, "curvature": 0.1, "smoothness": 0.25}},
        {"tell": {"id": 0, "loss": 12.3, "curvature": 0.1, "smoothness": 0.25}},
        {"ask": {}},
        "\n",
        {"ask": {}},
        {"open": {}},
        {"forget": {"id": 2}},
        {"show": {}},
    )
    query = twin.ask()
    twin.tell(query, 12.3, 0.1, smoothness=0.25)
    assert first == {"id": 0, "point": query.point.tolist()}
    here = {"rounds": 1, "center": twin.center.tolist(), "certificate": twin.certificate}
    assert told == again == {"told": 0} | here
    assert standing == {"study": "prices"} | here
    assert second["point"] == twin.ask().point.tolist()
    assert [query["id"] for query in left["open"]] == [1, 2]
    assert left["open"][1]["point"] == third["point"]
    assert set(left["open"][0]) == {"id", "point", "client", "asked"}
    assert gone == {"forgotten": 2}
    # Later, in another process: answers overlap.
    last = converse_apart(store, {"ask": {}}, *({"tell": {"id": i, "loss": 1}} for i in (3, 1)))[-1]
    assert last["rounds"] == 3
    assert last["certificate"] > 0


def test_a_warning_and_a_number_that_is_not_there(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Geometry, "converged", lambda self, place: not self.vector(place).any())
    with dikin.Study(store, "prices") as study:
        jsonl.reply(study, b'{"ask": {}}')
        told = jsonl.reply(study, b'{"tell": {"id": 0, "loss": 1}}')
    assert told["certificate"] is None
    assert "rounding decides" in told["warning"]


@pytest.mark.parametrize(
    ("request_", "code", "words"),
    [
        ("nonsense\n", "request", "one line of JSON"),
        ("\xff\xfe\n", "request", "one line of JSON"),
        ("[" * 100_000 + "\n", "request", "one line of JSON"),
        ('{"tell": {"id": 0, "loss": NaN}}\n', "request", "NaN is not JSON"),
        ([], "request", "an object with one verb"),
        ({"ask": {}, "tell": {}}, "request", "an object with one verb"),
        ({"aks": {}}, "request", "Did you mean 'ask'?"),
        ({"ask": None}, "request", "must be an object"),
        ({"ask": {"n": 2}}, "request", "takes context (optional)"),
        ({"ask": {"n": 2}}, "request", "forecast (optional)"),
        ({"ask": {"context": [1, 2]}}, "feedback", "does not use a context"),
        ({"ask": {"forecast": 3.5}}, "forecast", "does not use a forecast"),
        ({"ask": {"forecast": "3.5"}}, "forecast", "the forecast must be a real number"),
        (
            {"tell": {"id": 0}},
            "request",
            "takes id, loss, covariates (optional), curvature (optional), lipschitz (optional)",
        ),
        ({"tell": {"id": 0.0, "loss": 1}}, "request", "whole number"),
        ({"tell": {"id": "0", "loss": 1}}, "request", "whole number"),
        ({"tell": {"id": 9, "loss": 1}}, "unknown_query", "never asked"),
        ({"tell": {"id": 10**30, "loss": 1}}, "unknown_query", "never asked"),
        ({"tell": {"id": 0, "loss": 99}}, "loss_range", "outside loss_range"),
        ('{"tell": {"id": 0, "loss": 1e999}}\n', "loss", "finite"),
        ({"tell": {"id": 0, "loss": "1"}}, "loss", "a real number"),
        ({"tell": {"id": 0, "loss": None}}, "loss", "a real number"),
        ({"tell": {"id": 0, "loss": [1, {}]}}, "loss", "a real number"),
        ({"tell": {"id": 0, "loss": 1, "curvature": -1}}, "curvature", "not negative"),
        ({"tell": {"id": 0, "loss": 1, "curvature": 9}}, "curvature_too_large", "exceeds"),
        ({"tell": {"id": 0, "loss": 1, "smoothness": 9}}, "constant", "between 0 and"),
        ({"tell": {"id": 0, "loss": 1, "lipschitz": 1}}, "constant", "none was declared"),
        ({"forget": {"id": 9}}, "unknown_query", "never asked"),
    ],
)
def test_an_error_is_an_object(store: str, request_: Any, code: str, words: str) -> None:
    with dikin.Study(store, "prices") as study:
        study.ask()
        line = request_ if isinstance(request_, str) else json.dumps(request_)
        answer = jsonl.reply(study, line.encode("latin-1"))
        assert set(answer) == {"error"}
        assert answer["error"]["code"] == code
        assert words in answer["error"]["message"]
        assert "\n" not in answer["error"]["message"]
        assert study.verify() == 1


PREDICTIVE = (
    '{"learner": "predictive", "domain": {"kind": "box", "lower": [0, 0], "upper": [10, 2]}, '
    '"start": [4, 0.5], "memory": 50, "loss_range": [0, 40], "seed": 7}'
)


def test_a_forecast_comes_with_its_ask(file: str) -> None:
    """And a number that is not there is null: then there is none."""
    twin = learner_from_text(PREDICTIVE)
    asks = ({"forecast": 3.5}, {}, {"forecast": 7}, {"forecast": None})
    given = converse(file, *({"ask": ask} for ask in asks), options=("--learner", PREDICTIVE))
    for answer, forecast in zip(given, (3.5, None, 7.0, None), strict=True):
        query = twin.ask(forecast=forecast)
        assert answer == {"id": query.id, "point": query.point.tolist()}
    for query in twin.open_queries:
        twin.tell(query, 5.0)
    told = converse(file, *({"tell": {"id": answer["id"], "loss": 5}} for answer in given))
    assert told[-1]["center"] == twin.center.tolist()
    with dikin.Study(file, "prices") as study:
        assert study.state() == twin.state()


@pytest.mark.parametrize(
    ("forecast", "words"),
    [
        ('"3.5"', "the forecast must be a real number, got '3.5'"),
        ("[3.5]", "the forecast must be a real number, got [3.5]"),
        ("true", "the forecast must be a real number, got True"),
        ("{}", "the forecast must be a real number, got {}"),
        ("1e999", "a finite number"),
        ("-1" + 400 * "0", "a finite number"),
    ],
)
def test_a_forecast_that_is_no_number(file: str, forecast: str, words: str) -> None:
    with dikin.Study(file, "prices", learner_from_text(PREDICTIVE)) as study:
        study.ask(forecast=3.5)
        before = study.state()
        line = f'{{"ask": {{"forecast": {forecast}}}}}'
        answer = jsonl.reply(study, line.encode())
        assert answer["error"]["code"] == "forecast"
        assert words in answer["error"]["message"]
        assert (study.state(), study.verify()) == (before, 1)


def test_after_an_error_the_next_line_is_read(store: str) -> None:
    wrong, right = converse(store, "?\n", {"ask": {}})
    assert wrong["error"]["code"] == "request"
    assert right["id"] == 0
    told, other = converse(store, *({"tell": {"id": 0, "loss": loss}} for loss in (1, 2)))
    assert told["told"] == 0
    assert other["error"]["code"] == "answered"


def test_a_bug_is_an_object_too(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with dikin.Study(store, "prices") as study:
        monkeypatch.setattr(study, "ask", lambda *_, **__: 1 / 0)
        answer = jsonl.reply(study, b'{"ask": {}}')
        assert answer["error"]["code"] == "internal"
        assert answer["error"]["message"].startswith("ZeroDivisionError")


def test_a_study_that_cannot_be_opened_is_an_object(file: str) -> None:
    (answer,) = converse(file, {"ask": {}})
    assert answer["error"]["code"] == "unknown_study"
    (answer,) = converse(file, {"ask": {}}, options=("--learner", "{}"))
    assert answer["error"]["code"] == "parameter"
    (answer,) = converse(file, {"ask": {}}, options=("--learner", EXAMPLE))
    assert answer["id"] == 0


def test_each_line_is_answered_at_once_and_ctrl_c_is_quiet(store: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "run", "prices", "--url", store],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"ask": {}}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 0
        assert press_ctrl_c(process) == 130
        assert process.communicate()[1] == b""


# --- commands ------------------------------------------------------------------------------------


def test_the_commands(store: str, tmp_path: Path) -> None:
    with dikin.Study(store, "prices", client="worker") as study:
        for t in range(12):
            study.tell(study.ask(), 5.0 + t % 3, 0.1 * (t % 2))
        study.ask()
        table = study.history()
    shown = command("show", "prices", "--url", store, "--out", str(tmp_path / "a.png"))
    assert shown.exit_code == 0, shown.output
    for word in ("adaptivesmooth on box", "running mean", "curvature", "certificate", "█"):
        assert word in shown.output
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert command("list", "--url", store).output == "prices\t12 rounds\t1 open\n"
    assert command("open", "prices", "--url", store).output.startswith("12\tworker\t")
    assert command("forget", "prices", "12", "--url", store).exit_code == 0
    assert command("open", "prices", "--url", store).output == ""
    found = list(csv.reader(io.StringIO(command("export", "prices", "--url", store).output)))
    head = "round point_0 point_1 loss curvature center_0 center_1 certificate"
    assert found[0] == head.split()
    assert [float(cell) for cell in found[3]] == [
        3.0,
        *table["point"][2],
        table["loss"][2],
        table["curvature"][2],
        *table["center"][2],
        table["certificate"][2],
    ]
    assert command("verify", "prices", "--url", store).output.startswith("26 rows replayed")
    trimmed = command("trim", "prices", "--before", "7", "--url", store)
    assert trimmed.output == "12 rows removed\n"
    out = tmp_path / "a.csv"
    assert command("export", "prices", "--url", store, "--out", str(out)).exit_code == 0
    assert out.read_text().splitlines()[1].startswith("7,")
    assert command("delete", "prices", "--url", store, "--yes").exit_code == 0
    assert command("list", "--url", store).output == f"{store} has no studies\n"


@pytest.mark.parametrize(("out", "words"), [("a.xyz", ".png"), ("none/a.png", "No such file")])
def test_a_picture_that_cannot_be_written(store: str, tmp_path: Path, out: str, words: str) -> None:
    with dikin.Study(store, "prices") as study:
        study.tell(study.ask(), 1.0)
    drawn = command("show", "prices", "--url", store, "--out", str(tmp_path / out))
    assert drawn.exit_code == 2
    assert words in drawn.output
    assert "Traceback" not in drawn.output


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (dikin.TwoPoint(dikin.Ball(2), 100, 1.0, seed=1), (0.5, 0.25)),
        (dikin.AOGD(dikin.Ball(2), seed=1), (0.375, [1.0, 0.0])),
    ],
    ids=["pair", "gradient"],
)
def test_a_study_that_is_told_more_can_be_shown(store: str, learner: Any, told: Any) -> None:
    """What is drawn is what was suffered: the mean of two losses, the loss beside a gradient."""
    with dikin.Study(store, "more", learner) as study:
        study.tell(study.ask(), told)
    shown = command("show", "more", "--url", store)
    assert shown.exit_code == 0, shown.output
    assert re.search(r"running mean\s+\S+\s+0\.375\s+0\.375", shown.output)


def test_a_study_without_rounds_can_be_shown(store: str, tmp_path: Path) -> None:
    assert "rounds        0" in command("show", "prices", "--url", store).output
    drawn = command("show", "prices", "--url", store, "--out", str(tmp_path / "a.png"))
    assert (drawn.exit_code, "no history" in drawn.output) == (2, True)


def test_a_study_that_is_told_pairs_is_shown_and_drawn(file: str, tmp_path: Path) -> None:
    with dikin.Study(file, "pairs", dikin.TwoPoint(dikin.Ball(2), 100, 1.0, seed=1)) as study:
        study.tell(study.ask(), (0.1, 0.2))
    shown = command("show", "pairs", "--url", file)
    assert (shown.exit_code, "0.15" in shown.output) == (0, True)  # the mean of the pair
    drawn = command("show", "pairs", "--url", file, "--out", str(tmp_path / "a.png"))
    assert (drawn.exit_code, (tmp_path / "a.png").read_bytes()[1:4]) == (0, b"PNG")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nonsense", "a JSON object such as"),
        ("[]", "with learner and domain such as"),
        ('{"learner": "adaptivesmoth", "domain": {}}', "Did you mean 'adaptivesmooth'?"),
        ('{"learner": 3, "domain": {}}', "no learner is called '3'"),
        (EXAMPLE.replace("box", "bxo"), "Did you mean 'box'?"),
        ('{"learner": "adaptivesmooth", "domain": "box"}', "with its kind and arguments"),
        (EXAMPLE.replace('"upper"', '"uper"'), "not a description of a domain"),
        (EXAMPLE.replace("smoothness", "smothness"), "Did you mean 'smoothness'?"),
        (EXAMPLE.replace('"smoothness": 0.5, ', ""), "needs the argument 'smoothness'"),
        (EXAMPLE.replace("0.5", "-1"), "smoothness"),
        (EXAMPLE.replace("[0, 40]", "5"), "loss_range"),
        (EXAMPLE.replace("0.5", "null"), "smoothness"),
        (EXAMPLE.replace("7}", '"x"}'), "seed"),
    ],
)
def test_a_description_that_is_none(file: str, spec: str, words: str) -> None:
    made = command("create", "prices", spec, "--url", file)
    assert made.exit_code == 2
    assert words in made.output
    assert made.output.startswith("dikin: ")
    assert not Path(file).exists()


def test_help_shows_examples_line_by_line() -> None:
    for page, line in (
        (("--help",), "  echo '{\"ask\": {}}' | dikin study run prices"),
        (("run", "--help"), '    {"forget": {"id": 1}}                     {"forgotten": 1}'),
        (("create", "--help"), '        "loss_range": [0, 40], "seed": 7}\''),
    ):
        assert line in command(*page).output


# --- another language ----------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here to run the client")
def test_the_client_in_the_docs(file: str, tmp_path: Path) -> None:
    """The ten lines of docs/live.md play exactly what Python plays."""
    (script,) = re.findall(r"```js\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)
    assert len(script.splitlines()) <= 10
    assert command("create", "bowl", EXAMPLE, "--url", file).exit_code == 0
    (tmp_path / "client.mjs").write_text(script)
    (tmp_path / "dikin").write_text(f"#!{sys.executable}\nfrom dikin.cli import main\nmain()\n")
    (tmp_path / "dikin").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    run = subprocess.run(
        [shutil.which("node") or "node", "client.mjs"],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "DIKIN_URL": file},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    twin = learner_from_text(EXAMPLE)
    for _ in range(20):
        query = twin.ask()
        x, y = query.point.tolist()
        twin.tell(query, 0.2 * (x - 7) ** 2 + 0.25 * (y - 0.5) ** 2, 0.4)
    with dikin.Study(file, "bowl") as study:
        assert study.state() == twin.state()
    assert "rounds: 20" in run.stdout
