"""The OpenAPI file: valid, complete, and true; tried with requests that are made from it."""

import os
import re
from collections.abc import Iterator
from typing import Any

import hypothesis
import jsonschema_rs
import pytest
import schemathesis
from schemathesis.checks import CHECKS

from dikin.service.app import document
from dikin.service.tokens import TokenStore
from service.serving import TUNER, Answer, Serving
from studies.conftest import new_file

SCHEMA = schemathesis.openapi.from_dict(document())
EXAMPLES = int(os.environ.get("EXAMPLES", "6"))
"""Requests for each endpoint and kind of data; more of them are drawn anew each time."""
# Whether a body that the file allows is accepted: low < high cannot be said there.
NOT_SAID = {"positive_data_acceptance", "max_response_time"}


@pytest.fixture(scope="module")
def tried() -> Iterator[Serving]:
    """A service with tokens and a study, for requests of every kind."""
    with new_file() as store:
        token = TokenStore(store).create("root", "admin")
        with Serving(store) as running:
            running.tokens["admin"] = token
            running.send("PUT", "/v1/studies/a", TUNER, token)
            yield running


def test_the_file_is_valid_and_served(service: Serving) -> None:
    served = service.send("GET", "/openapi.json").content
    assert served["openapi"].startswith("3.1")
    schemathesis.openapi.from_dict(served).validate()
    for path, methods in served["paths"].items():
        for operation in methods.values():
            assert operation["description"], path
            if path.startswith("/v1"):
                assert {"401", "403", "422", "503"} <= set(operation["responses"])


@SCHEMA.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 6,
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_no_fault_and_no_answer_that_is_not_in_the_file(case: Any, tried: Serving) -> None:
    there = {"PUT": "c", "DELETE": "d"}.get(case.method, "a")
    if len(str((case.path_parameters or {}).get("name", ""))) % 2:
        case.path_parameters["name"] = there  # about half of all requests
    checks = [check for check in CHECKS.get_all() if check.__name__ not in NOT_SAID]
    headers = {"Authorization": f"Bearer {tried.tokens['admin']}"}
    case.call_and_validate(base_url=tried.url, headers=headers, checks=checks, timeout=300)


REQUESTS: list[tuple[str, str, Any]] = [
    ("GET", "/healthz", None),
    ("GET", "/readyz", None),
    ("GET", "/v1/token", None),
    ("PUT", "/v1/studies/a", TUNER | {"holdback": 0.1}),
    ("PUT", "/v1/studies/a", TUNER | {"holdback": 0.1}),  # it is there
    ("GET", "/v1/studies/a", None),
    ("POST", "/v1/studies/a/ask", {"n": 2}),
    ("POST", "/v1/studies/a/ask", None),
    ("GET", "/v1/studies/a/open", None),
    ("POST", "/v1/studies/a/tell", {"id": 0, "value": 3}),
    ("POST", "/v1/studies/a/forget", {"id": 1}),
    ("POST", "/v1/studies/a/add_trial", {"params": {"price": 5}, "value": 2}),
    ("POST", "/v1/studies/a/set_parameters", {"parameters": {"price": {"low": 1, "high": 20}}}),
    ("POST", "/v1/studies/a/forget", {"older_than": 3600}),
    ("GET", "/v1/studies/a/best", None),
    ("POST", "/v1/studies/a/pause", None),
    ("POST", "/v1/studies/a/resume", None),
    ("GET", "/v1/studies", None),
    ("GET", "/v1/studies/a/page", None),
    ("GET", "/v1/studies/a/recommend", None),
    ("GET", "/v1/studies/a/uplift", None),
    ("GET", "/v1/studies/a/certificate?lipschitz=2", None),
    ("GET", "/v1/studies/a", None),
    ("GET", "/v1/studies/a/history", None),
    ("GET", "/v1/studies/a/state", None),
    ("DELETE", "/v1/studies/a", None),
]
NOT_JSON = {("GET", "/metrics")}
FILE = document()


def closed(schema: Any) -> Any:
    """The same schema, where an object has no other fields than those that are listed."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(part) for name, part in schema.items()}
    return {"additionalProperties": False} | inner if "properties" in schema else inner


def operation_of(method: str, path: str) -> tuple[str, str]:
    """The method and the pattern of a request, as the file has them."""
    return method, re.sub("/studies/a", "/studies/{name}", path.partition("?")[0])


def faults(method: str, path: str, answer: Answer) -> list[str]:
    """What an answer has that the file does not, or the other way round."""
    verb, pattern = operation_of(method, path)
    responses = FILE["paths"][pattern][verb.lower()]["responses"]
    content = responses[str(answer.status)].get("content")
    if content is None:
        return [] if answer.content == b"" else ["there is a body"]
    components = closed(FILE["components"])
    schema = content["application/json"]["schema"] | {"components": components}
    checker = jsonschema_rs.Draft202012Validator(schema)
    return [error.message for error in checker.iter_errors(answer.content)]


def test_every_answer_is_as_the_file_says() -> None:
    operations = {
        (method.upper(), pattern) for pattern, each in FILE["paths"].items() for method in each
    }
    listed = {operation_of(*each[:2]) for each in REQUESTS}
    assert listed == operations - NOT_JSON, "each operation needs a request in REQUESTS"
    with new_file() as store, Serving(store) as running:
        for method, path, body in REQUESTS:
            answer = running.send(method, path, body)
            assert answer.status < 300, (path, answer.content)
            assert faults(method, path, answer) == [], path


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(more=1),
        lambda content: content.pop("certificate"),
        lambda content: content.update(rounds=None),
        lambda content: content["open"].update(oldest=3.0),
    ],
)
def test_an_answer_that_is_otherwise_is_found(change: Any, service: Serving) -> None:
    service.send("PUT", "/v1/studies/a", TUNER)
    answer = service.send("GET", "/v1/studies/a")
    assert faults("GET", "/v1/studies/a", answer) == []
    change(answer.content)
    assert faults("GET", "/v1/studies/a", answer)
