"""docs/service.md: its commands are run, its table is the file's."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dikin import errors
from dikin.service import app, endpoints, limits
from dikin.service.app import document
from dikin.studies import arguments, ledger
from dikin.tuning import circumstances
from service import crowd, load
from service.serving import Serving, shop

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")


def test_the_commands_do_what_they_say(file: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("the commands of docs/service.md: no curl is installed")
    block = re.search(r"<!-- run -->\n```sh\n(.*?)```", PAGE, re.S)
    assert block is not None
    with Serving(file) as running:
        script = block[1].replace("localhost:8000", f"127.0.0.1:{running.port}")
        script = script.replace("curl ", "curl --silent --show-error --fail-with-body ")
        done = subprocess.run(
            ["bash", "-ec", script], capture_output=True, text=True, check=False, timeout=600
        )
    assert done.returncode == 0, done.stderr + done.stdout
    assert '"rounds": 1' in done.stdout
    assert '"recent_mean": 512.0' in done.stdout


def on_the_page(path: str) -> bool:
    """Whether the table has an endpoint, in full or by its last word."""
    return f" {path}`" in PAGE or f"`{path}`" in PAGE or f"…/{path.rpartition('/')[2]}`" in PAGE


def test_every_endpoint_is_on_the_page() -> None:
    paths = document()["paths"]
    assert [path for path in paths if not on_the_page(path)] == []
    # A word of the page is not an endpoint on it.
    assert "patience" in PAGE
    assert not on_the_page("/v1/studies/{name}/patience")


LIMITS: dict[str, tuple[float, ...]] = {
    "bytes of a body": (limits.LARGEST_REQUEST,),
    "keys of one object": (limits.MOST_KEYS,),
    "levels of nested lists and objects": (limits.DEEPEST_REQUEST,),
    "digits of a whole number": (sys.int_info.default_max_str_digits,),
    "characters of the name of a study": (150,),
    "covariates of a tuner": (circumstances.MOST, circumstances.MOST, circumstances.LONGEST),
    "trials asked for at once": (arguments.AT_ONCE,),
    "numbers in a page of history": (endpoints.NUMBERS_AT_ONCE,),
    "characters of `detail`": (errors.LONGEST_MESSAGE, app.FAULTS),
    "seconds for a body": (limits.BODY_SECONDS,),
    "seconds for an answer": (limits.ANSWER_SECONDS,),
    "connections": (limits.CONNECTIONS,),
    "requests of one token under way": (limits.IN_FLIGHT_EACH,),
    "requests of one token that a study takes at the same time": (limits.AT_ONCE_EACH,),
    "calls of one token in a second": (limits.REQUESTS_A_SECOND,),
}
"""How a row of the table of limits begins, and the numbers in it."""


def test_the_limits_on_the_page_are_those_of_the_service() -> None:
    said = PAGE.partition("## Limits")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\S.*?) \| ([^|]*?) \| [^|]*? \|$", said, re.M)
    head, *rows = rows
    assert head == ("limit", "at most")
    assert len(rows) == len(LIMITS)
    for (what, numbers), (begins, wanted) in zip(rows, LIMITS.items(), strict=True):
        assert what.startswith(begins)
        assert numbers == "; ".join(f"{number:,.0f}" for number in wanted), what
    for number in (
        limits.OPEN_STUDIES,
        limits.IDLE_CONNECTIONS,
        limits.READ_AT_ONCE,
        limits.BYTES_A_CALL,
        limits.REFUSAL_SECONDS,
        ledger.MOST_OPEN,
    ):
        assert re.search(rf"(?<![\d,]){number:,g}(?![\d,])", said), number


def test_the_page_says_what_the_file_says() -> None:
    with open(ROOT / "docs" / "service_load.csv", encoding="utf-8", newline="") as file:
        rows = [{name: number(cell) for name, cell in row.items()} for row in csv.DictReader(file)]
    assert load.markdown(rows) in PAGE
    for row in rows:
        assert row["lost"] == row["twice"] == 0
        assert row["clients"] == 64


def number(cell: str) -> Any:
    return int(cell) if cell.isdecimal() else cell


def test_a_lost_answer_is_counted(file: str) -> None:
    """The account finds what is missing, altered or doubled."""
    with shop(file, rounds=3) as study:
        told = {row["query"]: row["value"] for row in study.records()}
    whole = crowd.Account(list(told), dict(told), [], [])
    assert crowd.faults(file, "shop", whole) == crowd.NOTHING
    lost = crowd.faults(file, "shop", whole._replace(told=told | {7: 1.0}))
    assert lost == crowd.NOTHING | {"lost": 1}
    some = next(iter(told))
    altered = crowd.faults(file, "shop", whole._replace(told=told | {some: 1.0}))
    assert altered == crowd.NOTHING | {"altered": 1}
    twice = crowd.faults(file, "shop", whole._replace(asked=[some, some, 99]))
    assert twice == crowd.NOTHING | {"given twice": 1, "asked and gone": 1}
