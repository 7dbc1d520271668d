"""The OpenAPI file: valid, complete, and true; tried with requests that are made from it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import CHECKS

from dikin.service.app import create_app
from dikin.service.tokens import TokenStore
from service.conftest import folder
from service.serving import LEARNER, TUNER, Serving, shop

SCHEMA = schemathesis.openapi.from_dict(create_app("sqlite:///unused.db").openapi())
EXAMPLES = int(os.environ.get("EXAMPLES", "6"))
"""Requests for each endpoint and kind of data; more of them are drawn anew each time."""
# Whether a body that the file allows is accepted: low < high cannot be said there.
NOT_SAID = {"positive_data_acceptance", "max_response_time"}


@pytest.fixture(scope="module")
def tried() -> Iterator[Serving]:
    """A service with tokens, a tuner and a learner, for requests of every kind."""
    with folder() as store:
        token = TokenStore(store).create("root", "admin")
        with Serving(store) as running:
            running.tokens["admin"] = token
            for name, spec in (("a", TUNER), ("b", LEARNER)):
                running.send("PUT", f"/v1/studies/{name}", spec, token)
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
    assert "HTTPValidationError" not in served["components"]["schemas"]


@SCHEMA.exclude(path_regex="/events$").parametrize()
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


def test_the_studies_still_stand(tried: Serving) -> None:
    with shop(tried.store, "after", rounds=3) as study:
        assert study.verify() == 6
