"""The status of a learner, tuner or study, for the terminal, notebooks, JSON and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite, nan
from typing import Annotated, Any, Literal, Self, get_origin, get_type_hints

import numpy as np

from dikin.plotting.notebook import pairs_table
from dikin.serialization import finite_or_none, number_or_nan
from dikin.vectors import Array
from dikin.worth.uplift import Uplift, signed

CONFIDENCE = 0.95
"""That the regret of a run never exceeds its `run_certificate`."""
WIDTH = 16
"""Columns of the terminal that the labels take."""


@dataclass(frozen=True)
class OpenQueries:
    """Queries or trials that wait for an answer."""

    count: int = 0
    first: int | None = None
    """The id of the one that has waited longest."""
    oldest_seconds: float = nan
    """How long it has waited; NaN outside a study, where times are not recorded."""


NONE_OPEN = OpenQueries()


@dataclass(frozen=True, kw_only=True)
class Status:
    """The status of a learner, tuner or study at one instant; `print` it, or read its parts.

    What does not apply is None, and a number that is not known is NaN.
    """

    name: Annotated[str | None, "The name of the study."] = None
    service: Annotated[str | None, "The address of the service that keeps the study."] = None
    kind: Annotated[Literal["learner", "tuner"], "Whether this is a learner or a tuner."]
    learner: Annotated[str, "The kind of the learner; for a tuner, of the one inside it."]
    domain: Annotated[str | None, "The kind of the domain of a learner."] = None
    arguments: Annotated[dict[str, Any] | None, "The arguments of a learner."] = None
    space: Annotated[dict[str, Any] | None, "The parameters and constraints of a tuner."] = None
    columns: Annotated[tuple[str, ...], "A name for each number of a point."] = ()
    ranges: Annotated[list[list[float]] | None, "The bounds of each column of a tuner."] = None
    log: Annotated[list[bool] | None, "Which columns of a tuner have a logarithmic scale."] = None
    labels: Annotated[
        list[list[str]] | None, "The names of the numbers 0, 1, ... of a column; empty for most."
    ] = None
    maximize: Annotated[bool, "Whether large values are good."] = False
    value_range: Annotated[
        list[float] | None, "The least and the largest possible value, if a tuner was told."
    ] = None
    held: Annotated[bool, "Whether a tuner is on hold: it plays its best setting."] = False
    rounds: Annotated[int, "Rounds answered so far."]
    asked: Annotated[int, "Queries or trials asked so far."] = 0
    open: Annotated[OpenQueries, "Queries or trials that wait for an answer."] = NONE_OPEN
    last_told_seconds: Annotated[float, "Seconds since the last answer."] = nan
    first_round: Annotated[int, "The first round whose history is kept."] = 1
    start: Annotated[dict[str, Any] | None, "The setting that a tuner began with, by name."] = None
    best: Annotated[dict[str, Any] | None, "The best guess of a tuner now, by name."] = None
    center: Annotated[Array, "The best guess now as numbers, one for each of the columns."]
    first_rounds: Annotated[int, "The number of rounds in `first_mean`."] = 0
    first_mean: Annotated[float, "The mean of the first values or losses."] = nan
    recent_rounds: Annotated[int, "The number of rounds in `recent_mean`."] = 0
    recent_mean: Annotated[
        float, "The mean of the last values or losses, without faults and rounds held back."
    ] = nan
    recent_sem: Annotated[
        float,
        "The standard error of `recent_mean` for a tuner, computed from its surprises: changes "
        "that were expected do not count.",
    ] = nan
    expected: Annotated[float, "The value that a tuner expects next."] = nan
    surprise: Annotated[float, "How far recent values of a tuner were from the expected ones."] = (
        nan
    )
    exploring_cost: Annotated[
        float,
        "The most that exploring costs in the next round, for the constant that was declared. Not "
        "known where none was.",
    ] = nan
    exploring_measured: Annotated[
        float,
        "The most that exploring cost a round in the last `exploring_rounds` rounds, as their "
        "values show: the upper end of a 95 % interval that begins at 0. It holds for values that "
        "are convex (concave, to maximise), if the best setting stayed or moved steadily.",
    ] = nan
    exploring_rounds: Annotated[int, "The number of rounds in `exploring_measured`."] = 0
    ahead: Annotated[int | None, "The number of rounds in `outlook`."] = None
    outlook: Annotated[
        float,
        "How much worse than the best fixed setting the next `ahead` rounds together are "
        "expected to be at most, for the constant that was declared, if that setting and the size "
        "of surprises stay as they are; divide by `ahead` for one round. Not known where no "
        "constant was declared.",
    ] = nan
    certificate: Annotated[
        float,
        "The bound on the regret of all rounds so far. Not known where no constant was "
        "declared, and for a tuner with a whole number beside other parameters unless declared "
        "separable.",
    ] = nan
    run_certificate: Annotated[
        float,
        "The bound on the regret of this run, with 95 % confidence at all times together, if "
        "values do not react to open queries. Not known without a declared range of values, and "
        "where it is more than values that differ as much as those seen allow.",
    ] = nan
    contexts: Annotated[
        dict[str, Any] | None,
        "The contexts of a tuner by name: words, a cycle, or a range.",
    ] = None
    context_count: Annotated[int, "How many settings a tuner learns, one for each context."] = 0
    by_context: Annotated[
        dict[str, dict[str, Any]] | None,
        "The best guess in each context, at its knots, of the first 16 of them.",
    ] = None
    covariates: Annotated[
        dict[str, Any] | None,
        "The covariates of a tuner by name: null for a number, words for a category, or a cycle.",
    ] = None
    sem_rounds: Annotated[int, "Values of a tuner that were told with a standard error."] = 0
    explained: Annotated[
        float,
        "The share of the variance of a tuner's values that covariates explain, from 0 to 1.",
    ] = nan
    explained_by: Annotated[
        dict[str, float] | None, "What of it each covariate explains, by name."
    ] = None
    clipped: Annotated[
        int | None,
        "Values that a tuner did not learn in full, because they look like faults: too far from "
        "the expected value, or outside `value_range`.",
    ] = None
    restarts: Annotated[int, "How often the range of the values turned out to be wider."] = 0
    holdback: Annotated[
        float, "The share of rounds that play the control of a tuner; 0 for none."
    ] = 0.0
    control: Annotated[
        dict[str, Any] | None, "The setting that a tuner is compared with, by name."
    ] = None
    uplift: Annotated[
        Uplift | None,
        "What a tuned round gains over the control, with an interval that is valid at any time.",
    ] = None
    recent_uplift: Annotated[Uplift | None, "The same over the recent rounds."] = None
    exact_uplift: Annotated[
        Uplift | None,
        "The uplift with an interval that is exact in every round; null without a declared range.",
    ] = None
    guard: Annotated[
        float | None, "The share of the control's value by which tuned rounds may be worse."
    ] = None
    guard_reason: Annotated[
        str | None, "Why the guard of a tuner holds it at the control, if it does."
    ] = None
    budget: Annotated[
        float | None, "The share of what the control earns or costs that tuning may cost."
    ] = None
    warnings: Annotated[tuple[str, ...], "Conditions that need attention."] = ()

    # --- JSON ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values; NaN is null."""
        return {name: _plain(value) for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """The record that `to_json` wrote.

        Parameters
        ----------
        content : dict
            What `to_json` gave; other keys are ignored.

        Returns
        -------
        Status
            The same record.
        """
        return cls(**{name: _read(kind, content[name]) for name, kind in KINDS.items()})

    # --- words ---------------------------------------------------------------------------------

    def lines(self) -> Iterator[tuple[str, str]]:
        """Status as (label, text) pairs.

        Yields
        ------
        tuple of str
            A label and its text.
        """
        if self.service is not None:
            yield "service", self.service
        if self.best is None:
            yield from self._learner_lines()
        else:
            yield from self._tuner_lines(self.start or {}, self.best)
        if isfinite(self.certificate):
            yield "certificate", f"{self.certificate:.6g} for the rounds so far"
        if isfinite(self.run_certificate):
            text = (
                f"{self.run_certificate:.6g} for this run, with {100 * CONFIDENCE:g} % confidence"
            )
            yield "", f"{text} at all times together"
        if self.name is not None:
            age = f", the oldest for {self.open.oldest_seconds:,.0f} s (dikin study open)"
            yield "open queries", f"{self.open.count:,}{age}" if self.open.count else "none"

    def _learner_lines(self) -> Iterator[tuple[str, str]]:
        yield "learner", f"{self.learner} on {self.domain}"
        yield (
            "arguments",
            ", ".join(f"{name}={value}" for name, value in (self.arguments or {}).items()),
        )
        yield "rounds", f"{self.rounds:,}"
        if self.restarts:
            yield "restarts", f"{self.restarts}"
        yield "center", np.array2string(self.center, precision=4, threshold=12)

    def _tuner_lines(
        self, start: dict[str, Any], best: dict[str, Any]
    ) -> Iterator[tuple[str, str]]:
        if self.uplift is not None:
            yield from self._uplift_lines(self.uplift)
        sense = "larger is better" if self.maximize else "smaller is better"
        waiting = f", {self.open.count} open" if self.open.count else ""
        yield "rounds", f"{self.rounds:,}{waiting} ({sense})"
        if self.guard_reason is None and self.held:
            yield "on hold", "plays the best setting and learns nothing until it is resumed"
        mean = " in the mean of contexts" if self.contexts else ""
        for name, value in best.items():
            yield name, f"{value_text(value)}{mean}   (began at {value_text(start[name])})"
        for label, setting in (self.by_context or {}).items():
            yield label, ", ".join(f"{name} {value_text(each)}" for name, each in setting.items())
        left_out = self.context_count - len(self.by_context or {})
        if left_out:
            yield f"and {left_out} more", "contexts: best_for(context) tells the setting in each"
        if self.recent_rounds:
            yield f"last {self.recent_rounds}", self._recent_text()
        if self.explained_by:
            yield "explained", explained_text(self.explained, self.explained_by)
        if self.clipped:
            text = f"{self.clipped:,} of {self.rounds:,} values, too far off to be learnt in full"
            yield "clipped", text
        yield from self._exploring_lines()
        if self.ahead and isfinite(self.outlook):
            each = f"at most about {self.outlook / self.ahead:.4g} a round"
            stays = "if it and the surprises stay as they are"
            yield f"next {self.ahead:,}", f"{each} from the best fixed setting, {stays}"

    def _exploring_lines(self) -> Iterator[tuple[str, str]]:
        bounded, measured = isfinite(self.exploring_cost), isfinite(self.exploring_measured)
        if bounded:
            yield "exploring", f"costs at most {self.exploring_cost:.4g} a round now, as declared"
        if measured:
            text = (
                f"0 to {self.exploring_measured:.3g} a round in the last {self.exploring_rounds:,}"
            )
            shape = "concave" if self.maximize else "convex"
            given = f"if values are {shape} and the best setting did not jump"
            yield "measured" if bounded else "exploring", f"cost {text} (95 %), {given}"
        if not bounded and not measured:
            yet = "not known" if self.rounds and not self.exploring_rounds else "not known yet"
            yield "exploring", f"{yet}: a bound needs smoothness= or lipschitz="

    def _recent_text(self) -> str:
        text = f"mean {self.recent_mean:.6g}"
        if isfinite(self.recent_sem):
            text += f" ± {self.recent_sem:.2g} (standard error)"
        if isfinite(self.surprise):
            text += f", each ±{self.surprise:.4g} from what was expected"
        return text

    def _uplift_lines(self, uplift: Uplift) -> Iterator[tuple[str, str]]:
        if self.guard_reason is not None:
            yield "guard holds", self.guard_reason
        yield "uplift", str(uplift)
        recent = self.recent_uplift
        if recent is not None and recent.rounds < uplift.rounds:
            yield "recently", f"{recent} ({recent.rounds:,} rounds)"
        exact = self.exact_uplift
        if exact is not None and exact.is_known:
            _, low, high = signed((exact.mean, exact.low, exact.high))
            sure = f"{100 * exact.confidence:g} %"
            yield "exactly", f"{low} to {high} a round ({sure}), for values in the declared range"
        arms = f"{uplift.tuned_rounds:,} tuned, {uplift.held_back_rounds:,} held back"
        yield "compared", f"{arms} at {setting_text(self.control or {})}"

    def __str__(self) -> str:
        return text_of(self.lines())

    def _repr_html_(self) -> str:
        return pairs_table(self.lines())


KINDS = get_type_hints(Status)
MEANINGS: dict[str, str] = {
    name: part.__metadata__[0] for name, part in get_type_hints(Status, include_extras=True).items()
}
"""What each part means, for `help`, the OpenAPI file and the metrics."""
_listed = "".join(f"    {name}\n        {meaning}\n" for name, meaning in MEANINGS.items())
Status.__doc__ = f"{Status.__doc__}\n    Parameters\n    ----------\n{_listed}    "


def text_of(lines: Iterable[tuple[str, str]]) -> str:
    """(label, text) pairs, one per line, for a terminal."""
    return "\n".join(f"{label + ' ':<{WIDTH}}{text}" for label, text in lines)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return finite_or_none(value)
    if isinstance(value, Uplift):
        return value.to_json()
    if isinstance(value, OpenQueries):
        return {name: _plain(part) for name, part in vars(value).items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _read(kind: Any, value: Any) -> Any:
    """What `_plain` was given, of a part of this type."""
    if kind is float:
        return number_or_nan(value)
    if kind is OpenQueries:
        return OpenQueries(**value | {"oldest_seconds": number_or_nan(value["oldest_seconds"])})
    if kind == Array:
        return np.array(value)
    if kind == Uplift | None and value is not None:
        return Uplift.from_json(value)
    return tuple(value) if get_origin(kind) is tuple else value


def explained_text(share: float, by: dict[str, float]) -> str:
    """How much of the variance is explained, and by which covariates, the largest part first."""
    if not by:
        return "nothing: no covariates were given"
    if not isfinite(share):
        return "not known yet"
    largest = sorted(by.items(), key=lambda part: -part[1])
    parts = ", ".join(f"{name} {100 * part:.0f} %" for name, part in largest)
    return f"{100 * share:.0f} % of the variance, by covariates ({parts})"


def setting_text(setting: dict[str, Any]) -> str:
    """A setting by name, in one line."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in setting.items())


def value_text(value: Any) -> str:
    """The value of a parameter for people: numbers with a few digits, shares in percent."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {100 * share:.1f} %" for name, share in value.items())
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
