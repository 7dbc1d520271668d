"""What a study keeps, a learner or a tuner: how each is asked and told, and what its rows say."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dikin.arguments import is_whole
from dikin.errors import (
    AnsweredError,
    FeedbackError,
    ForeignQueryError,
    NotSavableError,
    ParameterError,
    UnknownQueryError,
    shown,
)
from dikin.learners.base import Learner, Query
from dikin.learners.predictive import Predictive
from dikin.studies.history import learner_table, tuner_table
from dikin.studies.rows import Answer, AskArguments, Question, number_json, query_id
from dikin.tuning.space import Params, Space
from dikin.tuning.tuner import Trial, Tuner
from dikin.vectors import Array, Table


class OpenQuery(NamedTuple):
    """A query or trial that waits for its answer."""

    id: int
    point: Array
    client: str
    asked: datetime
    params: Params | None = None
    """The setting by name; None where a learner asked."""


class Kept(ABC):
    """What a study keeps, as its journal sees it."""

    question: ClassVar[str]
    """What it asks, for messages."""
    told_as: ClassVar[str]
    """What the number that is told is called in a row."""
    space: Space | None = None
    """The parameters of a tuner."""

    learner: Any
    """The learner or tuner: `tell`, `forget`, `rounds`, `center` and `state` are of both."""

    @property
    def tuner(self) -> Tuner:
        """The tuner, for what a tuner alone can do."""
        raise ParameterError(
            f"this study keeps a learner, {type(self.learner).__name__}: best, held, hold, resume "
            "and summary are of a study that keeps a dikin.Tuner. See center, certificate and "
            "history instead"
        )

    @property
    def certificate(self) -> float:
        """The bound on the regret; NaN where there is none."""
        return float(self.learner.certificate)

    @property
    @abstractmethod
    def restarts(self) -> int:
        """How often a range of losses that was not known had to be widened."""

    @abstractmethod
    def open_questions(self) -> list[Question]:
        """What waits for its answer, oldest first."""

    def params(self, point: Array) -> Params | None:
        """The setting by name, where there are names."""
        return None

    @abstractmethod
    def again(self, id: int, point: Array) -> Question:
        """A query of this id and point that was asked before."""

    @abstractmethod
    def key(self, given: Any) -> Question | int:
        """What the learner knows a query by, of what a user gave; an error if it is no query."""

    @abstractmethod
    def ask(self, arguments: AskArguments) -> Question:
        """Ask; a context or forecast is refused before anything is drawn."""

    def is_current(self, question: Question) -> bool:
        """Whether it would be asked in the same way now."""
        return True

    def tell(self, key: Question | int, answer: Answer) -> None:
        """Tell; a refusal changes nothing."""
        self.learner.tell(key, answer.loss, answer.curvature)

    def extra_fields(self, key: Question | int) -> str:
        """What a row that tells says besides the answer; read before it is told."""
        return ""

    def repeats(self, key: Question | int, answer: Answer, closed: tuple[str, str]) -> bool:
        """Whether the row that closed a query has this very answer; an error if another."""
        kind, body = closed
        if kind != "tell":
            return False
        told, name = json.loads(body), self.told_as
        if not isinstance(key, int) and key.point.tolist() != told["point"]:
            raise ForeignQueryError(
                f"{self.question} {key.id} of this study asked about {told['point']}, the one that "
                f"came about {key.point}: it belongs to another study. Nothing was changed."
            )
        # As text: as values 1.0 and true would be the same, and NaN is no JSON.
        if f"{{{answer.text(name)}}}" == json.dumps({n: told[n] for n in (name, "curvature")}):
            return True
        raise AnsweredError(
            f"{self.question} {query_id(key)} was already answered with {name} {told[name]} and "
            f"curvature {told['curvature']}, now came {shown(answer.loss)} and "
            f"{shown(answer.curvature)}. "
            "Nothing was changed."
        )

    @abstractmethod
    def certificate_for(self, **constants: float) -> float:
        """The bound for a constant that one believes in."""

    @abstractmethod
    def table(self, told: list[dict[str, Any]]) -> Table:
        """Rows that tell, as a table."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What must be the same where a study is opened with a learner, part by part."""

    @abstractmethod
    def facts(self) -> Iterator[tuple[str, str]]:
        """What there is to say, as names and texts."""

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on; refused if it could not be read back."""
        state: dict[str, Any] = self.learner.state()
        return state


class KeptLearner(Kept):
    """A learner: its rows have the loss as it was told."""

    question, told_as = "query", "loss"

    def __init__(self, learner: Learner) -> None:
        self.learner: Learner = learner

    @property
    def restarts(self) -> int:
        return self.learner.restarts

    def open_questions(self) -> list[Question]:
        return list(self.learner.open_queries)

    def again(self, id: int, point: Array) -> Question:
        return Query(id, point)

    def key(self, given: Any) -> Question | int:
        if isinstance(given, OpenQuery):
            return Query(given.id, given.point)
        return given if isinstance(given, Query) else whole_id(given, self.question)

    def ask(self, arguments: AskArguments) -> Question:
        # With what there is alone: a learner of the user's may know of nothing else.
        context = () if arguments.context is None else (arguments.context,)
        if arguments.forecast is None:
            return self.learner.ask(*context)
        return self.learner.ask(*context, forecast=arguments.forecast)

    def certificate_for(self, **constants: float) -> float:
        if not isinstance(self.learner, Predictive):
            raise ParameterError(
                f"{type(self.learner).__name__} has a certificate for the constants that it was "
                "built with alone: study.certificate"
            )
        return self.learner.certificate_for(**constants)

    def table(self, told: list[dict[str, Any]]) -> Table:
        return learner_table(told, self.learner.domain.center.shape)

    def identity(self) -> dict[str, Any]:
        state = self.learner.state()
        return {"kind": state["learner"]} | {part: state[part] for part in ("domain", "arguments")}

    def facts(self) -> Iterator[tuple[str, str]]:
        learner, parts = self.learner, self.identity()
        yield "learner", f"{parts['kind']} on {parts['domain']['kind']}"
        yield "arguments", ", ".join(f"{name}={arg}" for name, arg in parts["arguments"].items())
        yield "rounds", f"{learner.rounds:,}"
        if learner.may_restart:
            yield "restarts", f"{learner.restarts}"
        yield "center", np.array2string(learner.center, precision=4, threshold=12)
        yield "certificate", f"{self.certificate:.6g}"

    def state(self) -> dict[str, Any]:
        self.learner.require_registered()
        state = super().state()
        if state["domain"] is None:
            raise NotSavableError(
                f"the domain {self.learner.domain} is made of Python functions, which are never "
                "written to a database: a study needs a domain such as Box or Polytope"
            )
        return state


class KeptTuner(Kept):
    """A tuner: its rows have the user's values, what was expected, and whether it was on hold."""

    question, told_as = "trial", "value"

    def __init__(self, tuner: Tuner) -> None:
        self.learner: Tuner = tuner
        self.space = tuner.space

    @property
    def tuner(self) -> Tuner:
        return self.learner

    @property
    def restarts(self) -> int:
        return self.tuner.learner.restarts

    def open_questions(self) -> list[Question]:
        return list(self.tuner.open_trials)

    def params(self, point: Array) -> Params | None:
        return self.tuner.space.params(point)

    def again(self, id: int, point: Array) -> Question:
        return self.tuner.open_trial(id) or Trial(id, self.tuner.space.params(point), point)

    def key(self, given: Any) -> Question | int:
        if isinstance(given, OpenQuery) and given.params is not None:
            return Trial(given.id, given.params, given.point)
        return given if isinstance(given, Trial) else whole_id(given, self.question)

    def ask(self, arguments: AskArguments) -> Question:
        if arguments.context is not None:
            raise FeedbackError(
                "a tuner makes no use of a context: ask() without one, or ask(n=...) for several "
                f"trials; got {shown(arguments.context)}"
            )
        return self.tuner.ask(forecast=arguments.forecast)

    def is_current(self, question: Question) -> bool:
        return isinstance(question, Trial) and question.held == self.tuner.held

    def extra_fields(self, key: Question | int) -> str:
        trial = self.tuner.open_trial(query_id(key))
        if trial is None:
            return ""
        held = json.dumps(trial.held or self.tuner.held)
        return f', "expected": {number_json(trial.expected)}, "held": {held}'

    def certificate_for(self, **constants: float) -> float:
        return self.tuner.certificate_for(**constants)

    def table(self, told: list[dict[str, Any]]) -> Table:
        return tuner_table(told, self.tuner.space)

    def identity(self) -> dict[str, Any]:
        tuner, space = self.tuner, self.tuner.space
        given = tuner.learner.state()["arguments"]
        return {
            "kind": "tuner",
            "parameters": list(space.parameters),
            # Where it began is of no matter afterwards: today's value is another one tomorrow.
            **{f"parameter {n!r},": replace(p, start=None) for n, p in space.parameters.items()},
            "constraints": space.constraints,
            "sense": "maximize" if tuner.maximize else "minimize",
            # The start follows from the parameters.
            "arguments": {name: value for name, value in given.items() if name != "start"}
            | {"separable": tuner.separable},
        }

    def facts(self) -> Iterator[tuple[str, str]]:
        return self.tuner.summary().lines()


def keep(learner: Any) -> Kept:
    """A learner or tuner as a study keeps it."""
    if isinstance(learner, Tuner):
        return KeptTuner(learner)
    if isinstance(learner, Learner):
        return KeptLearner(learner)
    raise ParameterError(f"a study keeps a dikin learner or a dikin.Tuner, got {shown(learner)}")


def whole_id(given: Any, question: str) -> int:
    """The id that somebody gave in the place of a query or trial, or an error."""
    if is_whole(given):
        return int(given)
    raise UnknownQueryError(f"a {question} is answered by itself or by its id, got {shown(given)}")
