"""The shape of the code: who may import whom, what `import dikin` costs, files found by folder."""

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dikin
import dikin.domains
from dikin import registry, stub
from dikin.domains.base import Domain

SRC = Path(dikin.__file__).parent
TESTS = Path(__file__).parent

BOTTOM = {"errors", "kernel", "feedback", "kinds"}
GEOMETRY = BOTTOM | {"domains"}
TOOLS = GEOMETRY | {"units", "streams", "storage", "theory", "forecasts"}
ROLES = TOOLS | {"learners", "environments", "curvature", "registry", "loading"}
GAME = ROLES | {"engine", "dikin"}

# What each part of the package may import besides itself; `dikin` is the package as a whole.
ALLOWED = {
    "errors": set(),
    "kernel": set(),
    "feedback": set(),
    "kinds": {"errors"},
    "domains": BOTTOM,
    "theory": BOTTOM,
    "forecasts": BOTTOM,
    "streams": BOTTOM,
    "storage": BOTTOM,
    "units": GEOMETRY,
    "curvature": TOOLS,
    "learners": TOOLS,
    "environments": TOOLS | {"curvature"},
    "registry": ROLES - {"registry", "loading"},
    "loading": ROLES - {"loading"},
    "engine": GAME,
    "checks": GAME,
    "experiments": GAME | {"checks"},
    "studies": ROLES - {"environments", "theory"},
    "cli": GAME | {"checks", "experiments", "studies"},
    "stub": {"dikin", "registry"},
    "__main__": {"cli"},
    "__init__": GAME | {"checks", "experiments", "studies"},
}


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str) -> bool:
    path = SRC.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def imported(path: Path, source: str) -> Iterator[str]:
    """Every module of dikin that a source imports, wherever in the file, by its full name."""
    package = path.relative_to(SRC.parent).parts[:-1]
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            # `from dikin.theory import tuning` names modules, `from dikin.units import Units` one.
            below = [f"{base}.{alias.name}" for alias in node.names]
            names = [name for name in below if is_module(name)] or [base]
        yield from (name for name in names if name.split(".")[0] == "dikin")


def trespasses(path: Path, source: str) -> list[str]:
    """The imports of a file that point the wrong way."""
    part = path.relative_to(SRC).parts[0].removesuffix(".py")
    return [
        f"{module_name(path)} imports {name}"
        for name in imported(path, source)
        if [*name.split("."), "dikin"][1] not in ALLOWED[part] | {part}
    ]


def test_imports_point_down() -> None:
    files = sorted(SRC.rglob("*.py"))
    parts = {path.relative_to(SRC).parts[0].removesuffix(".py") for path in files}
    assert parts <= set(ALLOWED), "a new part of the package: say in ALLOWED what it may import"
    assert [wrong for path in files for wrong in trespasses(path, path.read_text())] == []


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        (
            "learners/adaptive.py",
            "from dikin.environments.ridge import Ridge",
            "environments.ridge",
        ),
        ("learners/adaptive.py", "from dikin import environments", "environments"),
        ("learners/adaptive.py", "from ..environments import base", "environments.base"),
        ("learners/adaptive.py", "import dikin.engine.play", "engine.play"),
        ("learners/adaptive.py", "def f():\n    from dikin import registry", "registry"),
        ("learners/corral.py", "from dikin import registry", "registry"),
        ("environments/ridge.py", "def f():\n    from dikin.learners import base", "learners.base"),
        ("domains/ball.py", "from dikin.units import Units", "units"),
        ("domains/ball.py", "import dikin", ""),
        ("theory/rates.py", "from dikin.domains.base import Domain", "domains.base"),
        ("engine/play.py", "import dikin.experiments.cell", "experiments.cell"),
        ("studies/study.py", "from dikin.engine.play import play", "engine.play"),
        ("learners/base.py", "from dikin.studies.study import Study", "studies.study"),
        ("errors.py", "from . import storage", "storage"),
    ],
)
def test_an_import_that_points_up_is_caught(file: str, line: str, wrong: str) -> None:
    path = SRC / file
    name = f"dikin.{wrong}".rstrip(".")
    assert trespasses(path, line) == [f"{module_name(path)} imports {name}"]


