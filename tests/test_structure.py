"""The shape of the code: who may import whom, what `import dikin` costs, which names it has."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import dikin
import dikin.domains
from dikin import registry

SRC = Path(dikin.__file__).parent
TESTS = Path(__file__).parent

BOTTOM = {
    "arguments",
    "deprecation",
    "errors",
    "extras",
    "feedback",
    "files",
    "kernel",
    "log_limit",
    "open_queries",
    "players",
    "registry",
    "rng",
    "serialization",
    "silence",
    "vectors",
}
GEOMETRY = BOTTOM | {"domains"}
TOOLS = GEOMETRY | {"units", "theory", "forecasts"}
ROLES = TOOLS | {"learners", "environments", "curvature", "loading"}
GAME = ROLES | {"engine", "plotting", "tuning", "worth", "dikin"}

# What each part of the package may import besides itself; `dikin` is the package as a whole.
ALLOWED = {
    "deprecation": set(),
    "errors": set(),
    "kernel": set(),
    "silence": set(),
    "log_limit": {"silence"},
    "feedback": set(),
    "vectors": {"kernel"},
    "plotting": BOTTOM - {"players"},
    "arguments": {"errors", "vectors"},
    "extras": {"errors"},
    "registry": {"errors"},
    "rng": {"arguments", "errors", "vectors"},
    "files": {"errors"},
    "serialization": {"errors", "files"},
    "open_queries": {"arguments", "errors", "vectors"},
    "players": {"arguments", "errors", "open_queries", "serialization", "status", "vectors"},
    "domains": BOTTOM,
    "theory": BOTTOM,
    "forecasts": BOTTOM,
    "units": GEOMETRY,
    "curvature": TOOLS,
    "learners": TOOLS | {"status"},
    "environments": TOOLS | {"curvature"},
    "status": {"deprecation", "plotting", "serialization", "vectors", "worth"},
    "tuning": TOOLS | {"learners", "engine", "plotting", "status", "worth"},
    "loading": TOOLS | {"learners", "tuning"},
    "worth": TOOLS,
    "engine": (ROLES - {"loading"}) | {"plotting"},
    "checks": GAME,
    "experiments": GAME | {"checks"},
    "studies": (ROLES - {"environments", "theory"})
    | {"engine", "plotting", "status", "tuning", "worth"},
    "service": BOTTOM | {"status", "studies", "tuning", "learners", "loading", "worth", "dikin"},
    "adapters": BOTTOM | {"studies", "tuning"},
    "cli": GAME | {"checks", "experiments", "studies", "service"},
    "__main__": {"cli"},
    "__init__": GAME | {"checks", "studies", "tuning"},
}

DEFERRED = {
    ("dikin.cli", "dikin.experiments.compare"),
    ("dikin.cli", "dikin.experiments.rates"),
    ("dikin.cli", "dikin.experiments.reproduce"),
    ("dikin.service.commands", "dikin.service.app"),
    ("dikin.service.commands", "dikin.service.server"),
    ("dikin.service.commands", "dikin.service.service"),
}
"""Modules of dikin that are imported inside a function. No more come in; those that go are deleted.

