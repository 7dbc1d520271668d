"""The models of requests and answers, for the OpenAPI file and its readers.

Fields that the library checks itself (a loss, a forecast) are accepted as they are, so that errors
have the library's messages; the file says what they should be.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from dikin import status
from dikin.vectors import Array
from dikin.worth.uplift import Uplift as UpliftRecord

NUMBER = {"type": "number"}
Number = Annotated[Any, WithJsonSchema(NUMBER)]
OptionalNumber = Annotated[Any, WithJsonSchema({"anyOf": [NUMBER, {"type": "null"}]})]
NUMBERS = {"type": "array", "items": {}}
OptionalNumbers = Annotated[Any, WithJsonSchema({"anyOf": [NUMBERS, {"type": "null"}]})]
NAMED = {
    "type": "object",
    "additionalProperties": {"type": ["number", "string", "boolean", "null"]},
}
Named = Annotated[Any, WithJsonSchema({"anyOf": [NAMED, {"type": "null"}]})]
"""Numbers and words by name."""
Context = Annotated[Any, WithJsonSchema({"anyOf": [NAMED, NUMBERS, {"type": "null"}]})]
Loss = Annotated[Any, WithJsonSchema({"anyOf": [NUMBER, NUMBERS]})]
Whole = Annotated[Any, WithJsonSchema({"type": "integer"})]
Settings = Annotated[
    dict[str, Any], Field(examples=[{"price": 4.61, "split": {"a": 0.3, "b": 0.7}}])
]
"""A number or a level for each name; for shares, an object of numbers."""


class Body(BaseModel):
    """A request body: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class AskBody(Body):
    """What is known about a round before it is played."""

    n: Annotated[Any, WithJsonSchema({"type": ["integer", "null"], "minimum": 1})] = Field(
        default=None, description="How many to ask for at once; the answer is then a list."
    )
    forecast: OptionalNumber = Field(
        default=None, description="The expected loss or value, whatever is played."
    )
    context: Context = Field(
        default=None,
        description="What a learner with `feedback` of that kind needs to know; for a tuner by "
        "name.",
    )
    covariates: Named = Field(
        default=None,
        description="What explains the value of a tuner besides the setting, which must not "
        "influence it, by name.",
        examples=[{"load": 0.7, "hour": 14, "kind": "batch"}],
    )


class TellBody(Body):
    """An answer to a query or trial."""

    id: Whole = Field(description="The id from `ask`.")
    value: Loss = Field(default=None, description="The result; for a learner, its loss.")
    loss: Loss = Field(default=None, description="The same, under the name that a learner uses.")
    curvature: Number = Field(
        default=0.0, description="How strongly convex the loss was; 0 if unknown."
    )
    covariates: Named = Field(
        default=None,
        description="As for `ask`: what is known only now.",
        examples=[{"users": 1830}],
    )
    values: OptionalNumbers = Field(
        default=None, description="Several values of a trial, in place of one."
    )
    sem: OptionalNumber = Field(
        default=None, description="The standard error of the value of a trial."
    )
    smoothness: OptionalNumber = Field(
        default=None, description="The smoothness of this loss, at most the declared one."
    )
    lipschitz: OptionalNumber = Field(
        default=None, description="The Lipschitz constant of this loss, at most the declared one."
    )
    point: OptionalNumbers = Field(
        default=None,
        description="The point from `ask`; with it, an id of another study is refused.",
    )


class ForgetBody(Body):
    """A query or trial that will never be answered."""

    id: Whole = Field(description="The id from `ask`.")
    point: OptionalNumbers = Field(default=None, description="As for `tell`.")


class BestBody(Body):
    """The context of which the best setting is wanted."""

    context: Named = Field(
        default=None,
        description="A value for each context of the tuner; none for a tuner without.",
        examples=[{"region": "eu", "hour": 14}],
    )


class TrimBody(Body):
    """The history to remove."""

    before: Annotated[Any, WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="The first round whose history is kept."
    )


class NewStudy(BaseModel):
    """A tuner by its parameters, a learner by its kind and domain, or either by its state.

    All other keys are arguments of the class, as for `dikin study create`.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": True},
                {
                    "learner": "adaptivesmooth",
                    "domain": {"kind": "box", "lower": [0, 0], "upper": [10, 2]},
                    "smoothness": 0.5,
                    "loss_range": [0, 40],
                },
            ]
        },
    )

    tuner: dict[str, Any] | None = Field(
        default=None, description="Name and range of each parameter."
    )
    learner: str | None = Field(default=None, description="The kind of a learner.")
    domain: dict[str, Any] | None = Field(
        default=None, description="The set that a learner plays on."
    )
    state: dict[str, Any] | None = Field(
        default=None, description="The result of `Learner.state` or `Tuner.state`."
    )


# --- answers -------------------------------------------------------------------------------------


class Problem(BaseModel):
    """Problem details, RFC 9457."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What was sent, what was expected and what to do.")
    code: str = Field(description="A name for programs: loss_range is dikin's LossRangeError.")


