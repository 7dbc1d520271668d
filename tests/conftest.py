"""What holds for all tests; at the end of a run it is said what could not be tested here."""

from __future__ import annotations

import gc
import logging
import signal
from typing import Any

from hypothesis import HealthCheck, settings

# How long an example takes says nothing on a machine that is busy with something else.
settings.register_profile("dikin", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dikin")


def pytest_configure() -> None:
    """Let the programs that are tested hear Ctrl-C: a shell takes it from what runs behind it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what was imported and collected: it stays to the end.

    Games make many small objects, and it would look through all others again and again: about a
    tenth of the time of the tests in tests/checks and tests/paper.
    """
    gc.collect()
    gc.freeze()


def pytest_runtest_setup() -> None:
    """Let every test hear the log: examples silence it, for all their process."""
    logging.getLogger("dikin").setLevel(logging.NOTSET)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reasons = {
        str(report.longrepr[2])
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(f"NOT TESTED HERE: {reason}", red=True, bold=True)
