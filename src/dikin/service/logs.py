"""The log: lines of JSON."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

LEARNERS = "dikin"
"""The logger of learners, whose messages contain values."""


class JsonLines(logging.Formatter):
    """One line of JSON per entry: time, level, event, and further fields.

    The entry of a learner has the thread, which names the study, but not the values.
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
    for name in (LEARNERS, "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper())