The command line may: `dikin study` neither waits for the libraries of experiments nor needs them.
"""

Edge = tuple[str, str]


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str) -> bool:
    path = SRC.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


@cache
def nodes(source: str) -> list[ast.AST]:
    """All parts of a program."""
    return list(ast.walk(ast.parse(source)))


@cache
def imported(path: Path, source: str) -> list[str]:
    """Every module of dikin that a source imports, wherever in the file, by its full name."""
    return [name for node in nodes(source) for name in named(path, node)]


def named(path: Path, node: ast.AST) -> list[str]:
    """The modules of dikin that a statement imports."""
    names = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        package = path.relative_to(SRC.parent).parts[:-1]
        above = package[: len(package) + 1 - node.level] if node.level else ()
        base = ".".join([*above, *filter(None, [node.module])])
        # `from dikin.theory import schedules` names modules, `from dikin.units import Units` one.
        below = [f"{base}.{alias.name}" for alias in node.names]
        names = [name for name in below if is_module(name)] or [base]
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        names = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return [name for name in names if name.split(".")[0] == "dikin"]


def deferred(path: Path, source: str) -> set[Edge]:
    """The imports of modules of dikin inside functions."""
    functions = [
        node
        for node in nodes(source)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    inside = {name for outer in functions for node in ast.walk(outer) for name in named(path, node)}
    return {(module_name(path), name) for name in inside}


def for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def edges(path: Path, source: str) -> set[Edge]:
    """All imports of modules of dikin that happen at some time, not those for type checkers."""
    skipped = {id(each) for node in nodes(source) if for_types(node) for each in ast.walk(node)}
    left = [node for node in nodes(source) if id(node) not in skipped]
    return {(module_name(path), name) for node in left for name in named(path, node)}


def cycle(found: set[Edge]) -> list[str]:
    """A chain of imports that ends where it began, if there is one."""
    graph: dict[str, set[str]] = {}
    for module, name in found:
        graph.setdefault(module, set()).add(name)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


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


def test_no_import_waits_in_a_function() -> None:
    """Such an import hides a cycle; only packages that are slow to import may wait there."""
    found = {edge for path in SRC.rglob("*.py") for edge in deferred(path, path.read_text())}
    assert found - DEFERRED == set(), "move the import to the top of its file"
    assert DEFERRED - found == set(), "no longer deferred: delete the line from DEFERRED"


def test_no_modules_import_each_other() -> None:
    found = {edge for path in SRC.rglob("*.py") for edge in edges(path, path.read_text())}
    assert len(found) > 300
    assert cycle(found - DEFERRED) == []


def test_a_cycle_is_caught_and_so_is_a_hidden_one() -> None:
    ball, box = SRC / "domains/ball.py", SRC / "domains/box.py"
    hidden = "def f():\n    import dikin.domains.ball"
    found = edges(ball, "from dikin.domains import box") | edges(box, hidden)
    assert sorted(set(cycle(found))) == ["dikin.domains.ball", "dikin.domains.box"]
    assert deferred(box, hidden) == {("dikin.domains.box", "dikin.domains.ball")}
    by_name = "def f():\n    importlib.import_module('dikin.domains.ball')"
    assert edges(box, by_name) == deferred(box, by_name) == deferred(box, hidden)
    typed = "if TYPE_CHECKING:\n    from dikin.domains import ball"
    assert edges(box, typed) == deferred(box, typed) == deferred(ball, "import dikin") == set()


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
        ("learners/adaptive.py", "def f():\n    from dikin import loading", "loading"),
        ("learners/corral.py", "from dikin import loading", "loading"),
        ("registry.py", "from dikin.domains.base import Domain", "domains.base"),
        ("engine/play.py", "import dikin", ""),
        ("environments/ridge.py", "def f():\n    from dikin.learners import base", "learners.base"),
        ("domains/ball.py", "from dikin.units import Units", "units"),
        ("domains/ball.py", "import dikin", ""),
        ("theory/rates.py", "from dikin.domains.base import Domain", "domains.base"),
        ("engine/play.py", "import dikin.experiments.cell", "experiments.cell"),
        ("studies/study.py", "from dikin.experiments import fit", "experiments.fit"),
        ("learners/base.py", "from dikin.studies.study import Study", "studies.study"),
        ("studies/study.py", "import dikin.adapters.optuna", "adapters.optuna"),
        ("service/app.py", "from dikin.adapters import openfeature", "adapters.openfeature"),
        ("cli.py", "from dikin.adapters import gest_api", "adapters.gest_api"),
        ("errors.py", "from . import serialization", "serialization"),
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


def test_parameter_kinds_are_asked_and_not_named() -> None:
    """What a parameter's kind decides is a method of the kind: nothing else imports one."""
    kinds = {cls.__module__ for cls in registry.parameter_kinds().values()}
    assert len(kinds) == 4
    inside = SRC / "tuning" / "parameters"
    files = [path for path in SRC.rglob("*.py") if inside not in path.parents]
    assert {path for path in files if kinds & set(imported(path, path.read_text()))} == set()
    planted = "from dikin.tuning.parameters.shares import Shares"
    assert kinds & set(imported(SRC / "tuning/space.py", planted))


# --- the package ---------------------------------------------------------------------------------


PROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text())["project"]
LAB = [re.split("[^a-z]", each)[0] for each in PROJECT["optional-dependencies"]["lab"]]
HEAVY = [*LAB, "pandas", "sqlalchemy", "click", "sklearn"]

