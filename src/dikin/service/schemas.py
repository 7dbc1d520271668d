"""What requests and answers look like, for the OpenAPI file and for whoever reads it.

Fields that the library judges itself (a loss, a forecast) are taken as they come, so that what is
wrong with them is said in the library's words; the file tells what they should be.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from dikin import status
from dikin.vectors import Array

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
Told = Annotated[Any, WithJsonSchema({"anyOf": [NUMBER, NUMBERS]})]
Whole = Annotated[Any, WithJsonSchema({"type": "integer"})]
Settings = Annotated[
    dict[str, Any], Field(examples=[{"price": 4.61, "split": {"a": 0.3, "b": 0.7}}])
]
"""A number or a level for each name, for shares an object of them."""


class Given(BaseModel):
    """What comes from a client: a field that is not known is an error."""

    model_config = ConfigDict(extra="forbid")


class AskGiven(Given):
    """What is known of a round before it is played."""

    n: Annotated[Any, WithJsonSchema({"type": ["integer", "null"], "minimum": 1})] = Field(
        default=None, description="How many to ask for at once; the answer then is a list."
    )
    forecast: OptionalNumber = Field(
        default=None, description="The loss or value that is expected, whatever is played."
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


class AnswerGiven(Given):
    """An answer to a query or trial."""

    id: Whole = Field(description="As `ask` gave it.")
    value: Told = Field(default=None, description="What came of it; of a learner, its loss.")
    loss: Told = Field(default=None, description="The same, by the name that it has for a learner.")
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
    point: OptionalNumbers = Field(
        default=None,
        description="What was played, as `ask` gave it; an id of another study is refused then.",
    )


class ForgetGiven(Given):
    """A query or trial that will never be answered."""

    id: Whole = Field(description="As `ask` gave it.")
    point: OptionalNumbers = Field(default=None, description="As for `tell`.")


class TrimGiven(Given):
    """Which history is removed."""

    before: Annotated[Any, WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="The first round whose history is kept."
    )


class StudyGiven(BaseModel):
    """A tuner by its parameters, a learner by its kind and domain, or either by its state.

    The keys besides are the arguments of the class, as for `dikin study create`.
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
    domain: dict[str, Any] | None = Field(default=None, description="Where a learner plays.")
    state: dict[str, Any] | None = Field(
        default=None, description="What `Learner.state` or `Tuner.state` gave."
    )


# --- answers -------------------------------------------------------------------------------------


class Problem(BaseModel):
    """Problem details, RFC 9457."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What came, what was wanted and what to do.")
    code: str = Field(description="A name for programs: loss_range is dikin's LossRangeError.")


class Visitor(BaseModel):
    """What this client may do."""

    name: str | None = Field(description="Of its token; null where there are no tokens.")
    right: str
    studies: list[str] | None = Field(description="Null for all.")


class Question(BaseModel):
    """A query of a learner, or a trial of a tuner: play its point or params, and tell its value."""

    id: int
    params: Settings | None
    point: list[Any]
    expected: float | None = Field(description="What a tuner expects of the value.")
    held: bool = Field(description="Whether a tuner is on hold and learns nothing from it.")
    covariates: dict[str, float | str] | None = Field(
        description="What is known of the round of a trial, by name."
    )


class Questions(BaseModel):
    """Several of them."""

    queries: list[Question]


class TellResult(BaseModel):
    """The rounds and the best guess after an answer."""

    told: int = Field(description="The id of the query or trial.")
    rounds: int
    best: Settings | None
    center: list[Any]
    certificate: float | None


class Forgotten(BaseModel):
    """The query that was closed."""

    forgotten: int


class Held(BaseModel):
    """Whether a tuner is on hold."""

    held: bool


class OpenQuery(BaseModel):
    """What waits for its answer."""

    id: int
    params: Settings | None
    point: list[Any]
    client: str
    asked: str = Field(description="The time, ISO 8601.")
    age_seconds: float


class OpenQueryList(BaseModel):
    """The oldest of what waits, and how much does in all."""

    queries: list[OpenQuery]
    total: int


class OpenQueries(BaseModel):
    """How much waits for an answer, and for how long."""

    count: int
    first: int | None = Field(description="The id of the one that has waited longest.")
    oldest_seconds: float | None


IN_JSON: dict[Any, Any] = {
    float: float | None,  # NaN is null
    Array: list[Any],
    status.OpenQueries: OpenQueries,
}
"""The types of the parts of a status that are others in JSON."""
_parts: dict[str, Any] = {
    name: (IN_JSON.get(kind, kind), Field(description=status.MEANINGS[name]))
    for name, kind in status.KINDS.items()
}


class Status(create_model("StatusParts", **_parts)):  # type: ignore[misc]
    """The status of a study; null where something does not apply or is not known."""

    @classmethod
    def of(cls, record: status.Status) -> Self:
        """The same as a model."""
        return cls(**record.to_json())


class Unreadable(BaseModel):
    """A study that cannot be read, and why."""

    name: str
    problem: str


class Studies(BaseModel):
    """Some studies in the order of their names, and after which one to go on."""

    studies: list[Status | Unreadable]
    next: str | None


class Facts(BaseModel):
    """Labels and texts, as `dikin study show` prints them."""

    facts: list[list[str]]


class Round(BaseModel):
    """One round, as it stands in the journal."""

    round: int
    query: int
    client: str
    time: float = Field(description="Seconds since 1970.")
    point: list[Any]
    params: Settings | None
    value: float | None = Field(default=None, description="Of a tuner.")
    loss: Any = Field(default=None, description="Of a learner.")
    curvature: Any
    covariates: dict[str, float | str] | None = Field(
        default=None, description="That came with the value."
    )
    sem: float | None = Field(default=None, description="The standard error of the value.")
    expected: float | None = None
    held: bool | None = None
    asked: dict[str, Any] | None = Field(
        default=None,
        description="The context and the covariates that were known when it was asked.",
    )
    center: list[Any]
    certificate: float | None


class History(BaseModel):
    """Some rounds, and with which one to go on."""

    rounds: list[Round]
    next: int | None


class Certificate(BaseModel):
    """A bound on the regret so far."""

    certificate: float | None


class Verified(BaseModel):
    """How many rows were replayed, and found to make this very learner."""

    rows: int


class Trimmed(BaseModel):
    """How many rows were removed."""

    rows: int


class Health(BaseModel):
    """Whether the service works."""

    ok: bool