class Visitor(BaseModel):
    """What this client may do."""

    name: str | None = Field(description="The name of its token; null if there are no tokens.")
    right: str
    studies: list[str] | None = Field(description="The studies it may use; null for all.")


class Question(BaseModel):
    """A query of a learner, or a trial of a tuner: play its point or params, and tell its value."""

    id: int
    params: Settings | None
    point: list[Any]
    expected: float | None = Field(description="The value that a tuner expects.")
    held: bool = Field(description="Whether a tuner is on hold and learns nothing from it.")
    covariates: dict[str, float | str] | None = Field(
        description="What is known of the round of a trial, by name."
    )
    context: dict[str, float | str] | None = Field(
        description="The context that the setting of a trial was chosen for, by name."
    )
    held_back: bool = Field(description="Whether a trial plays the control, to be compared with.")


class Questions(BaseModel):
    """Several queries or trials."""

    queries: list[Question]


class TellResult(BaseModel):
    """The rounds and the best guess after an answer."""

    told: int = Field(description="The id of the query or trial.")
    rounds: int
    best: Settings | None
    center: list[Any]
    certificate: float | None


class Best(BaseModel):
    """The best setting in a context."""

    best: Settings


class Forgotten(BaseModel):
    """The query that was closed."""

    forgotten: int


class ForgottenQueries(BaseModel):
    """How many queries were closed."""

    forgotten: int


class Held(BaseModel):
    """Whether a tuner is on hold."""

    held: bool


class OpenQuery(BaseModel):
    """A query or trial without an answer so far."""

    id: int
    params: Settings | None
    point: list[Any]
    client: str
    asked: str = Field(description="When it was asked, in ISO 8601.")
    age_seconds: float


class OpenQueryList(BaseModel):
    """The oldest open queries, and the number of all."""

    queries: list[OpenQuery]
    total: int


class OpenQueries(BaseModel):
    """How many queries are open, and for how long."""

    count: int
    first: int | None = Field(description="The id of the oldest one.")
    oldest_seconds: float | None


class Uplift(BaseModel):
    """What a tuned round gains over the control; null where it is not known yet."""

    mean: float | None = Field(description="The estimated gain of a round; above 0 is better.")
    low: float | None = Field(description="The lower end of its interval, valid at any time.")
    high: float | None = Field(description="The upper end.")
    mean_percent: float | None = Field(description="In per cent of the control's mean value.")
    low_percent: float | None
    high_percent: float | None
    control_mean: float | None = Field(description="The mean value of the control.")
    tuned_rounds: int
    held_back_rounds: int
    confidence: float = Field(description="That the truth never leaves the interval.")
    maximize: bool
    total: float | None = Field(description="What all tuned rounds together have gained.")


IN_JSON: dict[Any, Any] = {
    float: float | None,  # NaN is null
    Array: list[Any],
    status.OpenQueries: OpenQueries,
    UpliftRecord | None: Uplift | None,
}
"""The types of the fields of a status that differ in JSON."""
_parts: dict[str, Any] = {
    name: (IN_JSON.get(kind, kind), Field(description=status.MEANINGS[name]))
    for name, kind in status.KINDS.items()
}


class Status(create_model("StatusParts", **_parts)):  # type: ignore[misc]
    """The status of a study; fields that do not apply or are not known are null."""

    @classmethod
    def of(cls, record: status.Status) -> Self:
        """The model of a status."""
        return cls(**record.to_json())


class Unreadable(BaseModel):
    """A study that cannot be read, and why."""

    name: str
    problem: str


class Studies(BaseModel):
    """Some studies in order of their names, and the one after which to continue."""

    studies: list[Status | Unreadable]
    next: str | None


class Round(BaseModel):
    """One round of the journal."""

    round: int
    query: int
    client: str
    time: float = Field(description="Seconds since 1970.")
    point: list[Any]
    params: Settings | None
    value: float | None = Field(default=None, description="The value, for a tuner.")
    loss: Any = Field(default=None, description="The loss, for a learner.")
    curvature: Any
    covariates: dict[str, float | str] | None = Field(
        default=None, description="That came with the value."
    )
    sem: float | None = Field(default=None, description="The standard error of the value.")
    smoothness: float | None = Field(default=None, description="That was told of this loss.")
    lipschitz: float | None = Field(default=None, description="That was told of this loss.")
    expected: float | None = None
    held: bool | None = None
    held_back: bool | None = Field(default=None, description="Whether it played the control.")
    expected_control: float | None = Field(
        default=None, description="What was expected of the control; null if no coin decided."
    )
    asked: dict[str, Any] | None = Field(
        default=None,
        description="The context and the covariates that were known when it was asked.",
    )
    center: list[Any]
    certificate: float | None


class History(BaseModel):
    """Some rounds, and the round to continue with."""

    rounds: list[Round]
    next: int | None


class Certificate(BaseModel):
    """A bound on the regret so far."""

    certificate: float | None


class Verified(BaseModel):
    """How many rows were replayed; they reproduce the learner exactly."""

    rows: int


class Trimmed(BaseModel):
    """How many rows were removed."""

    rows: int


class Health(BaseModel):
    """Whether the service works."""

    ok: bool