LOOP = """
learner = dikin.Predictive(dikin.Box([0, 0], [10, 2]), seed=7)
for _ in range(30):
    query = learner.ask()
    learner.tell(query, float(query.point.sum()))
learner.save(folder + "/learner.json")
dikin.load(folder + "/learner.json")
"""
STUDY = """
with dikin.Study(folder + "/studies.db", "a", dikin.Predictive(dikin.Ball(2), seed=1)) as study:
    study.tell(study.ask(), 1.0)
    study.history()
"""
GAME_OF_100 = """
world = dikin.Ridge(dikin.Ball(2), 1.0, seed=1)
learner = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=world.loss_range, seed=1)
dikin.play(learner, world, 100)
"""


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("", []),
        (LOOP, []),
        (STUDY, ["sqlalchemy"]),
        ("import dikin.cli", ["click"]),
        ("dikin.Polytope([[1], [-1]], [1, 1])", ["scipy"]),  # the probe sees it
    ],
    ids=["import", "loop", "study", "command line", "polytope"],
)
def test_a_live_loop_imports_little(code: str, loaded: list[str], tmp_path: Path) -> None:
    probe = f"import sys, dikin; folder = {str(tmp_path)!r}\n{code}\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, timeout=600, check=True
    )
    assert [name for name in HEAVY if name in run.stdout.split()] == loaded


def test_few_packages_are_installed_for_a_live_loop() -> None:
    needed = {re.split("[^a-z]", each)[0] for each in PROJECT["dependencies"]}
    assert needed == {"click", "numpy", "sqlalchemy"}
    assert set(LAB) == {"joblib", "matplotlib", "numba", "rich", "scipy"}


HIDE_LAB = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {LAB}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hidden())
import dikin
dikin.extras.installed = lambda package: False
"""
"""As if the packages of the extra `lab` were not installed."""


@pytest.mark.parametrize("code", [LOOP, STUDY, GAME_OF_100], ids=["loop", "study", "game"])
def test_a_live_loop_needs_no_extra(code: str, tmp_path: Path) -> None:
    probe = f"{HIDE_LAB}\nfolder = {str(tmp_path)!r}\n{code}"
    subprocess.run([sys.executable, "-c", probe], timeout=600, check=True)


@pytest.mark.parametrize("name", ["reproduce", "rates", "compare"])
def test_an_experiment_names_the_extra_that_it_needs(name: str) -> None:
    probe = f"{HIDE_LAB}\nimport dikin.experiments.{name}"
    run = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, timeout=600, check=False
    )
    assert "MissingExtraError: dikin.experiments needs rich" in run.stderr
    assert 'pip install "dikin[lab]"' in run.stderr


PICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve"}


def unsafe(source: str) -> list[str]:
    """Ways to run what a file says."""
    found: list[str] = []
    for node in nodes(source):
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


# --- names ---------------------------------------------------------------------------------------


def classes_in(folder: str) -> set[type]:
    """The concrete classes of a role that the modules of its folder define."""
    package, base = importlib.import_module(f"dikin.{folder}"), registry.FOLDERS[folder].base
    names = [f"dikin.{folder}.{info.name}" for info in pkgutil.iter_modules(package.__path__)]
    modules = map(importlib.import_module, names)
    found = [cls for module in modules for cls in vars(module).values() if inspect.isclass(cls)]
    return {
        cls
        for cls in found
        if issubclass(cls, base) and cls.__module__ in names and not inspect.isabstract(cls)
    }


def unnamed(folder: str) -> set[str]:
    package = importlib.import_module(f"dikin.{folder}")
    return {cls.__name__ for cls in classes_in(folder)} - {*package.__all__}


@pytest.mark.parametrize("folder", registry.FOLDERS)
def test_a_package_names_every_class_of_its_modules(folder: str) -> None:
    package = importlib.import_module(f"dikin.{folder}")
    assert unnamed(folder) == set(), f"import it in src/dikin/{folder}/__init__.py"
    assert {getattr(package, name) for name in package.__all__} == classes_in(folder)
    assert {*package.__all__} <= {*dikin.__all__}
    registered = registry.FOLDERS[folder].classes
    assert registered == {cls.kind: cls for cls in classes_in(folder)}


CRATE = '''
"""A box that came from elsewhere."""
from dikin.domains.base import Domain
from dikin.domains.box import Box

class Crate(Box):
    """A box."""

class Unfinished(Domain):
    """Still abstract."""
'''


def test_a_class_that_no_package_names_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dikin.domains, "__path__", [*dikin.domains.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "dikin.domains.crate", raising=False)
    monkeypatch.setattr(dikin.domains, "crate", None, raising=False)
    (tmp_path / "crate.py").write_text(CRATE)
    importlib.invalidate_caches()
    assert unnamed("domains") == {"Crate"}


def test_dir_shows_what_users_use_and_no_plumbing() -> None:
    modules = {name for name in dir(dikin) if inspect.ismodule(getattr(dikin, name))}
    assert modules == {
        *("checks", "curvature", "domains", "environments", "errors", "learners", "theory")
    }
    assert {*dir(dikin)} == {*dikin.__all__, "__version__", *modules}
