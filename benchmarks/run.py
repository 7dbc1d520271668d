"""`make bench`: every speed claim as a ratio, each pair timed in the same run.

Beside each ratio stands the median of earlier runs on the same kind of machine, and how many there
were. The run is added to benchmarks/history.csv when it is complete, with the share of the machine
that other programs took.
"""

from __future__ import annotations

import ask_tell
import compiled
import others
import predictive
import study
import tuner
import walk
from history import CALM, HISTORY, MARKS, Others, append, earlier, this_run, usual
from rich.console import Console
from rich.progress import Progress
from rich.table import Table


def main() -> None:
    run, elsewhere, measured = this_run(), Others(), []
    before = earlier(HISTORY, run)
    columns = ("what", "figure", "against", "ratio", "median before", "limit", "")
    table = Table(*columns, title=f"dikin benchmarks on {run.processor}, {run.cores} cores")
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("timing", total=None)
        for module in (ask_tell, compiled, predictive, tuner, others, study, walk):
            for row in module.rows():
                measured.append(row)
                ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
                past = usual(before.get(row.what, []))
                mark = MARKS[row.met]
                table.add_row(row.what, row.figure, row.against, ratio, past, row.limit, mark)
                progress.update(task, advance=1, description=row.what)
    Console().print(table)
    share = elsewhere.share()
    if float(share or 0.0) > CALM:
        print(f"Other programs took {share} of the machine: these ratios say little.")
    append(HISTORY, run, share, measured)


if __name__ == "__main__":
    main()
