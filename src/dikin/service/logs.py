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
UNWELCOME = (408, 429, 503)
"""Statuses of answers that a client may cause as often as it likes."""
KINDS = 1000
"""Kinds of lines that are remembered."""


class SparseLines(logging.Filter):
    """Writes one line of a kind a minute, of those that anyone could cause.

    These are warnings and errors of the service and its server, and requests that are refused.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[Hashable, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written; it says how many of its kind were left out before."""
        fields = getattr(record, "fields", {})
        status, token = fields.get("status"), fields.get("token")
        refused = status in UNWELCOME or (token is None and (status or 0) >= 400)
        if record.name == LEARNERS or (record.levelno < logging.WARNING and not refused):
            return True
        fault = record.exc_info[0] if record.exc_info else None
        kind = record.name, str(record.msg)[:60], fault, status, token
        now = time.monotonic()
        then, left_out = self._kinds.get(kind, (-LOG_EVERY, 0))
        if now - then < LOG_EVERY:
            self._kinds[kind] = then, left_out + 1
            return False
        self._kinds.pop(kind, None)
        if len(self._kinds) >= KINDS:
            del self._kinds[next(iter(self._kinds))]
        self._kinds[kind] = now, 0
        record.fields = fields | {"more": left_out or None}
        return True


class JsonLines(logging.Formatter):
    """One line of JSON per entry: time, level, event, and further fields.

    Of a learner's message it has the thread, which names the study, but not the values.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        learner = record.name == LEARNERS
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": "warning of a study" if learner else record.getMessage(),
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
