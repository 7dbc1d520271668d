"""The log: lines of JSON, and no more of them than a client should be able to cause."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Hashable
from typing import Any

from dikin.service.limits import LOG_EVERY

LEARNERS = "dikin"
"""The logger of learners, whose messages contain values."""
SERVICE = "dikin.service"
KINDS = 1000
"""Kinds of lines that are remembered."""


class OncePerMinute:
    """Decides whether a line is written: one of each kind in a minute."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, tuple[float, int]] = {}

    def line(self, kind: Hashable) -> int | None:
        """None to leave the line out; else how many of its kind were left out before it."""
        now = time.monotonic()
        then, left_out = self._kinds.get(kind, (-LOG_EVERY, 0))
        if now - then < LOG_EVERY:
            self._kinds[kind] = then, left_out + 1
            return None
        self._kinds.pop(kind, None)
        if len(self._kinds) >= KINDS:
            del self._kinds[next(iter(self._kinds))]
        self._kinds[kind] = now, 0
        return left_out


class SparseLines(logging.Filter):
    """Of what the service and its server report besides requests, one line of a kind a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds = OncePerMinute()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        if record.name == LEARNERS or record.levelno < logging.WARNING:
            return True
        fields = getattr(record, "fields", {})
        fault = record.exc_info[0] if record.exc_info else None
        more = self._kinds.line((record.name, str(record.msg)[:60], fault))
        if more:
            record.fields = fields | {"more": more}
        return more is not None


class JsonLines(logging.Formatter):
    """One line of JSON per entry: time, level, event, and further fields.

    Of a learner's message it has the thread, which names the study, but not the values.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        learner = record.name == LEARNERS
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": "unexpected value" if learner else record.getMessage(),
        }
        if learner:
            entry["thread"] = record.threadName
        entry |= {k: v for k, v in getattr(record, "fields", {}).items() if v is not None}
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def log_to_stderr(level: str) -> None:
    """Make the service and uvicorn log lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(SparseLines())
    for name in (LEARNERS, "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper())
