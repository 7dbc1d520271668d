"""Small studies for tests of what may go wrong, and calls of the command line."""

import subprocess
import sys
from contextlib import closing
from functools import partialmethod
from typing import Any

from click.testing import CliRunner, Result

import dikin
from dikin.cli import main
from dikin.studies.database import open_database
from dikin.studies.fold import Fold
from dikin.studies.log import Log
from dikin.tuning.history import Row as Round


def plain(seed: int = 1) -> dikin.Tuner:
    """Two parameters, and a range of values that is not known."""
    return dikin.Tuner({"x": dikin.Real(-1, 1), "y": dikin.Real(-1, 1)}, seed=seed)


def fresh() -> dikin.Tuner:
    """The same on the unit square, with values from 0 to 1."""
    parameters = {"x": dikin.Real(0, 1), "y": dikin.Real(0, 1)}
    return dikin.Tuner(parameters, value_range=(0, 1), seed=5)


def prices(seed: int = 5) -> dikin.Tuner:
    """A cost of 0 to 40, with a certificate."""
    parameters = {"price": dikin.Real(0, 10), "ads": dikin.Real(0, 2)}
    return dikin.Tuner(parameters, value_range=(0, 40), smoothness=9.0, seed=seed)


def step(player: Any, value: float = 0.25) -> dikin.Trial:
    trial: dikin.Trial = player.ask()
    player.tell(trial, value)
    return trial


class Twin:
    """What the study of a name makes of a tuner, without a database: ids are numbers of rows."""

    def __init__(self, tuner: dikin.Tuner, name: str = "a") -> None:
        self.tuner: dikin.Tuner = dikin.restore(tuner.state_in_study(name))
        self.row = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tuner, name)

    def ask(self, context: Any = None, *, n: int | None = None, covariates: Any = None) -> Any:
        checked = self.contexts.checked(context), self.covariates.checked(covariates)
        ids = range(self.row, self.row + (n or 1))
        trials = [self.tuner.open_fact(id, self.tuner.draft(*checked, id)[1]) for id in ids]
        self.row += len(trials)
        return trials[0] if n is None else trials

    def _row(self, kind: str, *given: Any, **named: Any) -> None:
        getattr(self.tuner, kind)(*given, **named)
        self.row += 1

    tell = partialmethod(_row, "tell")
    forget = partialmethod(_row, "forget")
    pause = partialmethod(_row, "pause")
    resume = partialmethod(_row, "resume")
    add_trial = partialmethod(_row, "add_trial")


def alone(tuner: dikin.Tuner, name: str = "a") -> Any:
    return Twin(tuner, name)


def state_of(player: Any) -> Any:
    """A state without what rows do not tell of early rounds: the best setting after each, which a
    row has from before it."""
    state, kept = player.state(), Round._fields.index("center")
    return state | {"history": [row[:kept] for row in state["history"]]}


def folded(url: str, name: str = "a") -> Fold:
    """What all rows make of the tuner that the study began with, without any snapshot."""
    with closing(open_database(url, 5.0)) as database:
        log = Log(database, name)
        assert log.find()
        fold = Fold.read(log.beginning(), log)
        for group in log.rows(fold.n, fold.seal):
            for row in group:
                fold.apply(row)
        fold._complete()
        fold.log = None  # it would open the database again
        return fold


def rows_of(url: str, name: str = "a") -> list[Any]:
    """All rows of a study but its beginning, checked."""
    with closing(open_database(url, 5.0)) as database:
        log = Log(database, name)
        assert log.find()
        first = log.beginning()
        return [row for group in log.rows(first.n, first.seal) for row in group]


def begin(file: str) -> None:
    """Four rounds, and a trial open."""
    with dikin.Study(file, "a", fresh()) as study:
        for _ in range(4):
            step(study)
        study.ask()


def sharing(*arguments: Any, **options: Any) -> dikin.Study:
    """A study as the service opens it: calls return before their events are committed."""
    study = dikin.Study(*arguments, **options)
    study._ledger.sharing = True
    return study


HOLD = """
import sys, dikin
from dikin.studies.database import open_database
database = open_database(sys.argv[1], 5.0)
database.begin()
database.run("UPDATE dikin_study SET epoch = epoch")
print("held", flush=True)
sys.stdin.readline()
database.rollback()
print("let go", flush=True)
"""


def holder(url: str, code: str = HOLD, **options: Any) -> subprocess.Popen[str]:
    """A process in the middle of a transaction."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def command(*words: str) -> Result:
    """A call of `dikin study`."""
    return CliRunner().invoke(main, ["study", *words])
