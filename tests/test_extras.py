"""Packages that are not installed: what goes on without them, and what an error says."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import dikin
from dikin import extras
from dikin.cli import main
from dikin.errors import DikinError, MissingExtraError


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As if a package were not installed."""

    def hide(package: str) -> None:
        def find(name: str, *more: Any) -> Any:
            if name.partition(".")[0] == package:
                raise ModuleNotFoundError(f"No module named {name!r}", name=package)
            return real(name, *more)

        real = importlib.import_module
        monkeypatch.setattr(extras, "import_module", find)
        monkeypatch.setattr(extras, "installed", lambda name: name != package)

    return hide


def test_an_error_names_what_was_wanted_and_how_to_get_it(missing: Any) -> None:
    missing("scipy")
    said = r'^a polytope needs scipy, which is not installed: pip install "dikin\[lab\]"'
    with pytest.raises(MissingExtraError, match=said) as caught:
        extras.require("scipy.optimize", "lab", "a polytope")
    assert isinstance(caught.value, DikinError)
    assert isinstance(caught.value, ImportError)


def test_without_joblib_one_worker_plays(missing: Any) -> None:
    missing("joblib")

    def world(seed: int) -> dikin.Environment:
        return dikin.Linear(dikin.Ball(2), seed=seed)

    def learner(seed: int) -> dikin.Learner:
        return dikin.Predictive(dikin.Ball(2), seed=seed)

    assert len(dikin.replicate(learner, world, 20, 2)) == 2
    for workers in (2, -1, None):
        with pytest.raises(MissingExtraError, match=f"replicate with workers={workers} needs job"):
            dikin.replicate(learner, world, 20, 2, workers=workers)


def test_without_rich_an_experiment_says_what_to_install(missing: Any) -> None:
    missing("rich")
    done = CliRunner().invoke(main, ["reproduce"])
    assert done.exit_code == 2
    assert 'dikin reproduce needs rich, which is not installed: pip install "dik' in done.output


def test_without_matplotlib_a_study_is_shown_and_not_drawn(missing: Any, tmp_path: Path) -> None:
    missing("matplotlib")
    store = str(tmp_path / "studies.db")
    with dikin.Study(store, "a", dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1)) as study:
        study.tell(study.ask(), 1.0)
    show = ["study", "show", "a", "--url", store]
    assert CliRunner().invoke(main, show).exit_code == 0
    drawn = CliRunner().invoke(main, [*show, "--out", str(tmp_path / "a.png")])
    assert (drawn.exit_code, "a figure needs matplotlib" in drawn.output) == (2, True)
