"""The models of requests and answers, for the OpenAPI file and its readers.

Fields that the library checks itself (a value, a context) are accepted as they are, so that errors
have the library's messages; the file says what they should be.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from dikin import status
from dikin.vectors import Array
from dikin.worth.uplift import Uplift as UpliftRecord

OptionalNumber = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]})]
NUMBERS = {"type": "array", "items": {}}
OptionalNumbers = Annotated[Any, WithJsonSchema({"anyOf": [NUMBERS, {"type": "null"}]})]
NAMED = {
    "type": "object",
    "additionalProperties": {"type": ["number", "string", "boolean", "null"]},
}
Named = Annotated[Any, WithJsonSchema({"anyOf": [NAMED, {"type": "null"}]})]
"""Numbers and words by name, in a request."""
Whole = Annotated[Any, WithJsonSchema({"type": "integer"})]
Settings = Annotated[
    dict[str, Any], Field(examples=[{"price": 4.61, "split": {"a": 0.3, "b": 0.7}}])
]
"""A number or a level for each name; for shares, an object of numbers."""
Words = dict[str, float | str] | None
"""Numbers and words by name, in an answer."""


class Body(BaseModel):
    """A request body: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class BestBody(Body):
    """The context of which the best setting is wanted."""

    context: Named = Field(
        default=None,
        description="A value for each context of the tuner; none for a tuner without.",
        examples=[{"region": "eu", "hour": 14}],
    )


class AskBody(BestBody):
    """Facts about a round, known before its setting is chosen."""

    n: Annotated[Any, WithJsonSchema({"type": ["integer", "null"], "minimum": 1})] = Field(
        default=None, description="How many to ask for at once; the answer is then a list."
    )
    covariates: Named = Field(
        default=None,
        description="What explains the value besides the setting, which must not influence it, by "
        "name.",
        examples=[{"load": 0.7, "hour": 14, "kind": "batch"}],
    )


class ForgetBody(Body):
    """A trial that will never be answered."""

    id: Whole = Field(description="The id from `ask`.")
    point: OptionalNumbers = Field(
        default=None,
        description="The point from `ask`; with it, an id of another study is refused.",
    )


class TellBody(ForgetBody):
    """The value of a trial, or its failure."""

    value: OptionalNumber = Field(default=None, description="The value that its setting gave.")
    metrics: Named = Field(
        default=None,
        description="Other measurements by name; those with a limit are required.",
        examples=[{"p99_ms": 187.0}],
    )
    covariates: Named = Field(
        default=None,
        description="As for `ask`: what is known only now.",
        examples=[{"users": 1830}],
    )
    failed: Annotated[Any, WithJsonSchema({"type": "boolean"})] = Field(
        default=False, description="Whether it failed: a timeout, a crash. It has no value then."
    )


class NewStudy(BaseModel):
    """A tuner by its parameters, or by its state.

    All other keys are arguments of `dikin.Tuner`, as for `dikin study create`.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [{"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": True}]
        },
    )

    tuner: dict[str, Any] | None = Field(
        default=None, description="Name and range of each parameter."
    )
    state: dict[str, Any] | None = Field(default=None, description="The result of `Tuner.state`.")


# --- answers -------------------------------------------------------------------------------------


class Problem(BaseModel):
    """Problem details, RFC 9457."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What was sent, what was expected and what to do.")
    code: str = Field(description="A name for programs: loss_range is dikin's LossRangeError.")


class Visitor(BaseModel):
    """The rights of this client."""

    name: str | None = Field(description="The name of its token; null if there are no tokens.")
    right: str
    studies: list[str] | None = Field(description="The studies it may use; null for all.")


class Asked(BaseModel):
    """A trial and its setting."""

    id: int
    params: Settings
    point: list[float]


class Question(Asked):
    """A trial: use its params, and tell the value that they gave."""

    expected: float | None = Field(description="The value that the tuner expects.")
    paused: bool = Field(description="Whether the tuner is paused and learns nothing from it.")
    covariates: Words = Field(description="What is known of the round, by name.")
    context: Words = Field(description="The context that the setting was chosen for, by name.")
    held_back: bool = Field(description="Whether it uses the control, to be compared with.")


class Questions(BaseModel):
    """Several trials."""

    queries: list[Question]


class TellResult(BaseModel):
    """The rounds and the best guess after an answer."""

    told: int = Field(description="The id of the trial.")
    rounds: int
    best: Settings
    center: list[float]
    certificate: float | None


class Best(BaseModel):
    """The best setting in a context."""

    best: Settings


Interval = Annotated[list[float | None], Field(min_length=3, max_length=3)]
"""A number and the ends of its 95 % interval; null where it is not known yet."""
Intervals = dict[str, Interval]


class Recommendation(BaseModel):
    """The best setting with its expected value. Intervals have a number and its two ends."""

    params: Settings
    value: Interval = Field(description="The mean value at the setting.")
    intervals: Intervals = Field(description="The range of the best setting, by parameter.")
    importance: Intervals = Field(
        description="The difference in the mean value over the range of each parameter. The value "
        "is known to depend on it where the interval excludes 0."
    )
    limits: Intervals = Field(description="The mean metric at the setting, by limit.")
    broken: list[str] = Field(description="The limits that no setting is known to keep.")


class Forgotten(BaseModel):
    """The trials that were closed."""

    forgotten: int = Field(description="The id of one trial, or the number of old ones.")


class Paused(BaseModel):
    """The mode of a tuner: paused or not."""

    paused: bool


class OpenQuery(Asked):
    """A trial without a value so far."""

    client: str
    asked: str = Field(description="When it was asked, in ISO 8601.")
    age_seconds: float


class OpenQueryList(BaseModel):
    """The oldest open trials, and the number of all."""

    queries: list[OpenQuery]
    total: int


class OpenQueries(BaseModel):
    """The number of open trials, and the age of the oldest."""

    count: int
    first: int | None = Field(description="The id of the oldest one.")
    oldest_seconds: float | None


class Uplift(BaseModel):
    """The gain of a tuned round over the control; null where it is not known yet."""

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
    note: str | None = Field(description="The reason why there is no interval, or what it takes.")
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
        """Return the model of a status."""
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
    point: list[float]
    params: Settings
    value: float | None = Field(description="Null for a trial that failed.")
    failed: bool = False
    metrics: dict[str, float] | None = None
    covariates: Words = Field(default=None, description="That came with the value.")
    expected: float | None = None
    paused: bool = False
    held_back: bool = Field(default=False, description="Whether it used the control.")
    expected_control: float | None = Field(
        default=None, description="What was expected of the control; null if no coin decided."
    )
    asked: dict[str, Any] | None = Field(
        default=None,
        description="The context and the covariates that were known when it was asked.",
    )
    center: list[float]


class History(BaseModel):
    """Some rounds, and the round to continue with."""

    rounds: list[Round]
    next: int | None


class Certificate(BaseModel):
    """A bound on the regret so far."""

    certificate: float | None


class Health(BaseModel):
    """The health of the service."""

    ok: bool
