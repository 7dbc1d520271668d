"""Several processes that begin at the same time, and what each of them has to say."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple


class Client(NamedTuple):
    """What a process uses to speak with the one that started it."""

    says: int
    waits: int

    def ready(self) -> None:
        """Say that all is prepared, and return when it is so for all."""
        os.write(self.says, b"ready\n")
        os.read(self.waits, 1)  # returns when the other end is closed

    def say(self, line: str) -> None:
        """A line of less than 4 KB, which a pipe takes as one."""
        os.write(self.says, line.encode() + b"\n")


def together(clients: int, play: Callable[[Client], None]) -> tuple[float, list[str]]:
    """Let that many processes play; when they began, and the lines that they said."""
    hears, says = os.pipe()
    waits, starts = os.pipe()
    children = []
    for _ in range(clients):
        child = os.fork()
        if not child:
            os.close(hears)
            os.close(starts)
            try:
                play(Client(says, waits))
            finally:
                os._exit(0)
        children.append(child)
    os.close(says)
    with os.fdopen(hears) as results:
        for _ in children:
            assert results.readline() == "ready\n", "a client ended with an error"
        begin = time.time()
        os.close(starts)
        lines = results.read().splitlines()
    os.close(waits)
    for child in children:
        os.waitpid(child, 0)
    return begin, lines
