"""A reproduction small enough for a test, as a module so that other processes can run it too."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console

from dikin.experiments.plan import Effort
from dikin.experiments.reproduce import Request, reproduce

TINY = Effort("tiny", (200, 400, 800, 1600), 8, 3, (2, 4), 200, 4)


def request(**changes: object) -> Request:
    settings = {
        "effort": TINY,
        "tables": (1, 2),
        "constants": "sharp",
        "seed": 0,
        "workers": 1,
        "dask": None,
    }
    return Request(**(settings | changes))  # type: ignore[arg-type]


def run(out: Path, **changes: object) -> str:
    """Reproduce into a folder; gives what the terminal showed."""
    console = Console(record=True, width=120, file=io.StringIO())
    reproduce(request(**changes), out, console)
    return console.export_text()


if __name__ == "__main__":
    run(Path(sys.argv[1]))
