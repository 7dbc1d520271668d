"""The endpoints under /v1: the operations of a study over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
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
from dikin.serialization import finite_or_none
from dikin.service import events, schemas
from dikin.service.bodies import written
from dikin.service.limits import AT_ONCE, rounds_at_once
from dikin.service.problems import MEDIA_TYPE, ClientGone, Problem
from dikin.service.service import Service
from dikin.service.sizes import refuse_large, refuse_large_state
from dikin.studies.backend import OpenQuery
from dikin.studies.client_arguments import printable
from dikin.studies.jsonl import short_json
from dikin.studies.spec import learner_from_spec
from dikin.studies.study import Study
from dikin.tuning.trial import Trial

PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"description": "The body is not JSON.", **PROBLEM},
    401: {
        "description": "No token, or an unknown one.",
        "headers": {"WWW-Authenticate": {"schema": {"type": "string"}}},
        **PROBLEM,
    },
    403: {"description": "The token's right is insufficient, or is for other studies.", **PROBLEM},
    404: {"description": "There is no such study, query or path.", **PROBLEM},
    408: {"description": "The body arrived too slowly.", **PROBLEM},
    409: {"description": "The query is closed, or the study exists with another learner."}
    | PROBLEM,
    413: {"description": "The body is too large.", **PROBLEM},
    415: {"description": "The body is not of the type application/json.", **PROBLEM},
    422: {"description": "Something in the request cannot be used; nothing was changed."} | PROBLEM,
    429: {
        "description": "This token has too many requests under way, or sends too many a second.",
        "headers": {"Retry-After": {"schema": {"type": "string"}}},
        **PROBLEM,
    },
    500: {"description": "The study is damaged, or the service has a bug."} | PROBLEM,
    501: {"description": "A package that this needs is not installed where the service runs."}
    | PROBLEM,
    503: {
        "description": "Busy, or the database is unavailable. Send the request again.",
        "headers": {"Retry-After": {"schema": {"type": "string"}}},
        **PROBLEM,
    },
}


router = APIRouter(prefix="/v1", responses=PROBLEMS)


def right(name: str) -> dict[str, Any]:
    """Declare that an endpoint needs this right."""
    return {"x-right": name, "security": [{"token": []}]}


READ, PLAY, ADMIN = right("read"), right("play"), right("admin")
LARGE_READ = READ | {"x-large": True}
"""Of these, a token may have fewer under way."""
Name = Annotated[str, Path(description="The study, percent-encoded.", min_length=1)]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="A name of this request, unlike any other of the study: 1 to 150 printable "
        "characters. Sent again under it within a week, an ask gets the same query, and nothing is "
        "played twice; under the same key with another n, forecast, context or covariates it is "
        "refused.",
    ),
]
Client = Annotated[
    str | None,
    Header(
        alias="Dikin-Client",
        description="The name of this client in the list of open queries.",
    ),
]
First = Annotated[int, Query(ge=1, le=2**53, description="The first round.")]
Limit = Annotated[int, Query(ge=1, le=AT_ONCE, description="How many at most.")]


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _client(request: Request, header: str | None) -> str:
    """Who asked or told, for the journal: the token and the client's own name."""
    own_name = None if header is None else printable(_utf8(header), "Dikin-Client")
    parts = [request.state.access.name, own_name]
    return "/".join(part for part in parts if part)[:150] or "http"


def _utf8(header: str) -> str:
    """The text of a header: it is decoded as Latin-1, and most clients mean UTF-8."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        return header


def as_json(answer: BaseModel, status: int = 200) -> Response:
    """The answer with this content."""
    return _response(written(answer), status)


def _response(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


async def _respond(
    request: Request,
    name: str,
    act: Callable[[Study], BaseModel | dict[str, Any]],
    client: str | None = None,
) -> Response:
    """Do something with a study and respond with its result, encoded in the study's own thread."""
    workers = _service(request).workers
    state = request.scope["state"]

    def do(study: Study) -> bytes:
        if state.get("gone"):  # it may have sent the same again: once is enough
            raise ClientGone
        return written(act(study))

    return _response(await workers.do(name, do, client, _visitor(request)))


def _visitor(request: Request) -> str:
    """Whose request it is: visitors take turns, and share the time that is computed."""
    return request.scope["state"]["token"] or ""


# --- studies -------------------------------------------------------------------------------------


@router.get("/token", openapi_extra=READ, response_model=schemas.Visitor)
async def token(request: Request) -> Response:
    """What this client may do."""
    name, right, studies = request.state.access
    return as_json(schemas.Visitor(name=name, right=right, studies=studies))


