"""The worked examples of CONTRIBUTING.md: one file each, dropped into its folder or one's own."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dikin
import dikin.domains
import dikin.learners
import dikin.tuning.parameters
from dikin import registry
from dikin.engine.jit import COMPILE_FROM
from dikin.errors import CheckFailedError
from dikin.studies.spec import learner_from_text
from dikin.studies.tuner_options import tuner_from_options
from tables import scratch
from tuning.parameters.test_kinds import LAWS

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = {
    name: next(b for b in re.findall(r"```python\n(.*?)```", PAGE, flags=re.S) if words in b)
    for name, words in {
        "halfball": "class Halfball(",
        "anytime": "class Anytime(",
        "climber": "class Climber(",
        "parabola": "class Parabola(",
        "valley": "class Valley(",
        "duration": "class Duration(",
        "try": "dikin.check_learner(Climber, domain)",
        "compare": "Scenario.own(",
    }.items()
}


RECIPES = {"halfball": "domains", "anytime": "learners"}
"""The folders into which the page says to paste."""
PYTEST = ("pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
QUICK_TESTS = (
    *PYTEST,
    *("tests/test_docstrings.py", "tests/test_structure.py"),
    *("-k", "not live_loop and not experiment_names"),
    *(f"src/dikin/{folder}/{name}.py" for name, folder in RECIPES.items()),
)
"""Those that look at every class, and the doctests of the recipes; not those that start programs,
which no recipe changes."""


@pytest.fixture(scope="module")
def pasted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the library into which the recipes are pasted word for word."""
    copy = tmp_path_factory.mktemp("pasted")
    shutil.copy(ROOT / "pyproject.toml", copy)
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder)  # with the bytecode that is there
    for name, folder in RECIPES.items():
        package = copy / "src/dikin" / folder
        (package / f"{name}.py").write_text(BLOCKS[name], encoding="utf-8")
        line = f"from dikin.{folder}.{name} import {name.capitalize()}\n"
        assert f"\n    {line}" in PAGE
        names = (package / "__init__.py").read_text(encoding="utf-8")
        if line not in names:
            names = names.replace("\nfrom", f"\n{line}from", 1)
            names = names.replace("__all__ = [", f'__all__ = [\n    "{name.capitalize()}",')
        (package / "__init__.py").write_text(names, encoding="utf-8")
    assert run(copy, "ruff", "check", "--fix", "src") == 0
    return copy


def run(copy: Path, *command: str) -> int:
    """The exit code of a module of Python that sees the copy in place of the library."""
    rest = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment = rest | {"PYTHONPATH": str(copy / "src")}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=copy, env=environment, timeout=600, check=False
    ).returncode


def test_recipes_pasted_word_for_word_pass_lint_and_tests(pasted: Path) -> None:
    assert run(pasted, "ruff", "check", "src") == 0
    assert run(pasted, "ruff", "format", "--check", "src") == 0
    assert run(pasted, *QUICK_TESTS) == 0


def test_a_recipe_that_is_not_documented_is_noticed(pasted: Path) -> None:
    file = pasted / "src/dikin/domains/halfball.py"
    file.write_text(BLOCKS["halfball"].replace("        The radius of the ball.\n", ""))
    try:
        assert run(pasted, *PYTEST, "tests/test_docstrings.py") == 1
    finally:
        file.write_text(BLOCKS["halfball"])


def commands() -> list[str]:
    """The programs that the page gives to try the recipes with."""
    return re.findall(r"    \.venv/bin/python -c \"(.*?)\"\n", PAGE, flags=re.S)


def test_the_lines_to_try_the_recipes_run(pasted: Path) -> None:
    assert len(commands()) == 2
    for program in commands():
        file = pasted / "program.py"
        file.write_text(textwrap.dedent(program))
        assert run(pasted, "program") == 0


@pytest.fixture
def drop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Import a recipe as a module of a package for the length of a test, and register its class.

    Also where the library has it already: then that module comes back.
    """
    places = [(f"dikin.{folder}", name) for name, folder in RECIPES.items()]
    before = {place: sys.modules.pop(".".join(place), None) for place in places}

    def put(folder: ModuleType, name: str) -> Any:
        (tmp_path / f"{name}.py").write_text(BLOCKS[name], encoding="utf-8")
        monkeypatch.setattr(folder, "__path__", [str(tmp_path), *folder.__path__])
        module = importlib.import_module(f"{folder.__name__}.{name}")
        return dikin.register(getattr(module, name.capitalize()))

    scratch(monkeypatch)
    yield put
    for (package, name), module in before.items():
        sys.modules.pop(f"{package}.{name}", None)
        vars(sys.modules[package]).pop(name, None)
        if module is not None:
            sys.modules[f"{package}.{name}"] = module
            setattr(sys.modules[package], name, module)


def test_a_domain_is_one_file(drop) -> None:
    cls = drop(dikin.domains, "halfball")
    assert registry.domains()["halfball"] is cls
    for domain in cls.examples():
        assert len(dikin.check_domain(domain)) > 20
        world = dikin.Ridge(domain, 1.0, seed=1)
        learner = dikin.AdaptiveSmooth(domain, 1.0, loss_range=world.loss_range, seed=1)
        assert dikin.play(learner, world, 50).regret.shape[0] > 2


def test_a_learner_is_one_file(drop) -> None:
    cls = drop(dikin.learners, "anytime")
    assert registry.learners()["anytime"] is cls
    assert len(dikin.check_learner(cls, dikin.Ball(2))) > 8
    world = dikin.Linear(dikin.Ball(2), seed=1)
    (learner, *_) = cls.examples(dikin.Ball(2), 1)
    assert dikin.play(learner, world, COMPILE_FROM).compiled


def test_a_parameter_kind_is_one_file(drop, monkeypatch) -> None:
    monkeypatch.setitem(BLOCKS, "duration", BLOCKS["duration"].replace("@dikin.register\n", ""))
    cls = drop(dikin.tuning.parameters, "duration")
    assert registry.parameter_kinds()["duration"] is cls
    kept_laws(cls)


def kept_laws(cls: Any) -> None:
    for parameter in cls.examples():
        for law in LAWS:
            law(parameter)


# --- a class of one's own ------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The four classes of a user, each in a file of its own that Python can import."""
    scratch(monkeypatch)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("climber", "parabola", "valley", "duration")
    for name in names:
        (tmp_path / f"{name}.py").write_text(BLOCKS[name], encoding="utf-8")
    found = [getattr(importlib.import_module(name), name.capitalize()) for name in names]
    yield SimpleNamespace(**{cls.__name__: cls for cls in found})
    for name in names:
        del sys.modules[name]


