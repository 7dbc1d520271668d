"""A tuner in a database: durable, shared, and the same after any crash."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NoReturn, Self, overload

from dikin.arguments import whole
from dikin.errors import ParameterError, StateError, shown
from dikin.open_queries import Query
from dikin.players import Player
from dikin.plotting.notebook import pairs_table
from dikin.plotting.style import figure_format
from dikin.status import Status
from dikin.studies.arguments import (
    ANSWER,
    answer_of,
    as_read,
    first_and_last,
    own_name,
    printable,
    query_or_id,
    seconds,
)
from dikin.studies.database import PATIENCE, open_database
from dikin.studies.fold import Fold, Verification, trim, verify
from dikin.studies.history import Spaces, records, table_of
from dikin.studies.ledger import Known, Ledger, OpenQuery
from dikin.tuning.history import figure_of, to_frame
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.recommendation import Recommendation
from dikin.tuning.space import Params, Space
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import NO_HOLDBACK, Tuner
from dikin.vectors import Array, Table
from dikin.worth.uplift import Uplift

if TYPE_CHECKING:
    from matplotlib.figure import Figure
Url = str | os.PathLike[str]


class Study:
    """A tuner in a database, under a name.

    `ask` and `tell` are durable when they return. Any number of processes and threads may have the
    same study open, of any version of the library, on any machine. Trials and answers are kept as
    rows, and the tuner is made from the rows.

    In every method `context` has a value for each name of the tuner's `context`, `url`, `name` and
    `token` are those of the constructor, `first` and `last` are the first and the last round to
    read, all by default, and `progress` is True if a progress bar may appear, on a terminal, after
    two seconds.

    Parameters
    ----------
    url : str or os.PathLike
        The database: an SQLite file, or `postgresql://user@host/database`. Or a service that has
        one: `https://host`.
    name : str
        The name of the study there.
    tuner : Tuner, optional
        Without it the study must exist. With it the study is created, or opened if it exists with a
        tuner of the same parameters, constraints, direction and arguments. Its random streams
        depend on the name of the study: two studies draw differently, whatever the seed.
    client : str, optional
        The name of this client in its rows. By default host and process.
    patience : float, optional
        Seconds to wait for another client or for the server before an error: 0.8 by default, and 30
        for a service, which may restart meanwhile.
    token : str, optional
        The token of this client at a service (`dikin serve`) such as `https://studies.example.com`;
        the environment variable `DIKIN_TOKEN` by default. Not for a database.

    Attributes
    ----------
    name : str
        The name of the study.
    created : bool
        True if opening it created the study.

    Raises
    ------
    UnknownStudyError
        If there is no such study, and no tuner to create it with.
    StudyExistsError
        If it exists with another tuner.
    ParameterError
        If an argument is invalid: a study holds a tuner, not a learner.
    StoreError
        If the database cannot be reached.

    Examples
    --------
    >>> import dikin, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "studies.db"
    >>> tuner = dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, maximize=True, seed=7)
    >>> with dikin.Study(file, "shop", tuner) as shop:
    ...     trial = shop.ask()
    ...     shop.tell(trial, 512.0)
    ...     shop.tell(trial, 512.0)  # a repetition is accepted, and counted once
    ...     print(list(trial.params), shop.rounds, len(shop.history()))
    ['price'] 1 1
    >>> folder.cleanup()
    """

    name: str
    created: bool

    def __init__(
        self,
        url: Url,
        name: str,
        tuner: Tuner | None = None,
        *,
        client: str | None = None,
        patience: float | None = None,
        token: str | None = None,
    ) -> None:
        if tuner is not None and not isinstance(tuner, Tuner):
            hint = " A learner saves itself to a file: save." if isinstance(tuner, Player) else ""
            raise ParameterError(f"a study holds a dikin.Tuner, got {shown(tuner)}.{hint}")
        self.name = printable(name, "name")
        self._ledger = _ledger(url, self.name, client, patience, token)
        self.created = self._ledger.open(tuner)

    @property
    def space(self) -> Space:
        """The parameters of the tuner, as they were when rows were last read."""
        return self._ledger.space

    @property
    def client(self) -> str:
        """The name of this client in its rows."""
        return self._ledger.client

    @classmethod
    def names(cls, url: Url, *, token: str | None = None) -> list[str]:
        """List the studies in a database, or those that a service lets this client see."""
        with closing(_ledger(url, "", None, None, token)) as ledger:
            return ledger.names()

    @classmethod
    def delete(cls, url: Url, name: str, *, token: str | None = None) -> None:
        """Remove a study with its whole history. Clients that have it open get an error."""
        with closing(_ledger(url, printable(name, "name"), None, None, token)) as ledger:
            ledger.delete()

    @classmethod
    def rewind(cls, url: Url, name: str) -> int:
        """Remove the rows of a damaged study from the first one on that is not intact.

        Return the number of these rows. The study can be written again, and no trial gets an id
        that was given before.
        """
        with _ledger(url, printable(name, "name"), None, None, None).existing() as log:
            return log.rewind()

    @classmethod
    def rows(
        cls, url: Url, name: str, first: int = 1, last: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield `records` without the tuner: of a study that this version cannot continue, too.

        Points are in the parameters that their round had. Damaged rows raise `StateError`, after
        all rounds before them.
        """
        first, last = first_and_last(first, last)
        with _ledger(url, printable(name, "name"), None, None, None).existing() as log:
            n, seal, state = log.beginning()
            before = json.loads(state)["rounds"]
            yield from records(log.rows(n, seal), Spaces(None, ()), before, first, last)

    def close(self) -> None:
        """Close the connection. The study remains stored."""
        self._ledger.close()

    def __repr__(self) -> str:
        return f"<Study {self.name!r} {self._ledger.place}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is a connection, which cannot be copied or pickled: open the study again "
            "where it is needed, Study(url, name)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- rounds --------------------------------------------------------------------------------

    @overload
    def ask(
        self, context: Known = None, *, covariates: Known = None, key: str | None = None
    ) -> Trial: ...

    @overload
    def ask(
        self, context: Known = None, *, n: int, covariates: Known = None, key: str | None = None
    ) -> list[Trial]: ...

    def ask(
        self,
        context: Known = None,
        *,
        n: int | None = None,
        covariates: Known = None,
        key: str | None = None,
    ) -> Trial | list[Trial]:
        """Ask for the next trial, as `Tuner.ask`. It is in the database when this returns.

        Parameters
        ----------
        context, n, covariates
            As for `Tuner.ask`.
        key : str, optional
            A key for this request, unique within the study. Asking again with the same key within a
            week, because the answer was lost, returns the same trial. Another n, context or
            covariates under the same key are refused.

        Returns
        -------
        Trial, or list of Trial
            The setting by name, and the id by which it is answered. A list with `n`.
        """
        asked_for = [as_read(context), as_read(covariates) or None, n]
        key = None if key is None else printable(key, "key")
        if n is not None:
            asked_for[2] = whole(n, "n", 1, "how many to ask for")
        trials = self._ledger.ask(asked_for, key)
        return trials[0] if n is None else trials

    def tell(
        self,
        trial: Query | int,
        value: Any = None,
        *,
        metrics: Known = None,
        covariates: Known = None,
        failed: bool = False,
    ) -> None:
        """Answer a trial of any client, as `Tuner.tell`. It is durable when this returns.

        The same answer again is accepted and changes nothing. A different answer raises
        `AnsweredError`. So if you do not know whether a tell succeeded, tell again.

        Parameters
        ----------
        trial : Trial, OpenQuery or int
            The trial, or its id.
        value, metrics, covariates, failed
            As for `Tuner.tell`.
        """
        answer = answer_of(value, metrics, covariates, failed)
        self._ledger.close_trial(query_or_id(trial), answer)

    def forget(self, trial: Query | int | None = None, *, older_than: float | None = None) -> int:
        """Close a trial that will never be answered. Repeating this is allowed.

        A study has at most 10,000 open trials. Where answers may be lost, let a program forget
        those that are too old from time to time.

        Parameters
        ----------
        trial : Trial, OpenQuery or int
            The trial, or its id.
        older_than : float, optional
            In place of a trial: all that were asked more than so many seconds ago, by this
            machine's clock.

        Returns
        -------
        int
            Number of trials that are closed now: with `older_than` those that were open.
        """
        if older_than is None:
            self._ledger.close_trial(query_or_id(trial), None)
            return 1
        if trial is not None:
            raise ParameterError(
                "forget one trial, forget(trial), or all that were asked long ago, "
                f"forget(older_than=3600): got both {shown(trial)} and {shown(older_than)}"
            )
        return self._ledger.forget_older(seconds(older_than, "older_than", 0.0, 1e9))

    def add_trial(
        self,
        params: Mapping[str, Any],
        value: Any = None,
        *,
        metrics: Known = None,
        context: Known = None,
        covariates: Known = None,
        failed: bool = False,
        key: str | None = None,
    ) -> None:
        """Learn from a trial that the study did not ask for.

        Parameters
        ----------
        params, value, metrics, context, covariates, failed
            As for `Tuner.add_trial`.
        key : str, optional
            A key for this trial, unique within the study. Added again with the same key, because
            the answer was lost, it counts once.
        """
        answer = answer_of(value, metrics, covariates, failed)
        body: dict[str, Any] = {"params": params, "context": as_read(context)}
        body |= {name: answer.get(name) for name in ANSWER} | {"failed": failed}
        key = None if key is None else printable(key, "key")
        self._ledger.control("add", body, lambda fold: fold.tuner.checked_trial(body), key=key)

    def set_parameters(
        self, parameters: Mapping[str, ParameterKind], constraints: str | Sequence[str] = ()
    ) -> None:
        def check(fold: Fold) -> None:
            trial = Tuner.restore(fold.tuner.state(rounds=0))
            trial.set_parameters(parameters, constraints)

        self._ledger.control("parameters", Space(parameters, constraints).spec(), check)

    def pause(self) -> None:
        self._ledger.control("pause", {}, lambda fold: not fold.tuner.paused)

    def resume(self) -> None:
        self._ledger.control("resume", {}, lambda fold: fold.tuner.paused)

    # --- looking -------------------------------------------------------------------------------

    def status(self) -> Status:
        """Return the status: `summary`, with the age of open trials and more warnings."""
        return self._ledger.status()

    @property
    def rounds(self) -> int:
        """Rounds answered so far, by all clients."""
        return self._ledger.look("rounds", lambda fold: fold.rounds)

    @property
    def first_round(self) -> int:
        """The first round of the history, or the next round if the history is empty."""
        return self._ledger.look("first_round", lambda fold: int(fold.marks[0][0]) + 1)

    @property
    def center(self) -> Array:
        return self._ledger.look("center", lambda fold: fold.tuner.center)

    @property
    def certificate(self) -> float:
        return self._ledger.look("certificate", lambda fold: fold.tuner.certificate)

    def certificate_for(
        self, *, smoothness: float | None = None, lipschitz: float | None = None
    ) -> float:
        given = {"smoothness": smoothness, "lipschitz": lipschitz}
        return self._ledger.look("certificate", lambda f: f.tuner.certificate_for(**given), **given)

    @property
    def best(self) -> Params:
        return self._ledger.look("best", lambda fold: fold.tuner.best)

    def best_for(self, context: Known = None) -> Params:
        return self._ledger.look("best", lambda fold: fold.tuner.best_for(context), context=context)

    def recommend(self, context: Known = None) -> Recommendation:
        return self._ledger.look(
            "recommend", lambda fold: fold.tuner.recommend(context), context=context
        )

    @property
    def paused(self) -> bool:
        """True while the tuner is paused, by `pause` or by its guard."""
        return self._ledger.look("paused", lambda fold: fold.tuner.paused)

    @property
    def uplift(self) -> Uplift:
        uplift = self.summary().uplift
        if uplift is None:
            raise StateError(NO_HOLDBACK)
        return uplift

    def summary(self) -> Status:
        return self._ledger.look("summary", lambda fold: fold.tuner.summary())

    @property
    def open_queries(self) -> list[OpenQuery]:
        """The open trials, oldest first, with who asked each and when."""
        return self._ledger.waiting()

    def state(self) -> dict[str, Any]:
        """The state, for `dikin.restore`: a copy of the tuner outside the study."""
        return self._ledger.look("state", lambda fold: fold.state())

    def _repr_html_(self) -> str:
        return pairs_table([("study", self.name), *self.status().lines()])

    def history(self, first: int = 1, last: int | None = None) -> Table:
        """Read rounds as a structured array, and check their seals.

        It has the columns of `Tuner.history`, with the best setting when the trial was asked, and
        time and client, when and by whom the value was reported. Damaged rows raise `StateError`.
        """
        first, last = first_and_last(first, last)
        status = self.summary()
        with closing(self._ledger.rounds(first, last)) as rounds:
            return table_of(rounds, Space.from_spec(status.space), status)

    def records(self, first: int = 1, last: int | None = None) -> list[dict[str, Any]]:
        """Read rounds as plain values. For many rounds `history` takes less memory.

        Each has round, query (the id that was answered), client (its reporter), time (in seconds
        since 1970), point, value (None for a failure), expected (None if nothing was known), paused
        and center (the best setting when it was asked), with a holdback held_back and
        expected_control (None where no coin decided the round), and failed, metrics and covariates
        where they were reported, context and covariates of the ask under `asked`.
        """
        with closing(self._ledger.rounds(*first_and_last(first, last))) as rounds:
            return list(rounds)

    def to_frame(self, first: int = 1, last: int | None = None) -> Any:
        """Read `history` as a pandas DataFrame, one row a round."""
        return to_frame(self.history(first, last))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        if path is not None:
            figure_format(path)  # checked before the history is read
        rounds = self.history()
        if not len(rounds):
            raise StateError(f"study {self.name!r} has no history to draw yet")
        return figure_of(rounds, self.summary(), self.space, path, f"study {self.name}")

    # --- care ----------------------------------------------------------------------------------

    def verify(self, *, progress: bool = False) -> Verification:
        """Check all seals, and compute the tuner anew from its rows.

        Damaged rows raise `StateError`. A setting counts as different where the one that this
        machine computes in its place is farther away than rounding, in shares of the range.
        """
        with self._ledger.apart() as (_, log):
            return verify(log, progress)

    def skip_ids(self, count: int = 1_000_000) -> int:
        """Leave out ids of trials, once, after the study was restored from a backup.

        Clients may still have trials that were asked after the backup was taken. Without this,
        their ids would be given again, and an answer by id would count for another trial.

        Parameters
        ----------
        count : int, default 1_000_000
            Number of ids to leave out: more than were asked since the backup.

        Returns
        -------
        int
            The id of the next trial.
        """
        jump = whole(count, "count", 1, "how many ids to leave out")
        self._ledger.control("skip", {"count": jump}, lambda fold: True, jump=jump)
        return self._ledger.look("next", lambda fold: fold.n + 1)

    def trim(self, before: int, *, progress: bool = False) -> int:
        """Remove the history of early rounds from a database. The tuner does not change.

        Parameters
        ----------
        before : int
            The first round whose history is kept.
        progress : bool, default False
            True if a progress bar may appear.

        Returns
        -------
        int
            Number of rows that were removed.
        """
        before = whole(before, "before", 1, "the first round whose history is kept")
        with self._ledger.apart() as (_, log):
            return trim(log, before, progress)


for _same in (
    *("best", "best_for", "recommend", "center", "certificate", "certificate_for", "uplift"),
    *("summary", "plot", "pause", "resume", "set_parameters"),
):
    getattr(Study, _same).__doc__ = inspect.getdoc(getattr(Tuner, _same))


def _ledger(
    url: Url, name: str, client: str | None, patience: float | None, token: str | None
) -> Ledger:
    """Return the ledger of a study in a database, or at a service."""
    client = printable(client or own_name(), "client")
    wait = None if patience is None else seconds(patience, "patience", 0.01, 600.0)
    if isinstance(url, str) and url.lower().startswith(("http://", "https://")):
        from dikin.studies.remote import RemoteLedger  # only where there is a service

        remote: Any = RemoteLedger(url, name, client, wait, token)  # does what a ledger does
        return remote  # type: ignore[no-any-return]
    if token is not None:
        raise ParameterError(
            "a token is for a service such as https://host, and this is a database: leave it out"
        )
    return Ledger(open_database(url, wait or PATIENCE), name, client)
