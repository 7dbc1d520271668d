"""What a wheel and a source archive consist of. `make dist` builds them as for a release."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from release.archives import (
    ROOT,
    SDIST_LIMIT,
    WHEEL_LIMIT,
    sdist_faults,
    sdist_names,
    size_faults,
    wheel_faults,
    wheel_names,
)

pytest.importorskip("hatchling", reason="the wheel was NOT built: no hatchling")


def build(root: Path, out: Path, kind: str) -> Path:
    """An archive of a project, by its own build back end."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(out)],
        cwd=root,
        check=True,
        capture_output=True,
    )
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")


def test_the_wheel_is_the_package_and_nothing_else(wheel: Path) -> None:
    names = wheel_names(wheel)
    assert wheel_faults(names) == []
    assert {"dikin/py.typed", "dikin/service/page/index.html"} <= set(names)
    assert size_faults(wheel, WHEEL_LIMIT) == []


@pytest.mark.parametrize("name", ["py.typed", "service/page/page.js", "cli.py"])
def test_a_file_that_is_missing_in_the_wheel_is_noticed(wheel: Path, name: str) -> None:
    names = [each for each in wheel_names(wheel) if each != f"dikin/{name}"]
    assert wheel_faults(names) == [f"dikin/{name} is not in the wheel"]


@pytest.mark.parametrize("name", ["tests/test_a.py", "dikin/table.csv", "dikin/game.png"])
def test_a_file_too_many_in_the_wheel_is_noticed(wheel: Path, name: str) -> None:
    faults = wheel_faults([*wheel_names(wheel), name])
    assert faults[0] == f"{name} is in the wheel, not in src"
    assert faults[1:] == [f"{name} is no file of a package"]


def test_junk_in_src_is_noticed(wheel: Path, tmp_path: Path) -> None:
    """A table that lies in the package is in the wheel and in src; neither makes it right."""
    copy = tmp_path / "src" / "dikin"
    copy.mkdir(parents=True)
    (copy / "table.csv").touch()
    names = ["dikin/table.csv", "dikin-1.dist-info/licenses/LICENSE"]
    assert wheel_faults(names, tmp_path) == ["dikin/table.csv is no file of a package"]
    assert wheel_faults(names[:1], tmp_path)[1:] == ["the licence is not in the wheel"]


def test_the_source_archive_has_what_tests_read(sdist: Path) -> None:
    assert sdist_faults(sdist_names(sdist)) == []
    assert size_faults(sdist, SDIST_LIMIT) == []
    assert size_faults(sdist, 1000) != []


@pytest.mark.parametrize(
    "name", ["SECURITY.md", "tests/conftest.py", "docs/guide.md", ".ci/run", "deploy/compose.yaml"]
)
def test_a_file_that_is_missing_in_the_source_archive_is_noticed(sdist: Path, name: str) -> None:
    names = [each for each in sdist_names(sdist) if each != name]
    assert sdist_faults(names) == [f"{name} is not in the source archive"]


def test_secrets_stay_out(tmp_path: Path) -> None:
    """Those that a maintainer has beside the files of deploy/, and git ignores."""
    project = tmp_path / "project"
    for name in ("src/dikin/__init__.py", "pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    shutil.copytree(ROOT / "deploy", project / "deploy")
    secrets = {"deploy/.env", "deploy/secrets/prometheus_token"}
    for name in secrets:
        (project / name).write_text("hush")

    def packed(out: str) -> set[str]:
        return set(sdist_names(build(project, tmp_path / out, "sdist")))

    assert "deploy/secrets/README.md" in packed("as it is")
    assert secrets & packed("again") == set()
    pyproject = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(pyproject.replace("\nexclude = [", "\n# ["))
    mutant = packed("without the line")
    assert secrets <= mutant
    assert {f"{name} belongs in no archive" for name in secrets} <= set(sdist_faults(mutant))
