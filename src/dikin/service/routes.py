"""The endpoints under /v1: the operations of a study over HTTP."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from dikin.arguments import frozen, is_whole
from dikin.errors import DikinError, LossError, ParameterError, RequestError, StateError, shown
from dikin.loading import restore
from dikin.open_queries import Query as PlayerQuery
from dikin.serialization import finite_or_none, strict_json
from dikin.service import events, schemas
from dikin.service.bodies import written
from dikin.service.limits import AT_ONCE, rounds_at_once
from dikin.service.problems import MEDIA_TYPE, Problem
from dikin.service.service import Service
from dikin.service.workers import Workers
from dikin.status import Status
from dikin.studies.arguments import printable
from dikin.studies.spec import TUNER_EXAMPLE, tuner_from_spec
from dikin.studies.study import Study
from dikin.tuning.space import Space
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner


def _problem(description: str, header: str = "") -> dict[str, Any]:
    """Return the description of a problem, for the OpenAPI file."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    headers = {"headers": {header: {"schema": {"type": "string"}}}} if header else {}
    return {"description": description, "content": content, **headers}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: _problem("The body is not JSON."),
    401: _problem("No token, or an unknown one.", "WWW-Authenticate"),
    403: _problem("The token's right is insufficient, or is for other studies."),
    404: _problem("There is no such study, trial or path."),
    408: _problem("The body arrived too slowly."),
    409: _problem("The trial is closed, or the study exists with another tuner."),
    413: _problem("The body is too large."),
    415: _problem("The body is not of the type application/json."),
    422: _problem("Something in the request cannot be used; nothing was changed."),
    429: _problem("This token has too many requests under way or a second.", "Retry-After"),
    500: _problem("The study is damaged, or the service has a bug."),
    501: _problem("A package that this needs is not installed where the service runs."),
    503: _problem("Busy, or the database is unavailable. Send it again.", "Retry-After"),
}

router = APIRouter(prefix="/v1", responses=PROBLEMS)


CLIENT = {
    "name": "Dikin-Client",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The name of this client in the list of open trials.",
}


def right(name: str, **more: Any) -> dict[str, Any]:
    """Declare that an endpoint needs this right."""
    return {"x-right": name, "security": [{"token": []}], **more}


READ, PLAY, ADMIN = right("read"), right("play", parameters=[CLIENT]), right("admin")
Name = Annotated[str, Path(description="The study, percent-encoded.", min_length=1)]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="A name of this request, unlike any other of the study: 1 to 150 printable "
        "characters. Sent again under it within a week, an ask gets the same trial, and nothing is "
        "asked twice; under the same key with another n, context or covariates it is refused.",
    ),
]
First = Annotated[int, Query(ge=1, le=2**53, description="The first round.")]
Limit = Annotated[int, Query(ge=1, le=AT_ONCE, description="How many at most.")]


def _workers(request: Request) -> Workers:
    workers: Workers = request.app.state.service.workers
    return workers


def _client(request: Request) -> str:
    """Return who asked or told, for the journal: the token and the client's own name."""
    header = request.headers.get("dikin-client")
    own_name = None if header is None else printable(_utf8(header), "Dikin-Client")
    parts = [request.state.access.name, own_name]
    return "/".join(part for part in parts if part)[:150] or "http"


def _utf8(header: str) -> str:
    """Return the text of a header: it is decoded as Latin-1, and most clients mean UTF-8."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        return header


def as_json(answer: BaseModel, status: int = 200) -> Response:
    """Return the answer with this content."""
    return Response(written(answer), status, media_type="application/json")


def on_study(
    method: str, path: str, extra: dict[str, Any], model: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare an operation on a study, a function of the study and of parts of the request.

    It is carried out, and its answer is written, in the thread of the study.
    """

    def declare(operation: Callable[..., Any]) -> Callable[..., Any]:
        async def endpoint(request: Request, name: Name, **given: Any) -> Response:
            client = _client(request) if extra is PLAY else None
            workers = _workers(request)
            body = await workers.do(name, lambda study: written(operation(study, **given)), client)
            return Response(body, media_type="application/json")

        (_, *given), own = (inspect.signature(f).parameters.values() for f in (operation, endpoint))
        signature = inspect.Signature([*list(own)[:2], *given])
        endpoint.__signature__ = signature  # type: ignore[attr-defined]
        router.add_api_route(
            f"/studies/{{name}}/{path}",
            endpoint,
            methods=[method],
            name=operation.__name__,
            description=operation.__doc__,
            openapi_extra=extra,
            response_model=model,
        )
        return operation

    return declare


