"""What `dikin.minimize` found, and how it got there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dikin import extras
from dikin.domains.base import Domain
from dikin.learners.predictive import Predictive
from dikin.plotting.history import Line, Panel, draw_history
from dikin.plotting.notebook import pairs_table
from dikin.plotting.style import rendered, save_figure
from dikin.status import Status, text_of
from dikin.tuning.history import BEST, panels_of, to_frame
from dikin.tuning.tuner import AHEAD, Tuner
from dikin.vectors import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COORDINATES = 8
"""Entries of a point that are printed one by one."""


def coordinate_names(domain: Domain) -> tuple[str, ...]:
    """A column for each entry of a point, in order: x_0, x_1, or x_0_0 for matrices."""
    return tuple("_".join(["x", *map(str, at)]) for at in np.ndindex(domain.point_shape))


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What `dikin.minimize` or `dikin.maximize` found; print it, or let a notebook show it.

    Parameters
    ----------
    best : dict or numpy.ndarray
        The best guess after the last round: values by name, or a point of the domain.
    value : float
        The mean of the last `averaged` values that the function gave. They include the cost of
        exploring around the best guess; the value at `best` itself is not measured.
    first_value : float
        The mean of as many values at the beginning.
    averaged : int
        Of how many rounds these are means: a fifth of all, and at most a hundred.
    rounds : int
        The rounds that were played.
    planned_rounds : int
        The rounds that were asked for: more than `rounds` if Ctrl-C came before the end.
    maximize : bool
        Whether large values are good.
    history : numpy.ndarray
        A structured array, one row a round: `history["price"]` is what was played (x_0, x_1, ...
        for a domain), `history["best.price"]` the best guess after the round; and round, value,
        expected, held, certificate.
    learner : Predictive
        What learnt.
    tuner : Tuner or None
        The tuner of named parameters, which can play on; None for a domain.
    certificate : float
        The bound on the regret of the rounds; NaN where there is none.
    clipped : int
        How many of the values were not learnt in full: they were too far off what was expected, or
        outside `value_range`, and look like faults.

    Examples
    --------
    >>> from dikin import Ball, minimize
    >>> result = minimize(lambda x: float(x @ x), Ball(2), 200, seed=1)
    >>> result.rounds, result.averaged
    (200, 40)
    >>> result.history["x_0"].shape
    (200,)
    """

    best: Any
    value: float
    first_value: float
    averaged: int
    rounds: int
    planned_rounds: int
    maximize: bool
    history: Table
    learner: Predictive
    tuner: Tuner | None
    certificate: float
    clipped: int

    def to_frame(self) -> Any:
        """The history as a pandas DataFrame, one row a round."""
        return to_frame(self.history)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """Draw what was played, the best guess and the values over the rounds.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file to write, ending in .png, .svg or .pdf. None is written without one.
        title : str, default ""
            What stands above.

        Returns
        -------
        matplotlib.figure.Figure
            The drawing.
        """
        figure = draw_history(self.history, self._panels(), maximize=self.maximize, title=title)
        if path is not None:
            save_figure(figure, path)
        return figure

    def _panels(self) -> list[Panel]:
        if self.tuner is not None:
            return panels_of(self.tuner.space)
        starts = zip(coordinate_names(self.learner.domain), self._start_point(), strict=True)
        return [Panel(name, (Line(name, BEST + name, start),)) for name, start in starts]

    def _start_point(self) -> list[float]:
        start = self.learner.domain.center if self.learner.start is None else self.learner.start
        entries: list[float] = np.ravel(start).tolist()
        return entries

    # --- words -----------------------------------------------------------------------------------

    def _status(self) -> Status:
        """As a tuner's, but for the recent values, which stand beside the first ones here."""
        start, best = self._named()
        return Status(
            kind="learner" if self.tuner is None else "tuner",
            learner=self.learner.kind,
            rounds=self.rounds,
            maximize=self.maximize,
            start=start,
            best=best,
            center=self.learner.center,
            surprise=self.learner.surprise,
            exploring_cost=self.learner.exploring_cost,
            ahead=AHEAD,
            outlook=self.learner.outlook(AHEAD),
            certificate=self.certificate,
            clipped=self.clipped,
            **({} if self.tuner is None else self.tuner._exploring.standing()),
        )

    def _named(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start and best guess by name; of a long point the first entries."""
        if self.tuner is not None:
            space = self.tuner.space
            return space.params(space.start_values), self.best
        names = coordinate_names(self.learner.domain)[:MOST_COORDINATES]
        start, best = self._start_point(), np.ravel(self.best).tolist()
        return dict(zip(names, start, strict=False)), dict(zip(names, best, strict=False))

    def lines(self) -> Iterator[tuple[str, str]]:
        """Result as (label, text) pairs.

        Yields
        ------
        tuple of str
            A label and its text.
        """
        if self.rounds < self.planned_rounds:
            yield "stopped", f"by Ctrl-C after {self.rounds:,} of {self.planned_rounds:,} rounds"
        rounds, *rest = self._status().lines()
        yield rounds
        of = f"{self.averaged:,} rounds" if self.averaged > 1 else "round"
        yield "value", f"{self.value:.6g} in the last {of}, {self.first_value:.6g} in the first"
        yield from rest
        if self.tuner is None and np.size(self.best) > MOST_COORDINATES:
            yield "coordinates", f"{np.size(self.best)} in all; `best` has every one"

    def __repr__(self) -> str:
        return text_of(self.lines())

    def _repr_html_(self) -> str:
        words = pairs_table(self.lines())
        if not extras.installed("matplotlib"):
            return words
        svg = rendered(self.plot(), "svg").decode()
        # From the element on: the lines before it are those of a file of its own.
        return f"<div>{words}{svg[svg.index('<svg') :]}</div>"
