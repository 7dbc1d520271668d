"""A reproduction small enough for a test, as a module so that other processes can run it too."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from dikin.experiments.reproduce import Request, reproduce
from dikin.experiments.reproduce.plan import Effort

TINY = Effort("tiny", (200, 400, 800, 1600), 8, 3, (2, 4), 200, 4)


def request(**changes: Any) -> Request:
    return Request(**({"effort": TINY, "workers": 1} | changes))


def run(out: Path, **changes: Any) -> str:
    """Reproduce into a folder; gives what the terminal showed."""
    console = Console(record=True, width=120, file=io.StringIO())
    reproduce(request(**changes), out, console)
    return console.export_text()


if __name__ == "__main__":
    run(Path(sys.argv[1]))
