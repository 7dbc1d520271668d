"""What a wheel and a source archive consist of. `make dist` builds them as for a release."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from release.archives import ROOT, sdist_faults, sdist_names, wheel_faults, wheel_names

pytest.importorskip("hatchling", reason="the wheel was NOT built: no hatchling")


def build(root: Path, out: Path, kind: str) -> Path:
    """Return an archive of a project, by its own build back end."""
    command = ["hatchling", "build", "--target", kind, "--directory", str(out)]
    subprocess.check_output([sys.executable, "-m", *command], cwd=root, stderr=subprocess.STDOUT)
    (made,) = out.iterdir()
    return made


def test_the_wheel_is_the_package_and_nothing_else(tmp_path: Path) -> None:
    wheel = build(ROOT, tmp_path, "wheel")
    names = wheel_names(wheel)
    assert wheel_faults(names, wheel.stat().st_size) == []
    assert wheel_faults(names, 10**7) == ["10,000,000 bytes, more than 1,000,000"]
    for name in ("dikin/py.typed", "dikin/service/page/page.js", "dikin/cli.py"):
        rest = [each for each in names if each != name]
        assert wheel_faults(rest) == [f"{name} is not in the wheel"]
    for name in ("tests/test_a.py", "dikin/table.csv", "dikin/game.png"):
        said = [f"{name} is in the wheel, not in src", f"{name} is no file of a package"]
        assert wheel_faults([*names, name]) == said


def test_junk_in_src_is_noticed(tmp_path: Path) -> None:
    """A table that lies in the package is in the wheel and in src; neither makes it right."""
    copy = tmp_path / "src" / "dikin"
    copy.mkdir(parents=True)
    (copy / "table.csv").touch()
    names = ["dikin/table.csv", "dikin-1.dist-info/licenses/LICENSE"]
    assert wheel_faults(names, root=tmp_path) == ["dikin/table.csv is no file of a package"]
    assert wheel_faults(names[:1], root=tmp_path)[1:] == ["the licence is not in the wheel"]


def test_the_source_archive_has_what_tests_read(tmp_path: Path) -> None:
    sdist = build(ROOT, tmp_path, "sdist")
    names = sdist_names(sdist)
    assert sdist_faults(names, sdist.stat().st_size) == []
    assert sdist_faults(names, 10**8) != []
    for name in ("SECURITY.md", "tests/conftest.py", "docs/guide.md", "deploy/compose.yaml"):
        rest = [each for each in names if each != name]
        assert sdist_faults(rest) == [f"{name} is not in the source archive"]


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
