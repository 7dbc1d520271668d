"""The recipes of docs/extending.md: a class of one's own is one file, and all of it works."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dikin
from dikin import registry
from dikin.errors import CheckFailedError
from dikin.service.app import tuner_from_spec
from dikin.studies.commands import parameter as parameter_of
from tables import scratch
from tuning.parameters.test_kinds import LAWS

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "examples" / "own"
PAGES = [
    (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "docs/extending.md")
]
CLASSES = ("climber", "parabola", "valley", "duration")


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Four classes of a user, each in a file of its own that Python can import."""
    scratch(monkeypatch)
    monkeypatch.syspath_prepend(OWN)
    found = [getattr(importlib.import_module(name), name.capitalize()) for name in CLASSES]
    yield SimpleNamespace(**{cls.__name__: cls for cls in found})
    for name in CLASSES:
        del sys.modules[name]


def test_files_that_are_named_exist() -> None:
    places = [ROOT, ROOT / "src/dikin", OWN, *(ROOT / "src/dikin").glob("*/")]
    for name in re.findall(r"`([\w/.]+\.(?:py|csv|md|yml|cff|toml))`", "".join(PAGES)):
        assert any((place / name).exists() for place in places), name


def test_own_classes_are_known_and_keep_the_laws(own) -> None:
    assert registry.FOLDERS["learners"].every()["climber"] is own.Climber
    assert registry.FOLDERS["domains"].every()["parabola"] is own.Parabola
    assert registry.FOLDERS["environments"].every()["valley"] is own.Valley
    domain = own.Parabola()
    assert len(dikin.check_domain(domain)) == 20
    for place in (domain, dikin.Simplex(3), dikin.Product(domain, dikin.Box([1], [4]))):
        assert len(dikin.check_learner(own.Climber, place)) == 8
        assert len(dikin.check_environment(own.Valley, place)) == 8
    for parameter in (own.Duration("1s", "10min", start="30s"), own.Duration("0.5h", "2h")):
        for law in LAWS:
            law(parameter)


def test_the_page_names_every_method_that_is_needed(own) -> None:
    for cls in vars(own).values():
        section = PAGES[1].split(f"\n`{cls.__name__.lower()}.py` ")[1].split("\n## ")[0]
        for method, value in vars(cls).items():
            inherited = getattr(cls.__base__, method, None) is not None
            if callable(value) and inherited and not method.startswith("__"):
                assert f"`{method}`" in section, method


def test_the_example_runs(tmp_path: Path) -> None:
    command = [sys.executable, str(OWN / "try_them.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Run(1000 rounds, regret ")
    assert "<Climber on Parabola(dim=2), 1000 rounds>" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_class_in_the_library_is_one_file_and_its_name(tmp_path: Path) -> None:
    copy = tmp_path / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder, cls in (("domains", "Parabola"), ("learners", "Climber")):
        name = cls.lower()
        text = (OWN / f"{name}.py").read_text(encoding="utf-8").replace("@dikin.register\n", "")
        base = "from dikin.learners.base import Learner\n" if folder == "learners" else ""
        text = re.sub(r"dikin\.(Domain|Learner)", r"\1", text.replace("import dikin\n", base))
        text = text.replace("base import Array", "base import Array, Domain")
        (copy / f"dikin/{folder}/{name}.py").write_text(text, encoding="utf-8")
        names = copy / f"dikin/{folder}/__init__.py"
        line = f"from dikin.{folder}.{name} import {cls}"
        names.write_text(names.read_text().replace("__all__ = [", f'{line}\n__all__ = ["{cls}",'))
    program = f"""
import dikin; from dikin import registry
assert dikin.__file__.startswith({str(copy)!r})
assert registry.FOLDERS["domains"].classes["parabola"] is dikin.Parabola
assert registry.FOLDERS["learners"].classes["climber"] is dikin.Climber
for domain in dikin.Parabola.examples(): dikin.check_domain(domain)
dikin.check_learner(dikin.Climber, dikin.Ball(2))
"""
    environment = os.environ | {"PYTHONPATH": str(copy)}
    subprocess.run([sys.executable, "-c", program], env=environment, cwd=tmp_path, check=True)


def test_own_parameter_is_tuned_saved_and_kept(own, tmp_path: Path) -> None:
    tuner = dikin.Tuner(
        {"wait": parameter_of("wait", "Duration('1s', '10min', start='30s')")}, seed=1
    )
    wait = {"kind": "duration", "low": "1s", "high": "10min", "start": "30s"}
    assert tuner_from_spec({"tuner": {"wait": wait}, "seed": 1}).state() == tuner.state()
    assert tuner.best == {"wait": "30s"}
    with dikin.Study(tmp_path / "a.db", "a", tuner) as study:
        for _ in range(10):
            trial = study.ask()
            assert 1 <= float(trial["wait"].removesuffix("s")) <= 600
            study.tell(trial, 1.0)
        dikin.restore(study.state()).save(tmp_path / "a.json")
    assert dikin.load(tmp_path / "a.json").rounds == 10
    with pytest.raises(dikin.DikinError, match=r"wait: low must be a time such as .* got '1 day'"):
        parameter_of("wait", "Duration('1 day', '10min')")


def test_a_generator_of_ones_own_is_found(own) -> None:
    """Its place in the stream is not saved, as docs/extending.md says."""

    class Forgetful(own.Climber):
        def __init__(self, domain, step=0.3, *, loss_range=(-1.0, 1.0), seed=None) -> None:
            super().__init__(domain, step, loss_range=loss_range, seed=seed)
            rng = np.random.default_rng(seed)
            self._noise.draw = lambda: rng.standard_normal(domain.dim)

    with pytest.raises(CheckFailedError, match="Forgetful"):
        dikin.check_learner(Forgetful, dikin.Ball(2))
