"""Minimise or maximise a function over ranges: the whole game in one call."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import real_number, whole
from dikin.domains.base import Domain
from dikin.engine.progress import Progress
from dikin.errors import LossError, ParameterError, shown
from dikin.learners.predictive import AUTO, Predictive
from dikin.players import Player
from dikin.tuning.history import history_table
from dikin.tuning.interrupts import Interrupts
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.result import Result, coordinate_names
from dikin.tuning.tuner import Tuner
from dikin.tuning.tuner_arguments import either_range, range_of_losses
from dikin.vectors import Array, Table

logger = logging.getLogger("dikin")

MOST_AVERAGED = 100
"""Rounds of which the first and the last value are means, at most."""
GLANCE = 0.1
"""Seconds between two looks at the progress bar, about."""
FIRST_ROWS = 1024
"""Rows that a history begins with; it doubles when they are full."""


def minimize(
    function: Callable[..., float],
    parameters: Mapping[str, ParameterKind] | Domain,
    rounds: int,
    *,
    start: ArrayLike | None = None,
    constraints: str | Sequence[str] = (),
    memory: float | Literal["auto"] | None = AUTO,
    smoothness: float | None = None,
    lipschitz: float | None = None,
    value_range: tuple[float, float] | None = None,
    seed: int | None = None,
    separable: bool = False,
    by_lot: bool = False,
    progress: bool = True,
    loss_range: tuple[float, float] | None = None,
) -> Result:
    """Find the setting at which a function is small, from noisy values and in so many calls.

    Every call counts: the settings stay near the best guess and explore no farther than learning
    requires, so the function may be a live system. If it is measured elsewhere, late or by several
    machines, use `Tuner`.

    Parameters
    ----------
    function : callable
        Takes a setting and returns one number; noise is allowed. A function of named parameters
        that can be called by name, as in `cost(price=4.0, ads=20.0)`, is called that way; any other
        receives one dictionary. For a domain a setting is a point.
    parameters : mapping or Domain
        From names to parameters such as `Real`; or the set of points, such as a `Ball`.
    rounds : int
        How often the function is called.
    start : array_like, optional
        For a domain, the point at which to begin; its centre by default. Named parameters each have
        a start of their own.
    constraints : sequence of str, optional
        Linear constraints between `Real` parameters, such as "ads + 3 * staff <= 100".
    memory : float or "auto" or None, default "auto"
        The number of rounds to remember, for a best setting that drifts. "auto" finds this out
        itself, and how sharply the values curve. None remembers all rounds.
    smoothness, lipschitz : float, optional
        Constants of the function, for a certificate: of named parameters on the cube, where every
        range has length 1; for a domain see `Predictive`. Neither is required.
    value_range : tuple of float, optional
        The smallest and the largest possible value; measured while playing by default.
    seed : int, optional
        The whole number from which all randomness of the settings is derived; a fresh one by
        default.
    separable : bool, default False
        Whether the function is a sum with one term for each parameter, as described for `Tuner`: a
        certificate requires it if there is an `Integer` beside another parameter.
    by_lot : bool, default False
        Whether the function draws what it plays at random, with `Shares` as probabilities.
    progress : bool, default True
        Whether a progress bar may appear, on a terminal, after two seconds.
    loss_range : tuple of float, optional
        The former name of `value_range`.

    Returns
    -------
    Result
        The best setting, values, the history; `result.plot("game.png")` draws it.

    Raises
    ------
    ParameterError
        If an argument is unusable; the message names it.
    LossError
        If the function returns anything but one finite number; the message names the round and the
        setting.

    Notes
    -----
    Ctrl-C ends the game early and returns the result of the rounds so far, with a line in the log
    and `result.rounds` below `result.planned_rounds`; the call that was interrupted does not count.
    Before the first value there is no result, and `KeyboardInterrupt` is raised. Every other
    exception of the function is passed on unchanged.

    Examples
    --------
    >>> from dikin import Real
    >>> def cost(x):
    ...     return (x - 3) ** 2
    >>> result = minimize(cost, {"x": Real(0, 10, start=8)}, rounds=500, seed=1)
    >>> abs(result.best["x"] - 3) < 0.5
    True
    >>> bool(result.value < result.first_value)
    True
    """
    values = either_range(value_range, loss_range)
    return _optimize(
        function,
        parameters,
        rounds,
        start=start,
        constraints=constraints,
        progress=progress,
        options=_Options(False, memory, smoothness, lipschitz, values, seed, separable, by_lot),
    )


def maximize(
    function: Callable[..., float],
    parameters: Mapping[str, ParameterKind] | Domain,
    rounds: int,
    *,
    start: ArrayLike | None = None,
    constraints: str | Sequence[str] = (),
    memory: float | Literal["auto"] | None = AUTO,
    smoothness: float | None = None,
    lipschitz: float | None = None,
    value_range: tuple[float, float] | None = None,
    seed: int | None = None,
    separable: bool = False,
    by_lot: bool = False,
    progress: bool = True,
    loss_range: tuple[float, float] | None = None,
) -> Result:
    """Find the setting at which a function is large: `minimize` of its negative.

    The values in the result are those of the function.

    Parameters
    ----------
    function : callable
        Takes a setting, as for `minimize`, and returns one number; noise is allowed.
    parameters : mapping or Domain
        From names to parameters such as `Real`; or the set of points.
    rounds : int
        How often the function is called.
    start : array_like, optional
        For a domain, the point at which to begin.
    constraints : sequence of str, optional
        Linear constraints between `Real` parameters.
    memory : float or "auto" or None, default "auto"
        The number of rounds to remember, for a best setting that drifts. "auto" finds this out
        itself, and how sharply the values curve. None remembers all rounds.
    smoothness, lipschitz : float, optional
        Constants of the function, for a certificate.
    value_range : tuple of float, optional
        The smallest and the largest possible value.
    seed : int, optional
        The whole number from which all randomness of the settings is derived.
    separable : bool, default False
        Whether the function is a sum with one term for each parameter, as described for `Tuner`.
    by_lot : bool, default False
        Whether the function draws what it plays at random, with `Shares` as probabilities.
    progress : bool, default True
        Whether a progress bar may appear, on a terminal, after two seconds.
    loss_range : tuple of float, optional
        The former name of `value_range`.

    Returns
    -------
    Result
        The best setting, values, the history.

    Examples
    --------
    >>> from dikin import Ball
    >>> result = maximize(lambda x: float(x[0]), Ball(2), 500, seed=1)
    >>> bool(result.best[0] > 0.9)
    True
    """
    values = either_range(value_range, loss_range)
    return _optimize(
        function,
        parameters,
        rounds,
        start=start,
        constraints=constraints,
        progress=progress,
        options=_Options(True, memory, smoothness, lipschitz, values, seed, separable, by_lot),
    )


class _Options(NamedTuple):
    """What a tuner and a learner are both built with."""

    maximize: bool
    memory: float | Literal["auto"] | None
    smoothness: float | None
    lipschitz: float | None
    value_range: Any
    seed: int | None
    separable: bool
    by_lot: bool


def _optimize(
    function: Callable[..., float],
    parameters: Any,
    rounds: int,
    *,
    start: Any,
    constraints: Any,
    progress: bool,
    options: _Options,
) -> Result:
    if not callable(function):
        raise ParameterError(
            f"function must take a setting and return a number, got {shown(function)}"
        )
    planned = whole(rounds, "rounds", 1, "how often the function is called")
    setup = _setup(parameters, start, constraints, options)
    game = _Game(_of_setting(function, parameters), setup)
    try:
        game.play(planned, progress)
    except KeyboardInterrupt:
        if not game.rounds:
            raise
        logger.warning(
            "stopped by Ctrl-C after %d of %d rounds: the result covers these", game.rounds, planned
        )
    return _result(game, setup, planned)


def _of_setting(function: Callable[..., float], parameters: Any) -> Callable[[Any], float]:
    """The function of a setting: what can be called by name is, any other with the dictionary."""
    if not isinstance(parameters, Mapping):
        return function
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some functions written in C nothing is known
        return function
    if _fits(partial(signature.bind, **dict.fromkeys(parameters))):
        return lambda params: function(**params)
    if _fits(partial(signature.bind, None)):
        return function
    raise ParameterError(
        f"function must be called with {' and '.join(parameters)} by name, or with one dictionary, "
        f"got one of the arguments {signature}"
    )


def _fits(bind: Callable[[], Any]) -> bool:
    try:
        bind()
    except TypeError:
        return False
    return True


def _setup(parameters: Any, start: Any, constraints: Any, options: _Options) -> _Setup:
    if not isinstance(parameters, Mapping | Domain):
        raise ParameterError(
            "parameters must be a dictionary such as {'price': dikin.Real(1, 14, start=4)}, or a "
            f"domain such as dikin.Box([0, 0], [10, 2]), got {shown(parameters)}"
        )
    sense = -1.0 if options.maximize else 1.0
    if not isinstance(parameters, Domain):
        if start is not None:
            raise ParameterError(
                f"start={shown(start)} is for a domain: each named parameter has its own, as in "
                "dikin.Real(1, 14, start=4)"
            )
        tuner = Tuner(parameters, constraints=constraints, **options._asdict())
        return _Setup(tuner, tuner, tuner.learner, tuner.columns, tuner.space.types, sense, 1.0)
    if constraints:
        raise ParameterError(
            f"constraints={shown(constraints)} are for named parameters: describe a domain that "
            "has them, such as dikin.Polytope(A, b)"
        )
    if options.separable:
        raise ParameterError(
            f"separable={shown(options.separable)} is for named parameters with an Integer among "
            "them: leave it out, a domain needs it for nothing"
        )
    learner = Predictive(
        parameters,
        smoothness=options.smoothness,
        lipschitz=options.lipschitz,
        loss_range=range_of_losses(options.value_range, options.maximize),
        start=start,
        memory=options.memory,
        seed=options.seed,
        by_lot=options.by_lot,
    )
    learner._user_sense = "value", sense
    columns = coordinate_names(parameters)
    return _Setup(learner, None, learner, columns, len(columns) * (np.float64,), sense, sense)


def _result(game: _Game, setup: _Setup, planned: int) -> Result:
    table, tuner, learner = game.table(), setup.tuner, setup.learner
    averaged = max(1, min(MOST_AVERAGED, len(table) // 5))
    return Result(
        best=learner.center.copy() if tuner is None else tuner.best,
        value=float(table["value"][-averaged:].mean()),
        first_value=float(table["value"][:averaged].mean()),
        averaged=averaged,
        rounds=len(table),
        planned_rounds=planned,
        maximize=setup.sense < 0.0,
        history=table,
        learner=learner,
        tuner=tuner,
        certificate=setup.player.certificate,
        clipped=game.clipped,
    )


# --- the game ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Setup:
    """Who plays, and what the numbers mean."""

    player: Player[Any]
    tuner: Tuner | None
    """The player, if it is a tuner of named parameters."""
    learner: Predictive
    """The player, or what learns inside the tuner."""
    columns: tuple[str, ...]
    types: tuple[Any, ...]
    sense: float
    """-1 where large values are good: the learner is told losses."""
    tell_sign: float
    """What a value is multiplied by to tell it to the player: a tuner takes it as it is."""


class _Game:
    """Rounds of a function, and their history."""

    def __init__(self, function: Callable[[Any], float], setup: _Setup) -> None:
        self._function, self._setup = function, setup
        self._rows = np.empty(FIRST_ROWS, history_table(setup, ()).dtype)
        self._interrupts, self.rounds, self.clipped = Interrupts(), 0, 0

    def table(self) -> Table:
        """The history so far."""
        return self._rows[: self.rounds].copy()

    def play(self, rounds: int, progress: bool) -> None:
        """Play so many rounds, a few at a time so that a bar can move."""
        before = time.perf_counter()
        with self._interrupts.deferred(), Progress(rounds, progress) as bar:
            while self.rounds < rounds:
                took = time.perf_counter() - before
                pace = self.rounds / took if took > 0 else 0.0
                bar.advance(self._play, min(max(1, int(GLANCE * pace)), rounds - self.rounds))

    def _play(self, rounds: int) -> None:
        for _ in range(rounds):
            self._play_round()

    def _play_round(self) -> None:
        setup, round = self._setup, self.rounds + 1
        player, learner = setup.player, setup.learner
        expected = setup.sense * learner.forecast
        query = player.ask()
        values = query.point.ravel()
        try:
            with self._interrupts.allowed():
                # A copy: what the function does to it must not change what is remembered.
                returned = self._function(copy(query.setting))
            value = _checked(returned, round, setup.columns, values)
        except BaseException:  # as if the round had not been played
            player.forget(query)
            raise
        player.tell(query, setup.tell_sign * value)
        self.clipped += learner._last_clipped
        if self.rounds == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        status = expected, False, *player.center.ravel(), player.certificate
        self._rows[self.rounds] = (round, *values, value, *status)
        self.rounds = round


def _checked(value: Any, round: int, columns: tuple[str, ...], values: Array) -> float:
    """What the function returned, if it is one finite number."""
    try:
        number = real_number(value, "value", LossError)
    except LossError:
        number = np.nan
    if not isfinite(number):
        named = zip(columns, values.tolist(), strict=True)
        setting = ", ".join(f"{name}={entry:.6g}" for name, entry in named)
        raise LossError(
            f"round {round}: the function returned {value!r} at {setting}; wanted one finite "
            "number. Return one for every setting in the ranges, or narrow the ranges"
        )
    return number