# --- studies -------------------------------------------------------------------------------------


@router.get("/token", openapi_extra=READ, response_model=schemas.Visitor)
async def token(request: Request) -> Response:
    """Return what this client may do."""
    name, right, studies = request.state.access
    return as_json(schemas.Visitor(name=name, right=right, studies=studies))


@router.get("/studies", openapi_extra=READ, response_model=schemas.Studies)
async def list_studies(
    request: Request,
    after: Annotated[str, Query(description="Names after this one.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Response:
    """Return the status of each study, in the order of their names."""
    service: Service = request.app.state.service
    names = [name for name in await service.names(request.state.access) if name > after]
    chosen_names, more = names[:limit], names[limit:]
    studies = [
        schemas.Status.of(each) if isinstance(each, Status) else each
        for each in await service.statuses(chosen_names)
    ]
    return as_json(schemas.Studies(studies=studies, next=chosen_names[-1] if more else None))


@router.put(
    "/studies/{name}",
    openapi_extra=ADMIN,
    response_model=schemas.Status,
    responses={201: {"description": "The study was created.", "model": schemas.Status}},
)
async def create_study(request: Request, name: Name, body: schemas.NewStudy) -> Response:
    """Create a study; it may already exist with the same tuner."""
    workers = _workers(request)
    if name in (".", ".."):
        raise RequestError(f"a study cannot be called {name!r}: in a URL that means a folder")
    spec = {field: getattr(body, field) for field in body.model_fields_set}

    def create() -> bool:
        with Study(workers.store, name, _tuner(spec)) as study:
            return study.created

    created = await workers.apart(create, long=True)
    status = schemas.Status.of(await workers.status(name))
    return as_json(status, 201 if created else 200)


def _tuner(spec: dict[str, Any]) -> Tuner:
    """Return the tuner that a client describes."""
    if "tuner" not in spec and set(spec) != {"state"}:
        raise _no_tuner()
    try:
        tuner = restore(spec["state"]) if "state" in spec else tuner_from_spec(spec)
    except (StateError, ArithmeticError, TypeError, ValueError) as error:
        if isinstance(error, DikinError) and not isinstance(error, StateError):
            raise
        # The client's mistake: not a damaged study, and not a fault of the service.
        raise RequestError(f"the state or description cannot be used: {error}") from error
    if not isinstance(tuner, Tuner):
        raise _no_tuner()
    return tuner


def _no_tuner() -> RequestError:
    return RequestError(
        f"a study holds a tuner: send its parameters, such as {TUNER_EXAMPLE}, or the state of a "
        "tuner alone; learners without parameters have no studies. Nothing was created"
    )


@router.get("/studies/{name}", openapi_extra=READ, response_model=schemas.Status)
async def show_study(request: Request, name: Name) -> Response:
    """Return the status of a study."""
    return as_json(schemas.Status.of(await _workers(request).status(name)))


@router.delete("/studies/{name}", openapi_extra=ADMIN, status_code=204)
async def delete_study(request: Request, name: Name) -> Response:
    """Remove a study with its whole history."""
    workers = _workers(request)
    await workers.apart(Study.delete, workers.store, name)
    return Response(status_code=204)


# --- trials --------------------------------------------------------------------------------------


@on_study("POST", "ask", PLAY, schemas.Question | schemas.Questions)
def ask(
    study: Study, body: schemas.AskBody | None = None, key: Key = None
) -> schemas.Question | schemas.Questions:
    """Ask for a setting to use: one trial, or with `n` a list."""
    wanted = body or schemas.AskBody()
    if isinstance(wanted.n, int) and wanted.n > AT_ONCE:
        raise RequestError(f"can ask for at most {AT_ONCE} trials, got n = {wanted.n}")
    if not isinstance(wanted.context, dict | None):
        raise RequestError(
            f"context must be an object with a value for each name, got {shown(wanted.context)}"
        )
    asked = study.ask(
        wanted.context,
        n=wanted.n,
        covariates=wanted.covariates,
        key=None if key is None else printable(_utf8(key), "Idempotency-Key"),
    )
    if isinstance(asked, list):
        return schemas.Questions(queries=list(map(_question, asked)))
    return _question(asked)


def _question(trial: Trial) -> schemas.Question:
    return schemas.Question(
        id=trial.id,
        params=trial.params,
        point=trial.point.tolist(),
        expected=finite_or_none(trial.expected),
        paused=trial.paused,
        covariates=trial.covariates or None,
        context=trial.context or None,
        held_back=trial.held_back,
    )


@on_study("POST", "tell", PLAY, schemas.TellResult)
def tell(study: Study, body: schemas.TellBody) -> schemas.TellResult:
    """Tell the value of a trial, or that it failed.

    The same answer sent again is accepted and counts once; a different one is a problem (409). So
    no `Idempotency-Key` is needed.
    """
    if body.value is None and body.failed is False:
        raise LossError(
            'a value is missing, or null: tell a finite number, or "failed": true for a timeout '
            "or a crash, or forget the trial if its value was lost (JSON has no NaN). Nothing was "
            "changed."
        )
    study.tell(
        _query(study, body.id, body.point),
        body.value,
        metrics=body.metrics,
        covariates=body.covariates,
        failed=body.failed,
    )
    rounds, center, certificate = study.standing()
    return schemas.TellResult(
        told=body.id,
        rounds=rounds,
        best=_space(study).params(center),
        center=center.tolist(),
        certificate=finite_or_none(certificate),
    )


def _space(study: Study) -> Space:
    assert study.space is not None, "a study holds a tuner"
    return study.space


def _query(study: Study, id: Any, point: Any) -> PlayerQuery | int:
    """Return the trial that a client refers to by an id and, optionally, a point."""
    if not is_whole(id):
        raise Problem(422, "unknown_query", f"id must be a whole number from ask, got {shown(id)}")
    if point is None:
        return int(id)
    values, columns = frozen(point, "point", 1), _space(study).columns
    if len(values) != len(columns):
        raise ParameterError(
            f"a point has a number for each of {', '.join(columns)}; got {shown(point)}"
        )
    return PlayerQuery(id, values)


@on_study("POST", "forget", PLAY, schemas.Forgotten)
def forget(study: Study, body: schemas.ForgetBody) -> schemas.Forgotten:
    """Close a trial that will never be answered; repeating this is allowed."""
    study.forget(_query(study, body.id, body.point))
    return schemas.Forgotten(forgotten=body.id)


@on_study("DELETE", "queries", PLAY, schemas.Forgotten)
def forget_old(
    study: Study,
    older_than: Annotated[
        float, Query(ge=0, le=1e9, description="Seconds since a trial was asked.")
    ],
) -> schemas.Forgotten:
    """Close all trials that were asked longer ago than that."""
    return schemas.Forgotten(forgotten=study.forget(older_than=older_than))


@on_study("POST", "pause", PLAY, schemas.Paused)
def pause(study: Study) -> schemas.Paused:
    """Make a tuner use its best setting and learn nothing until it is resumed."""
    study.pause()
    return schemas.Paused(paused=True)


@on_study("POST", "resume", PLAY, schemas.Paused)
def resume(study: Study) -> schemas.Paused:
    """Make a tuner explore and learn again."""
    study.resume()
    return schemas.Paused(paused=False)


# --- looking -------------------------------------------------------------------------------------


@on_study("GET", "open", READ, schemas.OpenQueryList)
def open_queries(
    study: Study,
    after: Annotated[int, Query(ge=-1, description="Ids after this one.")] = -1,
    limit: Limit = 100,
) -> schemas.OpenQueryList:
    """Return the open trials, oldest first, with who asked each and when."""
    now = datetime.now(UTC)
    queries = [
        schemas.OpenQuery(
            id=query.id,
            params=query.params or {},
            point=query.point.tolist(),
            client=query.client,
            asked=query.asked.isoformat(),
            age_seconds=max(0.0, (now - query.asked).total_seconds()),
        )
        for query in study.waiting(after, limit)
    ]
    return schemas.OpenQueryList(queries=queries, total=study.status().open.count)


@on_study("GET", "summary", READ, schemas.Status)
def summary(study: Study) -> schemas.Status:
    """Return the status of a tuner alone, without the figures that come from the journal."""
    return schemas.Status.of(study.summary())


@on_study("POST", "best", READ, schemas.Best)
def best(study: Study, body: schemas.BestBody | None = None) -> schemas.Best:
    """Return the best setting of a tuner in a context."""
    return schemas.Best(best=study.best_for(None if body is None else body.context))


@on_study("GET", "recommend", READ, schemas.Recommendation)
def recommend(
    study: Study,
    context: Annotated[
        str | None,
        Query(description='A value for each context of the tuner, as JSON: {"region": "eu"}.'),
    ] = None,
) -> schemas.Recommendation:
    """Return the best setting of a tuner, with its expected value, intervals and what matters."""
    try:
        place = None if context is None else strict_json(context)
    except ValueError as reason:
        raise RequestError(
            f'context must be a JSON object such as {{"region": "eu"}}, got {shown(context)} '
            f"({reason})"
        ) from reason
    return schemas.Recommendation(**study.recommend(place).to_json())


@on_study("GET", "history", READ, schemas.History)
def history(study: Study, first: First = 1, limit: Limit = 100) -> schemas.History:
    """Return rounds from the journal, every seal checked; `next` is the round to continue from.

    If points are large, there are fewer than `limit`.
    """
    begin = max(first, study.first_round)  # skip rounds that were trimmed
    records = study.records(begin, begin + rounds_at_once(limit, study.center.size) - 1)
    rounds = [
        schemas.Round(**record, params=_space(study).params(np.array(record["point"])))
        for record in records
    ]
    more = bool(records) and records[-1]["round"] < study.rounds
    return schemas.History(rounds=rounds, next=records[-1]["round"] + 1 if more else None)


@on_study("GET", "certificate", READ, schemas.Certificate)
def certificate(
    study: Study,
    smoothness: Annotated[float | None, Query(description="The smoothness of the losses.")] = None,
    lipschitz: Annotated[float | None, Query(description="Or their Lipschitz constant.")] = None,
) -> schemas.Certificate:
    """Return the bound on the regret so far, if the losses have the given constant."""
    if smoothness is None and lipschitz is None:
        raise ParameterError("give a constant of the losses: ?smoothness=... or ?lipschitz=...")
    constants = {"smoothness": smoothness, "lipschitz": lipschitz}
    given = {name: value for name, value in constants.items() if value is not None}
    return schemas.Certificate(certificate=finite_or_none(study.certificate_for(**given)))


@on_study("GET", "state", READ, dict[str, Any])
def state(study: Study) -> dict[str, Any]:
    """Return the state of the tuner, from which `dikin.restore` makes a copy."""
    return study.state()


@router.get(
    "/studies/{name}/events",
    openapi_extra=READ,
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `update`, every second, with the status of the "
            "study and the rounds since the last one; `problem`, which ends the stream.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def watch(
    request: Request,
    name: Name,
    last: Annotated[
        str | None, Header(alias="Last-Event-ID", description="The last round that the client has.")
    ] = None,
) -> Response:
    """Watch a study: the last 2,000 rounds, fewer if points are large, and then new ones."""
    service, looks = request.app.state.service, request.app.state.looks
    status = await service.workers.status(name)  # a problem now, and not in the stream
    content = events.updates(service, looks, request, name, events.last_round(last, status.rounds))
    return StreamingResponse(content, media_type="text/event-stream")
