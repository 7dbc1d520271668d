"""What a release is made of, besides the archives: workflows, the citation, versions that agree."""

import datetime
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any

import pytest

import dikin
from release.archives import ROOT
from release.ready import release_faults

yaml = pytest.importorskip("yaml", reason="workflows and CITATION.cff were NOT read: no PyYAML")

WORKFLOWS = ROOT / ".github" / "workflows"
PUBLISHER = "pypa/gh-action-pypi-publish"


def workflow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((WORKFLOWS / name).read_text(encoding="utf-8"))
    return found


def steps(flow: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every step, with the name of its job."""
    for name, job in flow["jobs"].items():
        for step in job["steps"]:
            yield name, step


def action(step: dict[str, Any]) -> str:
    """The action that a step uses, without its version."""
    return str(step.get("uses", "")).partition("@")[0]


def faults(flow: dict[str, Any]) -> set[str]:
    """What a workflow of ours must not do."""
    found = set()
    if flow.get("permissions") not in ({}, {"contents": "read"}):
        found.add("permissions of the workflow")
    for name, job in flow["jobs"].items():
        publishes = any(action(step) == PUBLISHER for step in job["steps"])
        granted = job.get("permissions", {"contents": "read"})
        wanted = {"id-token": "write"} if publishes else {"contents": "read"}
        if granted != wanted:
            found.add(f"permissions of {name}")
        if publishes and job.get("environment") != "pypi":
            found.add("no environment")
        if publishes and any("run" in step or "checkout" in action(step) for step in job["steps"]):
            found.add("code where a token can be had")
        if not job.get("timeout-minutes"):
            found.add("no time limit")
    for _, step in steps(flow):
        # A tag can be moved to other code, a commit cannot.
        if "uses" in step and not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]):
            found.add("an action that is not pinned")
        if "checkout" in action(step) and (step["with"] or {}).get("persist-credentials", True):
            found.add("credentials that stay")
        if "${{" in step.get("run", ""):
            found.add("a foreign text in a command")
        if action(step) == PUBLISHER and {"password", "user"} & step.get("with", {}).keys():
            found.add("a password")
    if re.search(r"\bsecrets\b", yaml.safe_dump(flow)):
        found.add("a secret")
    return found


@pytest.mark.parametrize("path", sorted(WORKFLOWS.glob("*")), ids=lambda path: path.name)
def test_a_workflow_does_no_more_than_it_must(path: Path) -> None:
    assert faults(workflow(path.name)) == set()
    pinned = [line for line in path.read_text().splitlines() if "uses:" in line]
    assert pinned
    for line in pinned:  # the version beside it is for people
        assert re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


@pytest.mark.parametrize(
    ("place", "spoilt", "caught"),
    [
        ("publish steps -1 with password", "${{ secrets.PYPI }}", {"a password", "a secret"}),
        ("build permissions", {"id-token": "write"}, {"permissions of build"}),
        ("publish environment", None, {"no environment"}),
        ("publish steps -1 uses", f"{PUBLISHER}@release/v1", {"an action that is not pinned"}),
        ("publish steps 0", {"run": "make dist"}, {"code where a token can be had"}),
        ("build steps -1", {"run": "echo ${{ a.title }}"}, {"a foreign text in a command"}),
        ("build steps 0 with", None, {"credentials that stay"}),
        ("build timeout-minutes", None, {"no time limit"}),
    ],
)
def test_a_workflow_that_does_more_is_caught(place: str, spoilt: Any, caught: set[str]) -> None:
    flow = workflow("publish.yml")
    part, (*path, last) = flow["jobs"], place.split()
    for word in path:
        part = part[int(word) if isinstance(part, list) else word]
    part[int(last) if isinstance(part, list) else last] = spoilt
    assert faults(flow) == caught
    assert faults(flow | {"permissions": "write-all"}) > caught


def test_every_version_of_python_is_tried() -> None:
    flow = workflow("ci.yml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    marks = [re.fullmatch(r".*Python :: (3\.\d+)", each) for each in project["classifiers"]]
    named = [mark[1] for mark in marks if mark]
    assert flow["jobs"]["test"]["strategy"]["matrix"]["python"] == named
    assert project["requires-python"] == f">={named[0]}"
    commands = {step["run"] for _, step in steps(flow) if "run" in step}
    assert commands == {".ci/run", "make docs", "make dist"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\ndocs:" in makefile
    assert "\ndist:" in makefile


def test_what_is_checked_is_what_is_published() -> None:
    flow = workflow("publish.yml")
    assert flow[True] == {"release": {"types": ["published"]}}  # YAML reads `on` so
    assert flow["jobs"]["publish"]["needs"] == "build"
    (up,) = [s["with"] for _, s in steps(flow) if action(s) == "actions/upload-artifact"]
    (down,) = [s["with"] for _, s in steps(flow) if action(s) == "actions/download-artifact"]
    (publish,) = [s["with"] for _, s in steps(flow) if action(s) == PUBLISHER]
    assert up["name"] == down["name"]
    assert up["path"] == down["path"] == publish["packages-dir"] == "dist/"
    assert publish["attestations"] is True
    commands = [step["run"] for _, step in steps(flow) if "run" in step]
    assert commands == ['python tests/release/ready.py "$TAG"', "make dist"]


def test_the_citation() -> None:
    """What the format asks for, and what a reader needs to cite software and paper."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    paper = cited["preferred-citation"]
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert all(cited[name] for name in ("message", "title", "license"))
    assert all(paper[name] for name in ("type", "title", "year"))
    assert all(a.keys() & {"name", "family-names"} for a in cited["authors"] + paper["authors"])
    assert cited["version"] == dikin.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = f"\n## {dikin.__version__} (" in changelog
    assert isinstance(cited.get("date-released"), datetime.date if released else NoneType)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """A checkout in which version 1.2.0 can be released."""
    (tmp_path / "src" / "dikin").mkdir(parents=True)
    (tmp_path / "src" / "dikin" / "__init__.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("## Unreleased\n\n## 1.2.0 (2030-01-31)\n")
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    about = "version: 1.2.0\ndate-released: 2030-01-31"
    cited = re.sub(r"(?m)^date-released: .*\n", "", (tmp_path / "CITATION.cff").read_text())
    cited = re.sub(r"(?m)^version: .*$", about, cited)
    (tmp_path / "CITATION.cff").write_text(cited)
    return tmp_path


def test_a_release_that_is_ready(ready: Path) -> None:
    assert release_faults("v1.2.0", ready) == []
    for other in ("1.2.0", "v1.2", "v1.2.1", "latest"):
        assert release_faults(other, ready) != []


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("src/dikin/__init__.py", "1.2.0", "1.1.0", "dikin.__version__ says version 1.1.0"),
        ("CITATION.cff", "version: 1.2.0", "version: 1.1.0", "CITATION.cff says version"),
        ("CITATION.cff", "date-released: 2030", "date-released: 2029", "date-released of"),
        ("CITATION.cff", "date-released", "date", "date-released of CITATION.cff is not"),
        ("CHANGELOG.md", "## 1.2.0 (2030-01-31)", "## 1.2.0", "CHANGELOG.md has no heading"),
    ],
)
def test_a_file_that_was_forgotten(ready: Path, file: str, old: str, new: str, said: str) -> None:
    text = (ready / file).read_text()
    # Not the version of the format, which stands in the citation too.
    changed = re.sub(rf"(?m)(?<!cff-){re.escape(old)}", new, text)
    assert changed != text
    (ready / file).write_text(changed)
    (fault,) = release_faults("v1.2.0", ready)
    assert fault.startswith(said)
