"""Commands of the table of operations: `dikin study ask`, `tell`, `best` and others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from dikin.errors import ParameterError
from dikin.studies.operations import OPERATIONS, Argument, Operation
from dikin.studies.study import Study
from dikin.studies.tuner_options import by_name
from dikin.tuning.recommendation import Recommendation
from dikin.worth.uplift import Uplift

EXAMPLES = {
    "ask": ("shop", "shop --covariate load=0.7 --covariate hour=14", "shop --context region=eu"),
    "tell": ("shop 17 512", "store 17 512 --metric p99_ms=187", "store 17 --failed"),
    "add_trial": ("shop 480 --param price=5",),
    "best": ("shop", "fleet --context region=eu --context load=0.7"),
    "recommend": ("shop", "fleet --context region=eu --context load=0.7"),
    "uplift": ("shop",),
    "pause": ("shop",),
    "resume": ("shop",),
}
"""The operations that have a command, and examples of it."""
SHOWN: dict[str, Callable[[dict[str, Any]], str]] = {
    "ask": lambda answer: json.dumps({part: answer[part] for part in ("id", "params")}),
    "tell": lambda answer: f"told {answer['told']}: {answer['rounds']:,} rounds",
    "add_trial": lambda answer: "added",
    "best": lambda answer: json.dumps(answer["best"]),
    "recommend": lambda answer: str(Recommendation.from_json(answer)),
    "uplift": lambda answer: str(Uplift.from_json(answer)),
    "pause": lambda answer: "paused: trials are at the best setting",
    "resume": lambda answer: "exploring and learning",
}
"""What a command prints of an answer."""
ONE = {"covariates": "covariate", "metrics": "metric", "params": "param"}
"""The options that are repeated, for arguments of several values by name."""
HIDDEN = ("n", "point")
"""Arguments without an option."""


def values_by_name(option: str, texts: tuple[str, ...]) -> dict[str, float | str] | None:
    """Return `load=0.7`, `kind=batch` as numbers and words by name; None for none."""

    def read(text: str) -> tuple[str, float | str]:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise ParameterError(f"{option} wants NAME=VALUE, such as load=0.7, got {text!r}")
        try:
            return name.strip(), float(value)
        except ValueError:
            return name.strip(), value.strip()

    return by_name(option, texts, read)


def commands(url_option: Callable[[click.Command], click.Command]) -> list[click.Command]:
    """Return a command for each operation that has examples."""
    return [url_option(_command(OPERATIONS[name])) for name in EXAMPLES]


def _command(asked: Operation) -> click.Command:
    given = {name: each for name, each in asked.arguments.items() if name not in HIDDEN}
    name = asked.name.replace("_", "-")
    lines = "\n".join(f"  dikin study {name} {each}" for each in EXAMPLES[asked.name])
    return click.Command(
        name,
        callback=_callback(asked, given),
        params=[click.Argument(["name"]), *(_option(name, each) for name, each in given.items())],
        help=f"{asked.words}\n\n\b\n{lines}",
        context_settings={"ignore_unknown_options": True},  # a value may be negative
    )


def _is_named(argument: Argument) -> bool:
    kinds = argument.schema.get("anyOf", [argument.schema])
    return bool(kinds[0].get("type") == "object")


def _option(name: str, argument: Argument) -> click.Parameter:
    kind = argument.schema.get("type")
    words = argument.schema["description"]
    if name in ("id", "value"):
        return click.Argument([name], type=int if name == "id" else float, required=name == "id")
    if _is_named(argument):
        flag = f"--{ONE.get(name, name)}"
        return click.Option(
            [flag, name], multiple=True, metavar="NAME=VALUE", help=f"{words} May be repeated."
        )
    return click.Option([f"--{name}"], is_flag=kind == "boolean", help=words)


def _callback(asked: Operation, given: dict[str, Argument]) -> Callable[..., None]:
    def run(name: str, url: str, **texts: Any) -> None:
        sent = {
            key: values_by_name(f"--{ONE.get(key, key)}", texts[key])
            if _is_named(each)
            else texts[key]
            for key, each in given.items()
        }
        with Study(url, name) as study:
            answer = asked.act(study, **sent)
        click.echo(SHOWN[asked.name](answer))

    return run
