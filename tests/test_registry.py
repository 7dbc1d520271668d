"""Classes of users: what is registered, what is refused, and what cannot be loaded is not saved."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors, registry
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


def test_register_gives_the_class_back_and_knows_it() -> None:
    for cls, folder in ((Slow, "learners"), (Crate, "domains"), (Slope, "environments")):
        known = registry.FOLDERS[folder]
        before = dict(known.classes)
        for _ in range(2):  # once more changes nothing
            assert dikin.register(cls) is cls
            assert known.find(cls.__name__.lower()) is cls
            assert known.every() == before | {cls.kind: cls}
        assert sum(cls.kind in other.classes for other in registry.FOLDERS.values()) == 1


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (3, "derived from one of dikin.Domain, .*dikin.ParameterKind.*, got 3"),
        (CRATE, r"got Crate\(dim=1\)"),
        (dikin.Domain, "Domain is abstract: define barrier, examples, gradient"),
        (
            type("FKM", (dikin.AdaptiveSmooth,), {"__module__": "elsewhere"}),
            r"learners\.descent\.FKM already has the name 'fkm': give elsewhere\.FKM another",
        ),
    ],
)
def test_a_class_that_cannot_be_registered(thing: Any, said: str) -> None:
    before = [dict(known.classes) for known in registry.FOLDERS.values()]
    with pytest.raises(errors.ParameterError, match=said) as refusal:
        dikin.register(thing)
    assert str(refusal.value).endswith("Nothing was registered.")
    assert [known.classes for known in registry.FOLDERS.values()] == before


@pytest.mark.parametrize(
    ("make", "cls"),
    [
        (lambda: Slow(dikin.Ball(2), 100, seed=1), Slow),
        (lambda: Slow(dikin.Ball(2), 100, loss_range=None, seed=1), Slow),
        (lambda: dikin.FKM(dikin.Product(dikin.Ball(2), CRATE), 100, seed=1), Crate),
        (lambda: dikin.Corral(CRATE, [dikin.FKM(CRATE, 9), Slow(CRATE, 9)], 9), Crate),
    ],
)
def test_a_class_is_registered_to_be_saved(tmp_path: Path, make: Any, cls: Any) -> None:
    learner, path = make(), tmp_path / "a.json"
    said = rf"{cls.__name__} is not registered.*@dikin\.register above the class.*Nothing was saved"
    with pytest.raises(errors.NotSavableError, match=said):
        learner.save(path)
    assert not path.exists()
    with pytest.raises(errors.ParameterError, match=r"registers it \(dikin.register\)"):
        dikin.restore(learner.state())
    for each in (Slow, Crate):
        dikin.register(each)
    learner.save(path)
    assert dikin.load(path).state() == learner.state()


class Boastful(dikin.Linear):
    """Declares a quarter of its slope, in the last example only."""

    @classmethod
    def examples(cls, domain: dikin.Domain, seed: int) -> Iterator[Any]:
        yield dikin.Linear(domain, seed=seed)
        last = cls(domain, seed=seed)
        last.lipschitz /= 4
        yield last


def test_check_environment_runs_every_law_on_every_example() -> None:
    laws = import_module("dikin.checks.environment")
    for thing in (Slope, lambda domain, seed: Slope(domain, 2.0, seed=seed)):
        held = dikin.check_environment(thing, CRATE)  # needs not be registered
        assert held == [name for name in vars(laws) if name.startswith("check_")]
    with pytest.raises(errors.CheckFailedError, match=r"Boastful.*the change of the loss"):
        dikin.check_environment(Boastful, dikin.Ball(2))
    for wrong in (dikin.FKM, 3, lambda domain, seed: domain):
        with pytest.raises(errors.ParameterError, match="needs an environment such as Ridge"):
            dikin.check_environment(wrong, dikin.Ball(2))
    with pytest.raises(errors.ParameterError, match=r"need a domain such as Ball\(2\) to play on"):
        dikin.check_environment(dikin.Linear, 2)