def test_own_classes_are_known_and_keep_the_laws(own) -> None:
    assert registry.learners()["climber"] is own.Climber
    assert registry.domains()["parabola"] is own.Parabola
    assert registry.environments()["valley"] is own.Valley
    domain = own.Parabola()
    assert len(dikin.check_domain(domain)) > 20
    for place in (domain, dikin.Simplex(3), dikin.Product(domain, dikin.Box([1], [4]))):
        assert len(dikin.check_learner(own.Climber, place)) > 8
        assert len(dikin.check_environment(own.Valley, place)) == 9


def test_the_lines_to_try_them_run(own, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(BLOCKS["try"], scope)
    assert isinstance(dikin.load("climber.json"), own.Climber)
    assert [run.checkpoints[-1] for run in scope["runs"]] == [1000] * 4
    with dikin.Study("studies.db", "valley") as study:
        assert study.rounds == scope["learner"].rounds + 1 == 1001
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("Run(1000 rounds, regret ")
    assert printed[1] == "<Climber on Parabola(dim=2), 1000 rounds>"


def test_the_comparison_runs(own, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    short = BLOCKS["compare"].replace("Request(", "Request(rounds=20, seeds=2, workers=1, ")
    exec(short, {})
    rows = (tmp_path / "comparison" / "compare.csv").read_text().splitlines()
    assert sorted(row.split(",")[1:3] for row in rows[1:]) == [
        ["valley-0.3", "Climber"],
        ["valley-0.3", "FKM"],
    ]


def test_own_parameter_is_tuned_saved_and_kept(own, tmp_path: Path) -> None:
    kept_laws(own.Duration)
    tuner = tuner_from_options(("wait=Duration('1s', '10min', start='30s')",), (), seed=1)
    spec = '{"tuner": {"wait": {"kind": "duration", "low": "1s", "high": "10min", "start": "30s"}}'
    assert learner_from_text(spec + ', "seed": 1}').state() == tuner.state()
    assert tuner.best == {"wait": "30s"}
    with dikin.Study(tmp_path / "a.db", "a", tuner) as study:
        for _ in range(10):
            trial = study.ask()
            assert 1 <= float(trial["wait"].removesuffix("s")) <= 600
            study.tell(trial, 1.0)
        dikin.restore(study.state()).save(tmp_path / "a.json")
    assert dikin.load(tmp_path / "a.json").rounds == 10
    with pytest.raises(dikin.DikinError, match=r"wait: low must be a time such as .* got '1 day'"):
        tuner_from_options(("wait=Duration('1 day', '10min')",), ())


def test_own_classes_play(own) -> None:
    domain = own.Parabola()
    for learner in (own.Climber, lambda domain, **rest: dikin.AdaptiveSmooth(domain, 1.0, **rest)):
        (run,) = dikin.replicate(
            lambda seed, make=learner: make(
                domain, loss_range=own.Valley(domain, seed=seed).loss_range, seed=seed
            ),
            lambda seed: own.Valley(domain, seed=seed),
            rounds=500,
            seeds=1,
        )
        low, high = own.Valley(domain).loss_range
        # Far less than the range in every round: both come near the bottom of the valley.
        assert 0 < run.regret[-1] < 0.2 * 500 * (high - low)


def test_own_learner_is_saved_loaded_and_kept(own, tmp_path: Path) -> None:
    for loss_range in ((-1.0, 1.0), None):
        learner = own.Climber(own.Parabola(), loss_range=loss_range, seed=1)
        for _ in range(20):
            learner.tell(learner.ask(), 0.25)
        learner.save(tmp_path / "a.json")
        twin = dikin.load(tmp_path / "a.json")
        assert isinstance(twin, own.Climber)
        assert isinstance(twin.domain, own.Parabola)
        assert twin.ask() == learner.ask()
    url = tmp_path / "a.sqlite"
    alone = own.Climber(own.Parabola(), seed=1)
    dikin.Study(url, "a", own.Climber(own.Parabola(), seed=1)).close()
    for _ in range(3):
        with dikin.Study(url, "a") as study:
            query, twin = study.ask(), alone.ask()
            assert query == twin
            study.tell(query, 0.5)
            alone.tell(twin, 0.5)


def test_a_generator_of_ones_own_is_found(own) -> None:
    """Its place in the stream is not saved, as CONTRIBUTING.md says."""

    class Forgetful(own.Climber):
        def __init__(self, domain, step=0.3, *, loss_range=(-1.0, 1.0), seed=None) -> None:
            super().__init__(domain, step, loss_range=loss_range, seed=seed)
            rng = np.random.default_rng(seed)
            self._noise.draw = lambda: rng.standard_normal(domain.dim)

    with pytest.raises(CheckFailedError, match="Forgetful"):
        dikin.check_learner(Forgetful, dikin.Ball(2))
