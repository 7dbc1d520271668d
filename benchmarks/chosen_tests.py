"""A plugin of pytest for mutants: records which lines a test runs, or runs tests that see a line.

RECORD=FOLDER   coverage.py notes in FOLDER/lines which test runs which line of the package, and
                FOLDER/seconds.json says how long each test computed, null if it failed
CHOICE=FILE     a JSON object of seconds by test, or null for a test that is left out. Within
                each file the fastest tests come first; a test that the object lacks is new, and
                comes before all others
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import Any

import coverage
import pytest

LONG, WAITING = 0.4, 4.0
"""Seconds of computing after which a test is cut off while it is recorded, and seconds of any kind:
by then it has run most of the lines that it ever runs."""
AT_LEAST = 5.0
"""Seconds that such a test is taken to need."""
OURS, SOON = (f"{Path.cwd()}/src/", f"{Path.cwd()}/tests/"), 0.003
"""Where a test may be cut off; elsewhere it is tried again after so many seconds."""


def computed() -> float:
    """Seconds that this process and its children have computed, as many on a busy machine."""
    own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


class Recorder:
    """Notes for each test the lines it runs and the seconds it takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}
        self.cut: set[str] = set()
        self.failed: set[str] = set()
        self.lines = coverage.Coverage(
            data_file=folder / "lines", source=["src/dikin"], config_file=False, messages=False
        )

    def pytest_sessionstart(self) -> None:
        self.lines.start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count every test as a long one at first: Ctrl-C keeps what was recorded until then."""
        self.seconds = dict.fromkeys((item.nodeid for item in session.items), AT_LEAST)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.lines.switch_context(item.nodeid)
        before = computed()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = round(computed() - before, 4)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        def cut_off(_: int, frame: FrameType | None) -> None:
            if frame is not None and frame.f_code.co_filename.startswith(OURS):
                self.cut.add(item.nodeid)
                pytest.skip("long enough")
            signal.setitimer(signal.ITIMER_REAL, SOON)  # others may hold a lock just now

        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, cut_off)
        signal.setitimer(signal.ITIMER_PROF, LONG)
        signal.setitimer(signal.ITIMER_REAL, WAITING)
        try:
            return (yield)
        finally:
            for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
                signal.setitimer(timer, 0.0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.lines.stop()
        self.lines.save()
        self.seconds |= dict.fromkeys(self.cut, AT_LEAST)
        known = self.seconds | dict.fromkeys(self.failed)
        (self.folder / "seconds.json").write_text(json.dumps(known), encoding="utf-8")


class Choice:
    """Runs chosen tests, the fastest of each file first."""

    def __init__(self, file: Path) -> None:
        self.seconds: dict[str, float | None] = json.loads(file.read_text(encoding="utf-8"))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        places = {file: place for place, file in enumerate(dict.fromkeys(i.path for i in items))}
        timed = [(item, self.seconds.get(item.nodeid, 0.0)) for item in items]
        chosen = [(item, time) for item, time in timed if time is not None]
        items[:] = [
            item for item, _ in sorted(chosen, key=lambda each: (places[each[0].path], each[1]))
        ]


def pytest_configure(config: pytest.Config) -> None:
    if folder := os.environ.get("RECORD"):
        config.pluginmanager.register(Recorder(Path(folder)))
    if file := os.environ.get("CHOICE"):
        config.pluginmanager.register(Choice(Path(file)))
