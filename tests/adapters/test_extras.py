"""Each adapter needs its own package alone, and names the extra that has it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dikin

EXTRAS = {"openfeature": "openfeature", "gest_api": "gest", "optuna": "optuna"}
"""For each adapter, which has the name of the package that it imports, its extra."""
ROOT = Path(__file__).resolve().parent.parent.parent

HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            raise ModuleNotFoundError(name, name=name.partition(".")[0])
sys.meta_path.insert(0, Hidden())
import dikin.adapters.{adapter}
"""


def imported(adapter: str, hidden: list[str]) -> subprocess.CompletedProcess[str]:
    program = HIDE.format(adapter=adapter, hidden=hidden)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False
    )


def test_every_adapter_has_an_extra_and_a_test() -> None:
    modules = {path.stem for path in Path(dikin.__file__).parent.glob("adapters/[a-z]*.py")}
    assert modules == {*EXTRAS}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*EXTRAS.values()} <= {*project["optional-dependencies"]}
    tested = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert {*EXTRAS} <= tested


@pytest.mark.parametrize("adapter", EXTRAS)
def test_a_package_that_is_missing_is_named_with_its_extra(adapter: str) -> None:
    error = imported(adapter, [adapter]).stderr
    assert f"dikin.adapters.{adapter} needs {adapter}, which is not installed: " in error
    assert f'pip install "dikin[{EXTRAS[adapter]}]"' in error


@pytest.mark.parametrize("adapter", EXTRAS)
def test_an_adapter_needs_no_package_of_another(adapter: str) -> None:
    others = [*(EXTRAS.keys() - {adapter}), "numba", "joblib", "matplotlib", "rich"]
    run = imported(adapter, others)
    assert (run.returncode, run.stderr) == (0, "")
