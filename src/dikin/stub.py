"""The type checkers' view of `import dikin`, written from what the registry finds.

`make stub` runs this after a domain or learner was added; at run time nothing depends on it.
"""

from __future__ import annotations

from pathlib import Path

import dikin


def render() -> str:
    """The text of `__init__.pyi`."""
    modules: dict[str, list[str]] = {}
    for name in dikin.__all__:
        modules.setdefault(getattr(dikin, name).__module__, []).append(name)
    lines = ["# Written by `make stub`.", ""]
    for module in sorted(modules):
        lines += [f"from {module} import {name} as {name}" for name in sorted(modules[module])]
    names = ["__all__: list[str]", "__version__: str"]
    return "\n".join([*lines, "", *names, ""])


if __name__ == "__main__":
    Path(__file__).with_name("__init__.pyi").write_text(render(), encoding="utf-8")
