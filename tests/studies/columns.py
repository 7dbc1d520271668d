"""Two processes with other versions and processors continue the same studies side by side.

A column is an interpreter and a kernel of OpenBLAS. Each column continues the studies of version 8
and a new study beside the next column, on SQLite and on PostgreSQL. Then every acknowledged call is
looked for, and `verify` shows the largest difference of a setting that is computed again.

    python tests/studies/columns.py [--rounds N] COLUMN COLUMN ...

A COLUMN is PYTHON[,KERNEL[,FEATURES]], with the features that NumPy leaves out, joined by +, as
NPY_DISABLE_CPU_FEATURES names them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CONTEXT = {"region": "eu", "hour": 3.0, "load": 0.5}


def work(url: str, names: list[str], rounds: int) -> None:
    """Continue studies, and print the acknowledged answers; the names are shared with another."""
    import dikin

    told: dict[str, list[int]] = {}
    for name in names:
        tuner = dikin.Tuner({"x": dikin.Real(0, 1), "y": dikin.Real(0, 1)}, seed=1)
        with dikin.Study(url, name, tuner if name == "new" else None, patience=30) as study:
            asked = {each: CONTEXT[each] for each in study.status().contexts or ()} or None
            told[name] = []
            for _ in range(rounds):
                trial = study.ask(asked)
                study.tell(trial, float(sum(trial.point**2)))
                told[name].append(trial.id)
    print(json.dumps(told))


def run(column: str, url: str, names: list[str], rounds: int) -> subprocess.Popen[str]:
    """Start a process with the interpreter and the processor of a column."""
    python, kernel, features = (*column.split(","), "", "")[:3]
    known = {"OPENBLAS_CORETYPE": kernel, "NPY_DISABLE_CPU_FEATURES": features.replace("+", " ")}
    env = os.environ | {name: value for name, value in known.items() if value}
    env |= {"PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    command = [python, __file__, "--work", url, "--rounds", str(rounds), *names]
    return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE)


def compare(columns: list[str], place: str, url: str, names: list[str], rounds: int) -> int:
    """Let two columns continue the studies, and return the number of lost or doubled answers."""
    import dikin

    workers = [run(column, url, names, rounds) for column in columns]
    answers: list[dict[str, list[int]]] = []
    for worker in workers:
        text, _ = worker.communicate()
        answers.append(json.loads(text) if worker.returncode == 0 else {})
    told = {name: [*answers[0].get(name, []), *answers[1].get(name, [])] for name in names}
    short = sum(2 * rounds - len(each) for each in told.values())
    wrong, rows, largest = 0, 0, 0.0
    for name in names:
        with dikin.Study(url, name) as study:
            kept = [record["query"] for record in study.records()]
            found = study.verify()
        wrong += len(set(told[name]) - set(kept)) + len(kept) - len(set(kept))
        rows, largest = rows + found.rows, max(largest, found.largest)
    print(f"{place:10s} {' beside '.join(columns)}: {sum(map(len, told.values())):,} answers, "
          f"{short} refused, {wrong} lost or twice; largest difference {largest:.1e} of a range",
          flush=True)  # fmt: skip
    return short + wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("columns", nargs="+", metavar="PYTHON,KERNEL")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(options.work, options.columns, options.rounds)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    from formats import files
    from studies.postgres import Server

    studies: Any = files.expected()["studies"]
    names, wrong = ["new", *sorted(set(studies) - {"a bare learner"})], 0
    with Server() as server:
        pairs = zip(options.columns, [*options.columns[1:], options.columns[0]], strict=True)
        for number, pair in enumerate(pairs):
            with tempfile.TemporaryDirectory() as folder:
                file = files.sqlite_file(Path(folder))
                wrong += compare(list(pair), "SQLite", str(file), names, options.rounds)
            with server.database(f"columns{number}", files.postgres_dump()) as url:
                wrong += compare(list(pair), "PostgreSQL", url, names, options.rounds)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
