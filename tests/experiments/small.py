"""A reproduction small enough for a test, as a module so that other processes can run it too."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from dikin.experiments import runner
from dikin.experiments.reproduce.plan import Effort, Request
from dikin.experiments.reproduce.results import Measured, all_cells, write_files

TINY = Effort("tiny", (40, 80, 160), 4, 3, (2, 4), 40, 4)


def request(**changes: Any) -> Request:
    return Request(**({"effort": TINY, "workers": 1} | changes))


def run(out: Path, **changes: Any) -> str:
    """Play and write the tables into a folder, without figures; gives what the terminal showed."""
    console, asked = Console(record=True, width=120, file=io.StringIO()), request(**changes)
    results = runner.run(all_cells(asked), asked, out, console)
    write_files(Measured.of(asked, results), asked, results, out)
    return console.export_text()


if __name__ == "__main__":
    run(Path(sys.argv[1]), tables=(1,))
