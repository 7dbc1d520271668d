"""The shape of the package: who may import whom, what `import dikin` costs, which names it has."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dikin
from dikin import registry

SRC = Path(dikin.__file__).parent

LAYERS = """
errors kernel feedback
vectors extras files registry silence
arguments serialization
rng open_queries plotting
domains
theory
worth curvature
status
players
learners environments
engine
tuning
loading
checks studies experiments
dikin
service adapters
cli
__main__
""".strip()
"""Each part imports those above its line only, and none beside it. `dikin` is the whole package."""
EXCEPTIONS = {("experiments", "dikin")}  # which writes the version into reports


def parts_imported(source: str) -> set[str]:
    """The parts of the package that a source imports, wherever in the file; by name included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    paths = [name.split(".") for name in names]
    return {[*path, "dikin"][1] for path in paths if path[0] == "dikin"}


def trespasses(part: str, source: str) -> set[str]:
    """The parts that a source of `part` imports and may not."""
    rows = [row.split() for row in LAYERS.splitlines()]
    (own,) = (number for number, row in enumerate(rows) if part in row)
    allowed = {part, *(each for row in rows[:own] for each in row)}
    found = parts_imported(source) - allowed
    return {each for each in found if (part, each) not in EXCEPTIONS}


def test_imports_point_down() -> None:
    found = set()
    for path in SRC.rglob("*.py"):
        part = path.relative_to(SRC).parts[0].removesuffix(".py").replace("__init__", "dikin")
        wrong = trespasses(part, path.read_text(encoding="utf-8"))
        found |= {f"{path.relative_to(SRC)} imports {name}" for name in wrong}
    assert found == set()


@pytest.mark.parametrize(
    ("part", "line", "wrong"),
    [
        ("learners", "from dikin.environments.ridge import Ridge", "environments"),
        ("learners", "from dikin import environments", "environments"),
        ("learners", "def f():\n    import dikin.engine.play", "engine"),
        ("domains", "importlib.import_module('dikin.theory')", "theory"),
        ("engine", "import dikin", "dikin"),
        ("cli", "from dikin import errors", None),
    ],
)
def test_an_import_that_points_up_is_caught(part: str, line: str, wrong: str | None) -> None:
    assert trespasses(part, line) == ({wrong} if wrong else set())


PROJECT = tomllib.loads((SRC.parents[1] / "pyproject.toml").read_text())["project"]
LAB = [re.split("[^a-z]", each)[0] for each in PROJECT["optional-dependencies"]["lab"]]
HEAVY = [*LAB, "pandas", "click"]

LIVE = """
learner = dikin.Predictive(dikin.Box([0, 0], [10, 2]), seed=7)
for _ in range(30):
    query = learner.ask()
    learner.tell(query, float(query.point.sum()))
learner.save(folder + "/learner.json")
dikin.load(folder + "/learner.json")
tuner = dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1)
with dikin.Study(folder + "/studies.db", "a", tuner) as study:
    study.tell(study.ask(), 1.0)
    study.history()
world = dikin.Ridge(dikin.Ball(2), 1.0, seed=1)
learner = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=world.loss_range, seed=1)
dikin.play(learner, world, 100)
"""
HIDE_LAB = f"""
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {LAB}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hidden())
dikin.extras.installed = lambda package: False
"""
"""As if the packages of the extra `lab` were not installed."""


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        (HIDE_LAB + LIVE, []),
        ("import dikin.cli", ["click"]),
        ("dikin.Polytope([[1], [-1]], [1, 1])", ["scipy"]),  # the probe sees it
    ],
    ids=["loop, study, run", "command line", "polytope"],
)
def test_a_live_loop_needs_and_imports_little(code: str, loaded: list[str], tmp_path: Path) -> None:
    probe = f"import sys\nfolder = {str(tmp_path)!r}\nimport dikin\n{code}\nprint(*sys.modules)"
    modules = subprocess.check_output([sys.executable, "-c", probe], text=True).split()
    assert [name for name in HEAVY if name in modules] == loaded


CONTRACT = """
Tuner Study Integer Real Levels Choice Shares Cycle AdaptiveSmooth AdaptiveLipschitz Predictive
Affine Ball Box Ellipsoid Polytope Product Simplex Spectrahedron load play register replicate
DikinError Decaying Domain Environment FlatFirst FlatLast Kink Learner Query Ridge Run Trial
"""


def test_public_names_are_there_and_documented() -> None:
    assert {*CONTRACT.split()} <= {*dikin.__all__}
    assert [name for name in dikin.__all__ if not inspect.getdoc(getattr(dikin, name))] == []


def test_a_package_names_every_class_that_it_registers() -> None:
    for folder, known in registry.FOLDERS.items():
        names = {cls.__name__ for cls in known.classes.values()}
        assert names == {*sys.modules[f"dikin.{folder}"].__all__}