def test_machines_know_roles_and_not_names() -> None:
    """What works with every domain, learner or environment imports none, save of its own folder."""
    classes = (*registry.domains().values(), *registry.learners().values())
    concrete = {cls.__module__ for cls in (*classes, *registry.environments().values())}
    for folder in ("learners", "environments", "engine"):
        for path in (SRC / folder).glob("*.py"):
            found = concrete & set(imported(path, path.read_text()))
            assert {name for name in found if name.split(".")[1] != folder} == set(), path.name


# --- the package ---------------------------------------------------------------------------------


HEAVY = "numba scipy matplotlib joblib pandas sqlalchemy rich typer click sklearn"


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import dikin", []),
        ("import dikin; dikin.Polytope([[1], [-1]], [1, 1])", ["scipy"]),  # the probe sees it
    ],
)
def test_import_dikin_is_light(code: str, loaded: list[str]) -> None:
    probe = f"{code}; import sys; print(*[m for m in {HEAVY.split()} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.split() == loaded


PICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve"}


def unsafe(source: str) -> list[str]:
    """Ways to run what a file says."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                modules = {getattr(node, "module", None), *(alias.name for alias in names)}
                found += modules & PICKLES
            case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
                found.append(name)
            case ast.keyword(arg="allow_pickle"):
                found.append("allow_pickle")
            case ast.Attribute(attr="load", value=ast.Name(id="np" | "numpy")):
                found.append("np.load")
    return sorted(found)


def test_nothing_is_pickled_or_evaluated() -> None:
    found = {module_name(path): unsafe(path.read_text()) for path in SRC.rglob("*.py")}
    assert {name: ways for name, ways in found.items() if ways} == {}
    planted = "import pickle\nfrom dill import loads\nnp.load(f, allow_pickle=True)\neval(f)"
    assert unsafe(planted) == ["allow_pickle", "dill", "eval", "np.load", "pickle"]


def test_every_public_name_is_documented() -> None:
    bare = []
    for name in dikin.__all__:
        thing = getattr(dikin, name)
        text = (vars(thing)["__doc__"] if inspect.isclass(thing) else thing.__doc__) or ""
        # A dataclass or NamedTuple without a docstring writes its signature there.
        if not text.strip() or text.startswith(f"{name}("):
            bare.append(name)
    assert bare == []
    assert sorted(dikin.__all__) == sorted(set(dikin.__all__))


def test_the_stub_is_up_to_date() -> None:
    for path, text in stub.stubs().items():
        assert path.read_text(encoding="utf-8") == text, "run `make stub`"
    assert len(stub.stubs()) == 4


# --- a new file is known without editing a list --------------------------------------------------

CRATE = '''
"""A box that came from elsewhere."""
from dikin.domains.base import Domain
from dikin.domains.box import Box

class Crate(Box):
    """A box."""

class Unfinished(Domain):
    """Still abstract."""
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A second folder of domains."""
    monkeypatch.setattr(dikin.domains, "__path__", [*dikin.domains.__path__, str(tmp_path)])
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(f"dikin.domains.{path.stem}", None)
        vars(dikin.domains).pop(path.stem, None)


def test_a_new_domain_is_one_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "crate.py").write_text(CRATE)
    importlib.invalidate_caches()
    found = registry.discover("domains", Domain)
    assert set(found) - set(registry.domains()) == {"crate"}
    assert {kind: found[kind] for kind in registry.domains()} == registry.domains()
    # It is saved and loaded like any other.
    learner = dikin.AdaptiveSmooth(found["crate"]([0], [2]), 1.0, seed=0)
    state = learner.state()
    with pytest.raises(dikin.DikinError, match="no domain is called 'crate'"):
        dikin.restore(state)
    monkeypatch.setattr(registry, "domains", lambda: found)
    assert type(dikin.restore(state).domain) is found["crate"]


def test_two_classes_of_one_kind(folder: Path) -> None:
    (folder / "crate.py").write_text(CRATE)
    (folder / "crates.py").write_text(CRATE)
    importlib.invalidate_caches()
    with pytest.raises(TypeError, match=r"two classes of dikin\.domains are called 'crate'"):
        registry.discover("domains", Domain)
