"""Classes of users: what is registered, what is refused, and what cannot be loaded is not saved."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors, registry
from dikin.domains.base import DOMAINS
from dikin.environments.base import ENVIRONMENTS
from dikin.learners.base import LEARNERS
from tables import scratch


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    scratch(monkeypatch)


class Slow(dikin.FKM):
    """A learner of a user."""


class Crate(dikin.Box):
    """A domain of a user."""


class Slope(dikin.Linear):
    """An environment of a user."""


CRATE = Crate([0.0], [2.0])
SRC = str(Path(dikin.__file__).parent.parent)


# --- registering ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "known"), [(Slow, LEARNERS), (Crate, DOMAINS), (Slope, ENVIRONMENTS)]
)
def test_register_gives_the_class_back_and_knows_it(cls: Any, known: Any) -> None:
    before = dict(known.classes)
    assert dikin.register(cls) is cls
    assert known.find(cls.__name__.lower()) is cls
    assert known.every() == before | {cls.kind: cls}
    assert dikin.register(cls) is cls  # once more changes nothing
    assert known.every() == before | {cls.kind: cls}
    others = [other for other in registry.FOLDERS.values() if other is not known]
    assert all(cls.kind not in other.classes for other in others)


def fkm_of_another_module() -> type:
    return type("FKM", (dikin.AdaptiveSmooth,), {"__module__": "elsewhere"})


class NoMethods(dikin.Learner):
    """Still abstract."""


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (3, "derived from one of dikin.Domain, .*dikin.ParameterKind.*, got 3"),
        (dict, "got <class 'dict'>"),
        (CRATE, r"got Crate\(dim=1\)"),
        (
            dikin.Learner,
            "Learner is abstract: define _learn, _propose, .* every learner needs",
        ),
        (NoMethods, "NoMethods is abstract: define .*center, examples"),
        (dikin.Domain, "Domain is abstract: define barrier, examples, gradient"),
        (
            dikin.Environment,
            "Environment is abstract: define best, examples, which every environ",
        ),
        (
            fkm_of_another_module(),
            r"learners\.descent\.FKM already has the name 'fkm': give elsewhere\.FKM another",
        ),
    ],
)
def test_what_cannot_be_registered_is_refused(thing: Any, said: str) -> None:
    before = [dict(known.classes) for known in registry.FOLDERS.values()]
    with pytest.raises(errors.ParameterError, match=said) as refusal:
        dikin.register(thing)
    assert str(refusal.value).endswith("Nothing was registered.")
    assert [known.classes for known in registry.FOLDERS.values()] == before


# --- what cannot be loaded is not saved -----------------------------------------------------------


def unsaved(tmp_path: Path, learner: Any, name: str) -> None:
    """No file is made, and the reason says what to do."""
    said = rf"{name} is not registered.*@dikin\.register above the class.*Nothing was saved"
    with pytest.raises(errors.NotSavableError, match=said):
        learner.save(tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()


def saved(tmp_path: Path, learner: Any) -> Any:
    """The learner that comes back from a file."""
    learner.save(tmp_path / "b.json")
    twin = dikin.load(tmp_path / "b.json")
    assert twin.state() == learner.state()
    return twin


@pytest.mark.parametrize("loss_range", [(-1.0, 1.0), None])
def test_a_learner_is_saved_once_its_class_is_registered(tmp_path: Path, loss_range: Any) -> None:
    learner = Slow(dikin.Ball(2), 100, loss_range=loss_range, seed=1)
    unsaved(tmp_path, learner, "the learner .*Slow")
    dikin.register(Slow)
    assert saved(tmp_path, learner).__class__ is Slow


@pytest.mark.parametrize("wrap", [lambda d: d, lambda d: dikin.Product(dikin.Ball(2), d)])
def test_a_domain_of_a_user_and_a_part_that_is_one(tmp_path: Path, wrap: Any) -> None:
    learner = dikin.FKM(wrap(CRATE), 100, seed=1)
    unsaved(tmp_path, learner, "the domain .*Crate")
    dikin.register(Crate)
    spec = saved(tmp_path, learner).domain.spec()
    assert "crate" in str(spec)


def test_a_name_that_is_not_known_says_how_it_would_be() -> None:
    state = Slow(dikin.Ball(2), 100, seed=1).state()
    with pytest.raises(errors.ParameterError, match=r"'slow'.*registers it \(dikin.register\)"):
        dikin.restore(state)


# --- installed packages ---------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Installs a package with these entry points, and lets them be read once more."""
    modules: list[str] = []

    def install(points: dict[str, str], **sources: str) -> None:
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        lines = [f"{name} = {value}" for name, value in points.items()]
        info = tmp_path / "mine-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("\n".join(["[dikin]", *lines, ""]))
        modules.extend(sources)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(registry, "_unread", [registry.GROUP])

    yield install
    for name in modules:
        sys.modules.pop(name, None)


