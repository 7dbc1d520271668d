"""Optional packages: imported here, and named when missing.

The packages of each extra are in `pyproject.toml`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dikin.errors import MissingExtraError


def installed(package: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    return find_spec(package) is not None


def require(module: str, extra: str, user: str) -> Any:
    """Import a module of a package that the extra installs, for `user`, the subject of a sentence.

    A package that is installed and broken raises its own error.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as reason:
        if reason.name != package:
            raise
        raise MissingExtraError(
            f"{user} needs {package}, which is not installed: "
            f'pip install "dikin[{extra}]" (or .[{extra}] in a checkout)'
        ) from reason
