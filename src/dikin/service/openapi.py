"""The OpenAPI file, from the table of operations."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from dikin.service.endpoints import STATUS, Endpoint
from dikin.service.problems import HEADERS, MEDIA_TYPE, STATUSES
from dikin.studies.operations import TEXT, WHOLE, Schema, record

CLIENT = TEXT | {"description": "The name of this client in the list of open trials."}
NAME = TEXT | {"minLength": 1, "description": "The study, percent-encoded."}
OWN_MEDIA_TYPE = {"/metrics": "text/plain"}
PUBLIC = (500, 503)
"""Problems of an endpoint that needs no token."""


def document(operations: Iterable[Endpoint], version: str) -> dict[str, Any]:
    """Return the OpenAPI file of some operations."""
    paths: dict[str, dict[str, Any]] = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = _endpoint(each)
    problem = record(type=TEXT, title=TEXT, status=WHOLE, detail=TEXT, code=TEXT)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dikin",
            "version": version,
            "summary": "Studies of bandit convex optimization over HTTP.",
            "description": "A study stores a tuner. `ask` for a setting, use it, `tell` the value. "
            "Every error is a problem (RFC 9457) whose `detail` says what to do.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": problem, "Status": STATUS},
            "responses": {str(status): _problem(status) for status in STATUSES},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token, as printed by `dikin token create`. If the store has "
                    "no tokens, clients on the same machine need none.",
                }
            },
        },
    }


def _problem(status: int) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    found: dict[str, Any] = {"description": HTTPStatus(status).phrase, "content": content}
    if status in HEADERS:
        found["headers"] = {HEADERS[status]: {"schema": TEXT}}
    return found


def _endpoint(asked: Endpoint) -> dict[str, Any]:
    problems = STATUSES if asked.right else PUBLIC
    responses = {str(s): {"$ref": f"#/components/responses/{s}"} for s in problems}
    parameters = [_parameter(name, each, "query") for name, each in asked.in_query.items()]
    headers = {header: asked.arguments[name] for name, header in asked.headers.items()}
    headers |= {"Dikin-Client": CLIENT} if asked.right == "play" else {}
    parameters += [_parameter(name, each, "header") for name, each in headers.items()]
    if "{name}" in asked.path:
        parameters.insert(0, _parameter("name", NAME, "path") | {"required": True})
    found: dict[str, Any] = {
        "operationId": asked.name,
        "summary": asked.words.partition("\n")[0],
        "description": asked.words,
        "parameters": parameters,
        "responses": _answers(asked) | responses,
    }
    if asked.right:
        found |= {"x-right": asked.right, "security": [{"token": []}]}
    if asked.in_body:
        schema = {
            "type": "object",
            "properties": asked.in_body,
            "required": sorted(asked.required),
            "additionalProperties": asked.is_open,
        }
        content = {"application/json": {"schema": schema}}
        found["requestBody"] = {"content": content, "required": bool(schema["required"])}
    return found


def _parameter(name: str, given: Schema, place: str) -> dict[str, Any]:
    schema = given.get("anyOf", [given])[0]  # null is left out
    found = {"name": name, "in": place, "required": False}
    found["description"] = given.get("description", "")
    if schema.get("type") in ("integer", "number", "string"):
        return found | {"schema": schema}
    return found | {"content": {"application/json": {"schema": schema}}}


def _answers(asked: Endpoint) -> dict[str, Any]:
    if asked.method == "DELETE":
        return {"204": {"description": "It was removed."}}
    schema = asked.answer
    if schema == STATUS:
        schema = {"$ref": "#/components/schemas/Status"}
    kind = OWN_MEDIA_TYPE.get(asked.path, "application/json")
    found = {"200": {"description": "The answer.", "content": {kind: {"schema": schema}}}}
    if asked.method == "PUT":
        found["201"] = found["200"] | {"description": "The study was created."}
    if asked.version is not None:
        found["304"] = {"description": "Nothing has changed since the answer of that ETag."}
    return found