SWIFT = """
    import dikin

    class Swift(dikin.FKM):
        '''A learner of an installed package.'''
"""
TUB = """
    import dikin
    from dikin import registry

    @dikin.register
    class Tub(dikin.Box):
        '''A domain of an installed package.'''

    # Looked for while entry points are being read.
    assert "ball" in registry.FOLDERS["domains"].every()
"""


def test_entry_points_name_a_class_or_a_module(installed: Any, tmp_path: Path) -> None:
    installed({"a": "swift_file:Swift", "b": "tub_file"}, swift_file=SWIFT, tub_file=TUB)
    assert "swift" not in LEARNERS.classes
    assert "swift_file" not in sys.modules  # not before a name is looked for
    assert registry.FOLDERS["learners"].every()["swift"] is sys.modules["swift_file"].Swift
    assert registry.FOLDERS["domains"].every()["tub"] is sys.modules["tub_file"].Tub


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("not_there:Swift", "ModuleNotFoundError: No module named 'not_there'"),
        ("broken_file", "ZeroDivisionError"),
        ("taken_file:FKM", "ParameterError: the learner .*already has the name 'fkm'"),
    ],
)
def test_a_broken_entry_point_is_left_out_alone(installed: Any, value: str, said: str) -> None:
    taken = SWIFT.replace("Swift", "FKM")
    installed(
        {"a": value, "b": "swift_file:Swift"},
        **{"broken_file": "1 / 0", "swift_file": SWIFT, "taken_file": taken},
    )
    with pytest.warns(errors.DikinWarning, match=rf"entry point a = {value}.*{said}") as told:
        found = registry.FOLDERS["learners"].every()
    assert found["swift"].__module__ == "swift_file"
    assert found["fkm"] is dikin.FKM
    assert registry.FOLDERS["learners"].every() == found
    assert len(told) == 1


# --- the checks -----------------------------------------------------------------------------------


class Boastful(dikin.Linear):
    """Declares half of its slope, in the last example only."""

    @classmethod
    def examples(cls, domain: dikin.Domain, seed: int) -> Iterator[Any]:
        yield dikin.Linear(domain, seed=seed)
        last = cls(domain, seed=seed)
        last.lipschitz /= 4
        yield last


def test_check_environment_runs_every_law_on_every_example() -> None:
    held = dikin.check_environment(Slope, CRATE)  # needs not be registered
    laws = import_module("dikin.checks.environment")
    assert held == [name for name in vars(laws) if name.startswith("check_")]
    assert dikin.check_environment(lambda d, seed: Slope(d, 2.0, seed=seed), CRATE) == held
    with pytest.raises(errors.CheckFailedError, match=r"Boastful.*the change of the loss"):
        dikin.check_environment(Boastful, dikin.Ball(2))


@pytest.mark.parametrize(
    ("thing", "domain", "said"),
    [
        (dikin.FKM, dikin.Ball(2), "needs an environment such as Ridge, got <class .*FKM"),
        (3, dikin.Ball(2), "needs an environment such as Ridge, or a function .*got 3"),
        (lambda d, seed: d, dikin.Ball(2), "or a function of a domain and a seed; got <function"),
        (dikin.Linear, 2, r"need a domain such as Ball\(2\) to play on, got 2"),
    ],
)
def test_check_environment_refuses_what_is_none(thing: Any, domain: Any, said: str) -> None:
    with pytest.raises(errors.ParameterError, match=said):
        dikin.check_environment(thing, domain)
