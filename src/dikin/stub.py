"""The type checkers' view of `dikin` and its folders, written from what the registry finds.

`make stub` runs this after a class was added; at run time nothing depends on it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import dikin
from dikin.registry import FOLDERS


def render(package: ModuleType = dikin) -> str:
    """The text of `__init__.pyi` of the library, or of one of its folders."""
    modules: dict[str, list[str]] = {}
    for name in package.__all__:
        modules.setdefault(getattr(package, name).__module__, []).append(name)
    lines = ["# Written by `make stub`.", ""]
    for module in sorted(modules):
        lines += [f"from {module} import {name} as {name}" for name in sorted(modules[module])]
    names = ["__all__: list[str]"]
    if hasattr(package, "__version__"):
        names.append("__version__: str")
    return "\n".join([*lines, "", *names, ""])


def stubs() -> dict[Path, str]:
    """Every stub by its file."""
    folders = [import_module(f"dikin.{folder}") for folder in FOLDERS]
    return {
        Path(str(package.__file__)).with_suffix(".pyi"): render(package)
        for package in (dikin, *folders)
    }


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