@router.get("/studies", openapi_extra=LARGE_READ, response_model=schemas.Studies)
async def list_studies(
    request: Request,
    after: Annotated[str, Query(description="Names after this one.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Response:
    """The status of each study, in the order of their names."""
    service = _service(request)
    names = [name for name in await service.names(request.state.access) if name > after]
    chosen_names, more = names[:limit], names[limit:]
    readable, unreadable = await service.statuses(chosen_names, _visitor(request))
    studies: list[Any] = [*map(schemas.Status.of, readable), *unreadable]
    studies.sort(key=lambda study: study.name)
    page = schemas.Studies(studies=studies, next=chosen_names[-1] if more else None)
    return _response(await asyncio.to_thread(written, page))


@router.put(
    "/studies/{name}",
    openapi_extra=ADMIN,
    response_model=schemas.Status,
    responses={201: {"description": "The study was created.", "model": schemas.Status}},
)
async def create_study(request: Request, name: Name, body: schemas.NewStudy) -> Response:
    """Create a study; it may already exist with the same learner or tuner."""
    service = _service(request)
    if name in (".", ".."):
        raise RequestError(f"a study cannot be called {name!r}: in a URL that means a folder")
    spec = {field: getattr(body, field) for field in body.model_fields_set}

    def create() -> bool:
        with Study(service.store, name, _learner(spec)) as study:
            return study.created

    created = await service.create_apart(create)
    status = schemas.Status.of(await service.status(name, _visitor(request)))
    return as_json(status, 201 if created else 200)


def _learner(spec: dict[str, Any]) -> Any:
    """The learner or tuner that a client describes."""
    refuse_large(spec)
    try:
        player = restore(spec["state"]) if set(spec) == {"state"} else learner_from_spec(spec)
        state = player.state()
    except (StateError, ArithmeticError, TypeError, ValueError) as error:
        if isinstance(error, DikinError) and not isinstance(error, StateError):
            raise
        # The client's mistake: not a damaged study, and not a fault of the service.
        raise RequestError(f"the state or description cannot be used: {error}") from error
    refuse_large_state(state)
    return player


@router.get("/studies/{name}", openapi_extra=READ, response_model=schemas.Status)
async def show_study(request: Request, name: Name) -> Response:
    """The status of a study."""
    status = await _service(request).status(name, _visitor(request))
    return as_json(schemas.Status.of(status))


@router.delete("/studies/{name}", openapi_extra=ADMIN, status_code=204)
async def delete_study(request: Request, name: Name) -> Response:
    """Remove a study with its whole history."""
    service = _service(request)
    await service.workers.within(Study.delete, service.store, name)
    return Response(status_code=204)


# --- the game ------------------------------------------------------------------------------------


@router.post(
    "/studies/{name}/ask",
    openapi_extra=PLAY,
    response_model=schemas.Question | schemas.Questions,
)
async def ask(
    request: Request,
    name: Name,
    body: schemas.AskBody | None = None,
    key: Key = None,
    client: Client = None,
) -> Response:
    """Ask for what to play: one, or with `n` a list."""
    wanted = body or schemas.AskBody()
    if isinstance(wanted.n, int) and wanted.n > AT_ONCE:
        raise RequestError(f"can ask for at most {AT_ONCE} queries, got n = {wanted.n}")
    if is_whole(wanted.context):
        raise RequestError(
            f"context must be a list of numbers, or an object by name, got {shown(wanted.context)}"
        )
    named = None if key is None else printable(_utf8(key), "Idempotency-Key")

    def act(study: Study) -> schemas.Question | schemas.Questions:
        question = study.ask(
            wanted.context,
            n=wanted.n,
            forecast=wanted.forecast,
            covariates=wanted.covariates,
            key=named,
        )
        if isinstance(question, list):
            return schemas.Questions(queries=[_question(each) for each in question])
        return _question(question)

    return await _respond(request, name, act, _client(request, client))


def _question(question: PlayerQuery) -> schemas.Question:
    point = question.point.tolist()
    if isinstance(question, Trial):
        return schemas.Question(
            id=question.id,
            params=question.params,
            point=point,
            expected=finite_or_none(question.expected),
            held=question.held,
            covariates=question.covariates or None,
            context=question.context or None,
            held_back=question.held_back,
        )
    nothing: dict[str, Any] = dict.fromkeys(("params", "expected", "covariates", "context"))
    return schemas.Question(id=question.id, point=point, held=False, held_back=False, **nothing)


@router.post("/studies/{name}/tell", openapi_extra=PLAY, response_model=schemas.TellResult)
async def tell(
    request: Request,
    name: Name,
    body: schemas.TellBody,
    key: Key = None,
    client: Client = None,
) -> Response:
    """Answer a query or trial.

    The same answer sent again is accepted and counts once; a different one is a problem (409). So
    an `Idempotency-Key` is accepted but has no effect.
    """
    if body.value is None and body.loss is None and body.values is None:
        raise LossError(
            "a value is missing, or null: tell a finite number, or forget the query if its value "
            "was lost (JSON has no NaN). Nothing was changed."
        )

    def act(study: Study) -> schemas.TellResult:
        study.tell(
            _query(study, body.id, body.point),
            body.loss,
            body.curvature,
            value=body.value,
            covariates=body.covariates,
            values=body.values,
            sem=body.sem,
            smoothness=body.smoothness,
            lipschitz=body.lipschitz,
        )
        rounds, center, certificate = study.standing()
        return schemas.TellResult(
            told=body.id,
            rounds=rounds,
            best=None if study.space is None else study.space.params(center),
            center=center.tolist(),
            certificate=finite_or_none(certificate),
        )

    return await _respond(request, name, act, _client(request, client))


def _query(study: Study, id: Any, point: Any) -> PlayerQuery | int:
    """The query that a client refers to by an id and, optionally, a point."""
    if not is_whole(id):
        raise Problem(
            422, "unknown_query", f"id must be a whole number from ask, got {short_json(id)}"
        )
    if point is None:
        return int(id)
    values = frozen(point, "point", np.ndim(study.center))
    if study.space is not None and len(values) != len(study.space.columns):
        raise ParameterError(
            f"a point has a number for each of {', '.join(study.space.columns)}; got {shown(point)}"
        )
    return PlayerQuery(id, values)


@router.post("/studies/{name}/forget", openapi_extra=PLAY, response_model=schemas.Forgotten)
async def forget(
    request: Request, name: Name, body: schemas.ForgetBody, client: Client = None
) -> Response:
    """Close a query or trial that will never be answered; repeating this is allowed."""

    def act(study: Study) -> schemas.Forgotten:
        study.forget(_query(study, body.id, body.point))
        return schemas.Forgotten(forgotten=body.id)

    return await _respond(request, name, act, _client(request, client))


@router.delete(
    "/studies/{name}/queries", openapi_extra=PLAY, response_model=schemas.ForgottenQueries
)
async def forget_old(
    request: Request,
    name: Name,
    older_than: Annotated[
        float, Query(ge=0, le=1e9, description="Seconds since a query was asked.")
    ],
    client: Client = None,
) -> Response:
    """Close all queries and trials that were asked longer ago than that."""

    def act(study: Study) -> schemas.ForgottenQueries:
        return schemas.ForgottenQueries(forgotten=study.forget(older_than=older_than))

    return await _respond(request, name, act, _client(request, client))


@router.post("/studies/{name}/hold", openapi_extra=PLAY, response_model=schemas.Held)
async def hold(request: Request, name: Name, client: Client = None) -> Response:
    """Make a tuner play its best setting and learn nothing until it is resumed."""
    return await _switch(request, name, Study.hold, client, True)


@router.post("/studies/{name}/resume", openapi_extra=PLAY, response_model=schemas.Held)
async def resume(request: Request, name: Name, client: Client = None) -> Response:
    """Make a tuner explore and learn again."""
    return await _switch(request, name, Study.resume, client, False)


async def _switch(
    request: Request,
    name: str,
    switch: Callable[[Study], None],
    client: str | None,
    held: bool,
) -> Response:
    def act(study: Study) -> schemas.Held:
        switch(study)
        return schemas.Held(held=held)

    return await _respond(request, name, act, _client(request, client))


# --- looking -------------------------------------------------------------------------------------


@router.get("/studies/{name}/open", openapi_extra=LARGE_READ, response_model=schemas.OpenQueryList)
async def open_queries(
    request: Request,
    name: Name,
    after: Annotated[int, Query(ge=-1, description="Ids after this one.")] = -1,
    limit: Limit = 100,
) -> Response:
    """The open queries, oldest first, with who asked each and when."""

    def act(study: Study) -> schemas.OpenQueryList:
        now = datetime.now(UTC)
        queries = [_open_query(query, now) for query in study.waiting(after, limit)]
        return schemas.OpenQueryList(queries=queries, total=study.status().open.count)

    return await _respond(request, name, act)


def _open_query(query: OpenQuery, now: datetime) -> schemas.OpenQuery:
    return schemas.OpenQuery(
        id=query.id,
        params=query.params,
        point=query.point.tolist(),
        client=query.client,
        asked=query.asked.isoformat(),
        age_seconds=max(0.0, (now - query.asked).total_seconds()),
    )


@router.get("/studies/{name}/summary", openapi_extra=READ, response_model=schemas.Status)
async def summary(request: Request, name: Name) -> Response:
    """The status of a tuner alone, without the figures that come from the journal."""
    return await _respond(request, name, lambda study: schemas.Status.of(study.summary()))


@router.post("/studies/{name}/best", openapi_extra=READ, response_model=schemas.Best)
async def best(request: Request, name: Name, body: schemas.BestBody | None = None) -> Response:
    """The best setting of a tuner in a context."""
    context = None if body is None else body.context
    return await _respond(request, name, lambda study: schemas.Best(best=study.best_for(context)))


@router.get(
    "/studies/{name}/facts", openapi_extra=READ, response_model=schemas.Facts, deprecated=True
)
async def facts(request: Request, name: Name) -> Response:
    """The status as (label, text) pairs. Prefer `GET /v1/studies/{name}`."""

    def act(study: Study) -> schemas.Facts:
        return schemas.Facts(facts=list(map(list, study.status().lines())))

    return await _respond(request, name, act)


@router.get("/studies/{name}/history", openapi_extra=LARGE_READ, response_model=schemas.History)
async def history(request: Request, name: Name, first: First = 1, limit: Limit = 100) -> Response:
    """Rounds from the journal, every seal checked; `next` is the round to continue from.

    If points are large, there are fewer than `limit`.
    """

    def act(study: Study) -> schemas.History:
        begin = max(first, study.first_round)  # skip rounds that were trimmed
        records = study.records(begin, begin + rounds_at_once(limit, study.center.size) - 1)
        space = study.space
        for record in records:
            point = np.array(record["point"])
            record["params"] = None if space is None else space.params(point)
        more = bool(records) and records[-1]["round"] < study.rounds
        rounds = [schemas.Round(**record) for record in records]
        return schemas.History(rounds=rounds, next=records[-1]["round"] + 1 if more else None)

    return await _respond(request, name, act)


@router.get("/studies/{name}/certificate", openapi_extra=READ, response_model=schemas.Certificate)
async def certificate(
    request: Request,
    name: Name,
    smoothness: Annotated[float | None, Query(description="The smoothness of the losses.")] = None,
    lipschitz: Annotated[float | None, Query(description="Or their Lipschitz constant.")] = None,
    varies: Annotated[
        float | None, Query(description="The most by which a loss varies over the domain.")
    ] = None,
    memory: Annotated[
        float | None,
        Query(description="To bound the regret of about so many rounds: 4000, 1000 or 250."),
    ] = None,
    confidence: Annotated[
        float | None,
        Query(description="To bound the regret of this run with at least this probability."),
    ] = None,
    nonconvexity: Annotated[
        float | None, Query(description="How far a loss may be from a convex one.")
    ] = None,
) -> Response:
    """The bound on the regret so far, if the losses have the given constant."""
    if smoothness is None and lipschitz is None:
        raise ParameterError("give a constant of the losses: ?smoothness=... or ?lipschitz=...")
    arguments = {
        "smoothness": smoothness,
        "lipschitz": lipschitz,
        "varies": varies,
        "memory": memory,
        "confidence": confidence,
        "nonconvexity": nonconvexity,
    }
    constants = {name: value for name, value in arguments.items() if value is not None}

    def act(study: Study) -> schemas.Certificate:
        return schemas.Certificate(certificate=finite_or_none(study.certificate_for(**constants)))

    return await _respond(request, name, act)


@router.get("/studies/{name}/state", openapi_extra=LARGE_READ, response_model=dict[str, Any])
async def state(request: Request, name: Name) -> Response:
    """The state of the learner or tuner, from which `dikin.restore` makes a copy."""
    return await _respond(request, name, Study.state)


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
    service, looks = _service(request), request.app.state.looks
    with ExitStack() as place:
        place.enter_context(service.visitors.stream(events.visitor(request)))
        status = await service.status(name, _visitor(request))  # a problem now, not in the stream
        known = events.last_round(last, status.rounds)
        content = events.updates(service, looks, request, name, known)
        return events.Stream(content, place.pop_all())


# --- maintenance ---------------------------------------------------------------------------------


@router.post("/studies/{name}/verify", openapi_extra=PLAY, response_model=schemas.Verified)
async def verify(request: Request, name: Name) -> Response:
    """Replay the whole journal, check every seal, and compare the result with the learner."""
    return as_json(schemas.Verified(rows=await _apart(request, name, "verification", "verify")))


@router.post("/studies/{name}/trim", openapi_extra=ADMIN, response_model=schemas.Trimmed)
async def trim(request: Request, name: Name, body: schemas.TrimBody) -> Response:
    """Remove the history of early rounds; the learner stays as it is."""
    rows = await _apart(request, name, "trim", "trim", body.before)
    return as_json(schemas.Trimmed(rows=rows))


async def _apart(request: Request, name: str, what: str, method: str, *arguments: Any) -> Any:
    """Call a method that reads a whole study: one at a time for a study and for a token."""
    service, visitor = _service(request), _visitor(request)
    with service.visitors.long_operation(visitor), service.alone(name, what):
        return await service.workers.do_apart(name, method, *arguments, visitor=visitor)
