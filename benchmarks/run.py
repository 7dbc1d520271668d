"""`make bench`: every speed claim as a ratio, each pair timed in the same run."""

from __future__ import annotations

import ask_tell
import compiled
import study
import tuner
import walk
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

MARKS = {None: "", True: "yes", False: "NO"}
"""Whether a ratio keeps its limit."""


def main() -> None:
    table = Table("what", "figure", "against", "ratio", "limit", "met", title="dikin benchmarks")
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("timing", total=None)
        for module in (ask_tell, compiled, tuner, study, walk):
            for row in module.rows():
                ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
                mark = MARKS[row.met]
                table.add_row(row.what, row.figure, row.against, ratio, row.limit, mark)
                progress.update(task, advance=1, description=row.what)
    Console().print(table)


if __name__ == "__main__":
    main()
