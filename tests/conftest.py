"""What holds for all tests; at the end of a run it is said what could not be tested here."""

import gc
import importlib
import logging
import os
import signal
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from in_memory import in_memory

# How long an example takes says nothing on a machine that is busy with something else.
settings.register_profile("dikin", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dikin")


def pytest_configure() -> None:
    """Let programs hear Ctrl-C, which a shell takes from what runs behind it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    memory = in_memory()  # a file that is kept durably waits for its disk
    if memory is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector what is imported and collected: a tenth of the time of laws."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_runtest_setup() -> None:
    """Let every test hear the log: examples silence it, for all their process."""
    logging.getLogger("dikin").setLevel(logging.NOTSET)


@pytest.fixture
def unencoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give files of figures no content, for tests of what a run writes and keeps."""
    style = importlib.import_module("dikin.plotting.style")
    monkeypatch.setattr(style, "rendered", lambda figure, kind: kind.encode())


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reasons = {
        str(report.longrepr[2])
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(f"NOT TESTED HERE: {reason}", red=True, bold=True)
