"""From which code figures are: a digest of the modules that they speak of, kept beside their CSVs.

A commit cannot contain its own hash, and changes with every comment. The digest is of what the
modules do: of their syntax trees without docstrings, the same in all versions of Python.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import dikin
from dikin.files import replace_file

PACKAGE = Path(dikin.__file__).parent
LEARNERS = (
    "curvature",
    "domains",
    "engine",
    "environments",
    "feedback.py",
    "forecasts",
    "kernel.py",
    "learners",
    "rng.py",
    "theory",
    "units.py",
    "vectors.py",
)
"""What a game of a learner depends on."""
TUNERS = (*LEARNERS, "tuning")
"""The same for a tuner."""
WORTH = (*TUNERS, "worth")
"""The same for what a tuner is worth."""
ENDING = ".source.json"
"""In the place of a CSV's: the name of its record."""


def record(csv: Path, settings: Mapping[str, Any], parts: Sequence[str] = LEARNERS) -> None:
    """Write beside a CSV which version, which code and which settings it is from."""
    made = {
        "version": dikin.__version__,
        "code": digest(parts),
        "parts": [*parts],
        "settings": dict(settings),
    }
    text = f"{json.dumps(made, indent=1, default=str)}\n"
    replace_file(csv.with_suffix(ENDING), text.encode())


def is_current(csv: Path) -> bool:
    """Whether a CSV is recorded to be from the code as it is now."""
    file = csv.with_suffix(ENDING)
    if not file.exists():
        return False
    made = json.loads(file.read_text(encoding="utf-8"))
    return bool(made["code"] == digest(made["parts"]))


def digest(parts: Iterable[str], package: Path = PACKAGE) -> str:
    """Of modules, or of all modules in folders, of the package: twelve hexadecimal digits."""
    total = sha256()
    for file in sorted(set(_modules(parts, package))):
        total.update(f"{file.relative_to(package).as_posix()}\n{content(file)}\n".encode())
    return total.hexdigest()[:12]


def _modules(parts: Iterable[str], package: Path) -> Iterator[Path]:
    for part in parts:
        path = package / part
        yield from path.rglob("*.py") if path.is_dir() else [path]


def content(file: Path) -> str:
    """What a module does, as a text: without comments, docstrings and the way it is laid out."""
    return _content(file.read_text(encoding="utf-8"))


@cache
def _content(module: str) -> str:
    return _text(ast.parse(module))


def _text(node: Any) -> str:
    if isinstance(node, list):
        return f"[{' '.join(map(_text, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    # Fields that are empty are left out: which of them exist depends on the version of Python.
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    inner = (f"{name}={_text(_without_docstrings(value))}" for name, value in fields)
    return f"{type(node).__name__}({', '.join(inner)})"


def _without_docstrings(value: Any) -> Any:
    """Statements that are nothing but a text do nothing."""
    if not isinstance(value, list):
        return value
    return [each for each in value if not _is_text(each)]


def _is_text(node: Any) -> bool:
    constant = node.value if isinstance(node, ast.Expr) else None
    return isinstance(constant, ast.Constant) and isinstance(constant.value, str)
