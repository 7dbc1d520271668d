"""The OpenAPI file, from the table of operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dikin.service.problems import HEADERS, MEDIA_TYPE, WORDS
from dikin.studies.operations import STATUS, TEXT, WHOLE, Argument, Operation, record

CLIENT = Argument(
    TEXT, "The name of this client in the list of open trials.", header="Dikin-Client"
)
OWN_MEDIA_TYPE = {"/metrics": "text/plain"}
PUBLIC = (500, 503)
"""Problems of an endpoint that needs no token."""


def document(operations: Iterable[Operation], version: str) -> dict[str, Any]:
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
            "responses": {str(status): _problem(status) for status in WORDS},
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
    found: dict[str, Any] = {"description": WORDS[status], "content": content}
    if status in HEADERS:
        found["headers"] = {HEADERS[status]: {"schema": TEXT}}
    return found


def _endpoint(asked: Operation) -> dict[str, Any]:
    problems = WORDS if asked.right else PUBLIC
    responses = {str(s): {"$ref": f"#/components/responses/{s}"} for s in problems}
    parameters = [_parameter(name, each, "query") for name, each in asked.in_query.items()]
    headers = list(asked.headers.values())
    if asked.right == "play":
        headers.append(CLIENT)
    parameters += [_parameter(each.header, each, "header") for each in headers]
    if "{name}" in asked.path:
        name = Argument(TEXT | {"minLength": 1}, "The study, percent-encoded.")
        parameters.insert(0, _parameter("name", name, "path") | {"required": True})
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
            "properties": {name: each.schema for name, each in asked.in_body.items()},
            "required": asked.required,
            "additionalProperties": asked.is_open,
        }
        content = {"application/json": {"schema": schema}}
        found["requestBody"] = {"content": content, "required": bool(schema["required"])}
    return found


def _parameter(name: str, given: Argument, place: str) -> dict[str, Any]:
    schema = {key: part for key, part in given.schema.items() if key != "description"}
    plain = schema.get("type") in ("integer", "number", "string")
    return {
        "name": name,
        "in": place,
        "required": False,
        "description": given.schema["description"],
        **({"schema": schema} if plain else {"content": {"application/json": {"schema": schema}}}),
    }


def _answers(asked: Operation) -> dict[str, Any]:
    if asked.answer is None:
        return {"204": {"description": "It was removed."}}
    schema = asked.answer
    if schema is STATUS:
        schema = {"$ref": "#/components/schemas/Status"}
    kind = OWN_MEDIA_TYPE.get(asked.path, "application/json")
    found = {"200": {"description": "The answer.", "content": {kind: {"schema": schema}}}}
    if asked.method == "PUT":
        found["201"] = found["200"] | {"description": "The study was created."}
    if asked.version is not None:
        found["304"] = {"description": "Nothing has changed since the answer of that ETag."}
    return found
