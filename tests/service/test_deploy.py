"""The files in deploy/: what can be checked of them without a Docker engine."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from click import Command, Group
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

from dikin.cli import main
from dikin.service import limits
from service.serving import TUNER, Serving

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BOARD = DEPLOY / "grafana" / "dikin.json"
BY_PROMETHEUS = {"job"}
"""Labels that Prometheus adds to each metric."""


def read(name: str) -> Any:
    yaml = pytest.importorskip("yaml", reason="the YAML files in deploy/ were NOT read: no PyYAML")
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = read("compose.yaml")
    return found


def instructions(name: str) -> list[str]:
    """The arguments of an instruction in the Dockerfile, each time that it is there."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.findall(rf"^{name} +(.*)$", text, flags=re.MULTILINE)
    assert found, name
    return found


def test_no_password_is_in_the_files(compose: dict[str, Any]) -> None:
    given = {
        key: value
        for service in compose["services"].values()
        for key, value in service.get("environment", {}).items()
    }
    secret = {key: value for key, value in given.items() if "PASSWORD" in key}
    assert len(secret) == 3
    for value in secret.values():
        assert re.fullmatch(r"\$\{\w+_PASSWORD:\?[^}]+\}", value)
    assert "@" in given["DIKIN_URL"]
    assert ":" not in given["DIKIN_URL"].split("://")[1].split("@")[0]
    example = (DEPLOY / ".env.example").read_text(encoding="utf-8")
    variables = dict(re.findall(r"^(\w+)=(.*)$", example, flags=re.MULTILINE))
    assert all(not value for key, value in variables.items() if "PASSWORD" in key)
    used = re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert set(used) == set(variables)
    ignored = (DEPLOY / ".gitignore").read_text(encoding="utf-8").split()
    assert {".env", "secrets/*"} <= set(ignored)
    for file in DEPLOY.rglob("*"):
        if file.is_file() and file.name != ".env" and file.parent.name != "secrets":
            text = file.read_text(encoding="utf-8")
            assert re.search(r"dikin_[0-9a-f]{8}_", text) is None, file


def test_the_image_has_locked_packages() -> None:
    lock = (DEPLOY / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock, "an address of an index"
    locked = re.split(r"^(?=\w)", lock, flags=re.MULTILINE)[1:]
    assert all(re.match(r"[\w-]+==[\w.]+ ", each) and " --hash=sha256:" in each for each in locked)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = {*project["dependencies"], *extras["postgres"], *extras["serve"]}
    names = {re.split(r"[\[>=]", each)[0] for each in wanted}
    assert names <= {each.partition("==")[0] for each in locked}
    assert "--require-hashes" in " ".join(instructions("RUN"))


def refused(command: list[str]) -> str | None:
    """Why `dikin` would not take a command; its options are read, and nothing is done."""
    found: Command = main
    words = list(command)
    while isinstance(found, Group):
        found = found.commands[words.pop(0)]
    said = CliRunner().invoke(main, [*command[: len(command) - len(words)], "--help"]).output
    unknown = [word for word in words if word.startswith("-") and word not in said]
    return f"{' '.join(command)}: {unknown}" if unknown else None


def test_the_commands_are_known(compose: dict[str, Any]) -> None:
    commands = [compose["services"][name]["command"] for name in ("serve", "serve2")]
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["dikin"]
    commands += map(json.loads, instructions("CMD"))
    readme = (DEPLOY / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"docker compose run (?:-\S+ )*serve2? (.*)", readme)
    commands += [shlex.split(re.split(" [>#]", line)[0]) for line in lines]
    assert len(commands) >= 5
    assert [refused(command) for command in commands] == [None] * len(commands)
    assert refused(["serve", "--hots", "0.0.0.0"]) is not None


def test_the_health_check_asks_what_is_there(service: Serving) -> None:
    (check,) = instructions("HEALTHCHECK")
    program, flag, code = json.loads(check.partition("CMD ")[2])
    assert (program, flag) == ("python", "-c")
    assert "http://127.0.0.1:8000/healthz" in code
    exec(code.replace("http://127.0.0.1:8000", service.url), {})
    with pytest.raises(HTTPError) as missing:
        exec(code.replace("http://127.0.0.1:8000/healthz", f"{service.url}/healthy"), {})
    missing.value.close()


def test_the_proxy_limits_what_the_service_leaves_to_it(compose: dict[str, Any]) -> None:
    proxy = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    for directive in ("read_header 10s", "idle 1m", "max_header_size 16KB", "request_buffers 1MB"):
        assert re.search(rf"^\s*{directive}$", proxy, re.M), directive
    (size,) = re.findall(r"max_size (\d+)MB", proxy)
    assert int(size) * 10**6 == limits.LARGEST_REQUEST
    assert [name for name, each in compose["services"].items() if "ports" in each] == [
        "proxy",
        "grafana",
    ]
    assert compose["services"]["proxy"]["ports"] == ["80:80", "443:443"]
    (ports,) = re.findall(r"--dports (\S+)", (DEPLOY / "README.md").read_text(encoding="utf-8"))
    assert ports == "80,443"  # of all that the proxy listens on


def queries() -> list[str]:
    """The expressions of the board, those of its variables too."""
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    found = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    return found + [each["definition"] for each in board["templating"]["list"]]


def alerts() -> list[dict[str, Any]]:
    (group,) = read("rules.yml")["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def test_the_board_asks_for_metrics_that_are_there(service: Serving) -> None:
    tuned = TUNER | {"holdback": 0.5, "guard": 0.02, "lipschitz": 30.0, "value_range": [0, 30]}
    assert service.send("PUT", "/v1/studies/tuned", tuned).status == 201
    for round in range(60):  # some of them use the control
        asked = service.send("POST", "/v1/studies/tuned/ask").content
        told = {"id": asked["id"], "value": 20.0 + round % 3}
        assert service.send("POST", "/v1/studies/tuned/tell", told).status == 200
    service.send("GET", "/nowhere")  # is refused
    text = service.send("GET", "/metrics").content.decode()
    families = list(text_string_to_metric_families(text))
    samples = {sample.name: set(sample.labels) for each in families for sample in each.samples}
    named = {each.name for each in families}

    for query in queries() + [alert["expr"] for alert in alerts()]:
        bare = re.sub(r'"[^"]*"|\[[^]]*\]', "", query)
        metrics = set(re.findall(r"\bdikin_\w+", bare))
        assert metrics, query
        assert metrics - samples.keys() <= {"dikin_unreadable"}, query  # where all can be read
        assert metrics - samples.keys() <= named, query
        labels = set(re.findall(r"\w+(?=!?=)", bare))
        for group in re.findall(r"\bby \(([^)]*)\)", bare):
            labels |= set(group.split(", "))
        for metric in metrics & samples.keys():
            assert labels <= samples[metric] | BY_PROMETHEUS, query
