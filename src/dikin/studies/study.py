"""A tuner in a database: durable, shared, and the same after any crash."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, overload

from dikin.arguments import whole
from dikin.errors import ParameterError, StateError, shown
from dikin.open_queries import Query
from dikin.players import Player
from dikin.plotting.history import draw_history
from dikin.plotting.notebook import pairs_table
from dikin.plotting.style import figure_format, save_figure
from dikin.status import Status
from dikin.studies.backend import OpenQuery, Standing
from dikin.studies.client_arguments import first_and_last, own_name, printable, seconds
from dikin.studies.http import HttpBackend
from dikin.studies.local import LocalBackend
from dikin.studies.rows import Answer, AskArguments, query_or_id
from dikin.tuning.history import panels_of, to_frame, uplift_course
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.recommendation import Recommendation
from dikin.tuning.space import Params
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import NO_HOLDBACK, ONE_FOR_EACH_CONTEXT, Tuner
from dikin.vectors import Array, Table
from dikin.worth.uplift import Uplift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST_AGE = 1e9
"""Seconds: thirty years."""


class Study:
    """A tuner in a database, under a name.

    `ask` and `tell` are durable when they return. Any number of processes and threads may have the
    same study open.

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
        The name of this client in the list of open trials; host and process by default.
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
    space : Space
        The parameters of the tuner.
    created : bool
        Whether opening it created the study.

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

    def __init__(
        self,
        url: str | os.PathLike[str],
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
        client = printable(client or own_name(), "client")
        self._backend = _backend_at(url)(url, self.name, tuner, client, patience, token)
        self.space, self.created = self._backend.space, self._backend.created

    @property
    def client(self) -> str:
        """The name of this client; a proxy may set it per request."""
        return self._backend.client

    @client.setter
    def client(self, client: str) -> None:
        self._backend.client = printable(client, "client")

    @classmethod
    def names(cls, url: str | os.PathLike[str], *, token: str | None = None) -> list[str]:
        """List the studies in a database, or those that a service lets this client see.

        Parameters
        ----------
        url : str or os.PathLike
            The database or service, as for `Study`.
        token : str, optional
            For a service, as for `Study`.

        Returns
        -------
        list of str
            Their names.
        """
        return _backend_at(url).names(url, token)

    @classmethod
    def delete(cls, url: str | os.PathLike[str], name: str, *, token: str | None = None) -> None:
        """Remove a study with its whole history; clients that have it open get an error.

        Parameters
        ----------
        url : str or os.PathLike
            The database or service, as for `Study`.
        name : str
            The study.
        token : str, optional
            For a service, as for `Study`.

        Raises
        ------
        UnknownStudyError
            If there is no such study.
        ParameterError
            If no study can have that name.
        """
        _backend_at(url).delete(url, printable(name, "name"), token)

    def close(self) -> None:
        """Close the connection; the study remains stored."""
        self._backend.close()

    def __repr__(self) -> str:
        return f"<Study {self.name!r} {self._backend.place}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- rounds --------------------------------------------------------------------------------

    @overload
    def ask(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        covariates: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Trial: ...

    @overload
    def ask(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        n: int,
        covariates: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> list[Trial]: ...

    def ask(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        n: int | None = None,
        covariates: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Trial | list[Trial]:
        """Ask for the next trial; it is in the database when this returns.

        Parameters
        ----------
        context : mapping, optional
            What is known of the round beforehand, for a tuner that was declared with a context.
        n : int, optional
            How many to ask for at once, for several machines that run at the same time.
        covariates : mapping, optional
            Quantities that explain the value besides the setting, by name: `Tuner.ask`.
        key : str, optional
            A key for this request, unique within the study. Asking again with the same key within a
            week, because the answer was lost, returns the same trial.

        Returns
        -------
        Trial, or list
            Its id, and the setting to use by name in `params`. With `n` a list.

        Raises
        ------
        ParameterError
            If `n` is not a whole number of at least 1, or the key no text of 1 to 150 characters,
            or the key was given to a request with another n, context or covariates.
        ClosedQueryError
            If the trial of the key was answered and trimmed from the history.
        """
        arguments = AskArguments.of(context, covariates)
        key = None if key is None else printable(key, "key")
        if n is None:
            return self._backend.ask(arguments, key)
        count = whole(n, "n", 1, "how many to ask for")
        return self._backend.ask_several(arguments, count, key)

    def tell(
        self,
        trial: Query | int,
        value: Any = None,
        *,
        metrics: Mapping[str, Any] | None = None,
        covariates: Mapping[str, Any] | None = None,
        failed: bool = False,
    ) -> None:
        """Answer a trial of any client; durable when this returns.

        The same answer again is accepted and changes nothing; a different answer is an error. So if
        you do not know whether a tell succeeded, tell again.

        Parameters
        ----------
        trial : Trial, OpenQuery or int
            What was asked, or its id.
        value : float
            The value, as you measure it.
        metrics : mapping, optional
            Other measurements of the trial, by name. Those with a limit are required.
        covariates : mapping, optional
            Covariates that are known only now, by name.
        failed : bool, default False
            Whether the trial failed: a timeout, a crash. It has no value then.

        Raises
        ------
        LossError
            If the value or a metric is not a finite number, or a metric with a limit is missing.
        AnsweredError
            If the trial has another answer already.
        """
        self._backend.tell(query_or_id(trial), Answer.of(value, failed, metrics, covariates))

    def forget(self, trial: Query | int | None = None, *, older_than: float | None = None) -> int:
        """Close a trial that will never be answered; repeating this is allowed.

        A study has at most 10,000 open trials. Where answers may be lost, let a program forget
        those that are too old from time to time.

        Parameters
        ----------
        trial : Trial, OpenQuery or int
            What was asked, or its id.
        older_than : float, optional
            In place of a trial: all that were asked more than so many seconds ago, by this
            machine's clock.

        Returns
        -------
        int
            Number of trials that are closed now: with `older_than` those that were open.

        Raises
        ------
        ParameterError
            If there are both a trial and a number of seconds, or the number is negative.
        UnknownQueryError
            If there is neither, or no such trial.
        """
        if older_than is not None:
            if trial is not None:
                raise ParameterError(
                    "forget one trial, forget(trial), or all that were asked long ago, "
                    f"forget(older_than=3600): got both {shown(trial)} and {shown(older_than)}"
                )
            age = seconds(older_than, "older_than", 0.0, LONGEST_AGE)
            return self._backend.forget_older(age)
        self._backend.forget(query_or_id(trial))
        return 1

    def add_trial(self, params: Mapping[str, Any], value: Any = None, **more: Any) -> NoReturn:
        """Refuse a trial that was not asked for: the journal of a study has no row for it.

        Parameters
        ----------
        params, value, **more
            As for `Tuner.add_trial`.

        Raises
        ------
        StateError
            Always. Add trials to the tuner before it becomes a study.
        """
        raise StateError(
            "a study learns from trials that it asked for. Add others to the tuner beforehand, "
            "tuner.add_trial(...), and create the study with it: Study(url, name, tuner) begins "
            "with all that the tuner has learnt. Nothing was changed."
        )

    def set_parameters(
        self, parameters: Mapping[str, ParameterKind], constraints: str | Sequence[str] = ()
    ) -> NoReturn:
        """Refuse other parameters: the journal of a study has those that it began with.

        Parameters
        ----------
        parameters, constraints
            As for `Tuner.set_parameters`.

        Raises
        ------
        StateError
            Always. Change a copy of the tuner, and continue in a study of another name.
        """
        raise StateError(
            "a study keeps its parameters. Continue in another one: tuner = "
            "dikin.restore(study.state()), tuner.set_parameters({...}), Study(url, another name, "
            "tuner). Nothing was changed."
        )

    def pause(self) -> None:
        """Use the best setting and learn nothing until `resume`.

        This holds for all clients, and is durable when this returns. Repeating it is allowed.
        """
        self._backend.pause()

    def resume(self) -> None:
        """Explore and learn again; repeating this is allowed.

        A guard that holds forgets what it has seen.
        """
        self._backend.resume()

    def _share_commits(self, seconds: float) -> None:
        """For the service: let the events of several calls share a commit, by `_flush` at last."""
        assert isinstance(self._backend, LocalBackend)
        self._backend.session.share_seconds = seconds

    def _flush(self) -> None:
        """Commit the events that wait for others, because of `_share_commits`."""
        assert isinstance(self._backend, LocalBackend)
        self._backend.session.flush()

    # --- looking -------------------------------------------------------------------------------

    def standing(self) -> Standing:
        """Rounds, center and certificate at the same instant."""
        return self._backend.standing()

    def status(self) -> Status:
        """The status of the study at this instant: a record that prints itself.

        Returns
        -------
        Status
            Rounds, best setting, its expected value, open trials and their age, warnings.
        """
        return self._backend.status()

    @property
    def rounds(self) -> int:
        """Rounds answered so far, by all clients."""
        return self.standing().rounds

    @property
    def first_round(self) -> int:
        """The first round that the history contains; the next one if it is empty."""
        return self._backend.first_round()

    @property
    def center(self) -> Array:
        """The tuner's best values, in the order of its columns."""
        return self.standing().center

    @property
    def certificate(self) -> float:
        """The bound on the regret so far; NaN if there is none."""
        return self.standing().certificate

    def certificate_for(self, **constants: float) -> float:
        """Bound the regret for values with a given constant: `Tuner.certificate_for`.

        Parameters
        ----------
        **constants : float
            One of `smoothness` and `lipschitz`.

        Returns
        -------
        float
            The bound for the rounds so far.

        Raises
        ------
        ParameterError
            If a constant is unknown.
        """
        return self._backend.certificate_for(**constants)

    @property
    def best(self) -> Params:
        """The best setting by name; before anything was learnt, the start.

        Raises
        ------
        StateError
            If the tuner has contexts: each has its own best setting, `best_for`.
        """
        if self._backend.contexts:
            raise StateError(ONE_FOR_EACH_CONTEXT + ", ".join(self._backend.contexts))
        return self._backend.best_for(None)

    def best_for(self, context: Mapping[str, Any] | None = None) -> Params:
        """Return the best setting in a context.

        Parameters
        ----------
        context : mapping, optional
            A value for each name of the tuner's `context`; none for a tuner without.

        Returns
        -------
        dict
            The setting by name.

        Raises
        ------
        ContextError
            If a name is missing or was not declared, or a value cannot be one.
        """
        return self._backend.best_for(context)

    def recommend(self, context: Mapping[str, Any] | None = None) -> Recommendation:
        """Return the best setting with its expected value, intervals and what matters.

        Parameters
        ----------
        context : mapping, optional
            A value for each name of the tuner's `context`; none for a tuner without.

        Returns
        -------
        Recommendation
            A record that prints itself.

        Raises
        ------
        ContextError
            If a name is missing or was not declared, or a value cannot be one.
        """
        return self._backend.recommend(context)

    @property
    def paused(self) -> bool:
        """Whether the tuner is paused, by `pause` or by its guard."""
        return self.summary().paused

    @property
    def uplift(self) -> Uplift:
        """What a tuned round gains over the control, with an interval that is valid at any time.

        Raises
        ------
        StateError
            If the tuner was made without a holdback.
        """
        uplift = self.summary().uplift
        if uplift is None:
            raise StateError(NO_HOLDBACK)
        return uplift

    def summary(self) -> Status:
        """The status of the tuner alone, as `Tuner.summary`; `status` adds the journal's part.

        Returns
        -------
        Status
            Rounds, best setting, recent mean, gain over the control.
        """
        return self._backend.summary()

    @property
    def open_queries(self) -> list[OpenQuery]:
        """The open trials, oldest first, with who asked each and when."""
        return self.waiting()

    def waiting(self, after: int = -1, limit: int | None = None) -> list[OpenQuery]:
        """Read some of the open trials, oldest first; `open_queries` has all of them.

        Parameters
        ----------
        after : int, default -1
            Only ids after this one.
        limit : int, optional
            How many at most.

        Returns
        -------
        list of OpenQuery
            The trials, with who asked each and when.

        Raises
        ------
        ParameterError
            If `after` is no whole number, or `limit` none of at least 0.
        """
        after = whole(after, "after", -1, "ids are counted from 0")
        most = None if limit is None else whole(limit, "limit", 0, "how many at most")
        return self._backend.waiting(after, most)

    def state(self) -> dict[str, Any]:
        """The state, for `dikin.restore`: a copy of the tuner outside the study."""
        return self._backend.state()

    def _repr_html_(self) -> str:
        return pairs_table([("study", self.name), *self.status().lines()])

    def history(self, first: int = 1, last: int | None = None) -> Table:
        """Read the rounds as a table, and check every seal of the journal.

        Parameters
        ----------
        first : int, default 1
            The first round.
        last : int, optional
            The last round; the newest by default.

        Returns
        -------
        numpy.ndarray
            A structured array with the columns round, the name of each value, value (NaN for a
            failure), expected, paused (nothing was learnt from the round), failed, and the best
            setting after the round (`best.` before each name); then the metrics (`metric.`), the
            contexts (`context.`) and the covariates (`covariate.` before each name); with a
            holdback held_back and expected_control, NaN where no coin decided the round.

        Raises
        ------
        StateError
            If the journal was altered or damaged.
        """
        return self._backend.history(*first_and_last(first, last))

    def records(self, first: int = 1, last: int | None = None) -> list[dict[str, Any]]:
        """Read some rounds from the journal as plain values.

        Parameters
        ----------
        first : int, default 1
            The first round.
        last : int, optional
            The last round; the newest by default.

        Returns
        -------
        list of dict
            For each round: round, query (the id that was answered), client (who told it), time (in
            seconds since 1970), point, value (None for a failure), expected (None if nothing was
            known), paused and center; with a holdback held_back and expected_control (None where no
            coin decided the round); and failed, metrics and covariates where they were reported,
            context and covariates of the ask under `asked`. For many rounds `history` takes less
            memory.

        Raises
        ------
        StateError
            If the journal was altered or damaged.
        """
        return self._backend.records(*first_and_last(first, last))

    def to_frame(self, first: int = 1, last: int | None = None) -> Any:
        """Read the rounds as a pandas DataFrame.

        Parameters
        ----------
        first : int, default 1
            The first round.
        last : int, optional
            The last round; the newest by default.

        Returns
        -------
        pandas.DataFrame
            The data of `history`, one row per round.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return to_frame(self.history(first, last))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the history.

        Each parameter over the rounds with the explored range, the value and its recent mean, the
        best setting over the contexts and, with a holdback, the gain of tuning over the control.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file to write, ending in .png, .svg or .pdf; none by default.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        StateError
            If no round has been told yet.
        """
        if path is not None:
            figure_format(path)  # checked before the history is read
        rounds = self.history()
        if not len(rounds):
            raise StateError(f"study {self.name!r} has no history to draw yet")
        status = self.summary()
        figure = draw_history(
            rounds,
            panels_of(self.space),
            maximize=status.maximize,
            title=f"study {self.name}",
            contexts=Tuner.restore(self.state())._context_panels() if status.contexts else (),
            uplift=None if status.uplift is None else uplift_course(rounds, status),
        )
        if path is not None:
            save_figure(figure, path)
        return figure

    def verify(self, *, progress: bool = False) -> int:
        """Replay the whole journal of a database and compare it with the tuner.

        Parameters
        ----------
        progress : bool, default False
            Whether a progress bar may appear, on a terminal, after two seconds.

        Returns
        -------
        int
            How many rows were replayed.

        Raises
        ------
        StateError
            If the journal was altered or damaged, or its replay gives another tuner.
        """
        return self._backend.verify(progress)

    def skip_ids(self, count: int = 1_000_000) -> int:
        """Leave out ids of trials, once, after the study was restored from a backup.

        Clients may still have trials that were asked after the backup was taken. Without this,
        their ids would be given again, and an answer told by its id would count for another trial.
        What the tuner asks for does not change; which rounds a holdback gives to the control does.

        Parameters
        ----------
        count : int, default 1_000_000
            How many ids to leave out: more than were asked since the backup.

        Returns
        -------
        int
            The id of the next trial.
        """
        return self._backend.skip_ids(whole(count, "count", 1, "how many ids to leave out"))

    def trim(self, before: int, *, progress: bool = False) -> int:
        """Remove the history of early rounds from a database.

        The tuner, its open trials and everything that it will ask for do not change.

        Parameters
        ----------
        before : int
            The first round whose history is kept.
        progress : bool, default False
            Whether a progress bar may appear, on a terminal, after two seconds.

        Returns
        -------
        int
            How many rows of the journal were removed.

        Raises
        ------
        StateError
            If another client trimmed the study at the same time.
        """
        before = whole(before, "before", 1, "the first round whose history is kept")
        return self._backend.trim(before, progress)


def _backend_at(url: Any) -> type[HttpBackend | LocalBackend]:
    """The backend of an address: that of a service, or of a database."""
    service = isinstance(url, str) and url.lower().startswith(("http://", "https://"))
    return HttpBackend if service else LocalBackend
