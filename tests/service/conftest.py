"""Services for the tests: one without tokens, one with, each with a file of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dikin.service.tokens import RIGHTS, TokenStore
from in_memory import in_memory
from service.serving import TUNER, Serving
from studies.conftest import file, server, url

__all__ = ["file", "server", "url"]


@contextmanager
def folder() -> Iterator[str]:
    """A file for studies that is not there yet."""
    with tempfile.TemporaryDirectory(dir=in_memory()) as found:
        yield f"{found}/studies.db"


@pytest.fixture(scope="module")
def service() -> Iterator[Serving]:
    """A service without tokens, for this machine alone."""
    with folder() as store, Serving(store) as running:
        yield running


@pytest.fixture(scope="module")
def guarded() -> Iterator[Serving]:
    """A service with tokens and two studies."""
    with folder() as store:
        tokens = {right: TokenStore(store).create(right, right) for right in RIGHTS}
        with Serving(store) as running:
            running.tokens = tokens
            for name in ("shop", "prices"):
                made = running.send("PUT", f"/v1/studies/{name}", TUNER, tokens["admin"])
                assert made.status == 201
            yield running
