"""Where studies are kept in the tests: a file, and a PostgreSQL server of their own."""

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from in_memory import in_memory
from studies.postgres import Server

COUNT = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with Server(place=in_memory()) as running:
        yield running


@contextmanager
def new_file() -> Iterator[str]:
    """A file that is not there yet, in memory where there is a place for such: fsync takes long."""
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        yield f"{folder}/studies.db"


@pytest.fixture
def file() -> Iterator[str]:
    with new_file() as path:
        yield path


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield request.getfixturevalue("file")
        return
    import psycopg

    server = request.getfixturevalue("server")
    schema = f"test_{next(COUNT)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    yield f"{server.url}&options=-csearch_path%3D{schema}"
