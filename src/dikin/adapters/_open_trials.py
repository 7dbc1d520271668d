"""Trials that wait for their values, by keys that the host chose."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

from dikin.tuning.trial import Trial


class OpenTrials:
    """The open trial of each key, oldest first; threads may share it.

    At most `most` keys wait, and `give_up` is called with a trial that is not waited for any more.
    """

    def __init__(self, most: int, give_up: Callable[[Trial], None]) -> None:
        self.most, self._give_up = most, give_up
        self._waiting: dict[str, Future[Trial]] = {}
        """Futures, as several threads may want the same one."""
        self._lock = Lock()

    def find(self, key: str, ask: Callable[[], Trial]) -> Trial:
        """The open trial of a key; the first thread that wants it asks, the others wait."""
        with self._lock:
            is_new = key not in self._waiting
            found = self._waiting.setdefault(key, Future())
            overdue = []
            while is_new and len(self._waiting) > self.most:
                overdue.append(self._waiting.pop(next(iter(self._waiting))))
        for each in overdue:
            each.add_done_callback(self._end)
        if is_new:
            self._ask_for(key, found, ask)
        return found.result()

    def _ask_for(self, key: str, found: Future[Trial], ask: Callable[[], Trial]) -> None:
        try:
            found.set_result(ask())
        except BaseException as error:
            with self._lock:
                if self._waiting.get(key) is found:
                    del self._waiting[key]
            found.set_exception(error if isinstance(error, Exception) else InterruptedError())
            raise

    def _end(self, found: Future[Trial]) -> None:
        if found.exception() is None:
            self._give_up(found.result())

    def take(self, key: str, id: int | None = None) -> Trial | None:
        """Take the trial of a key out; None if there is none, or another one than that id."""
        with self._lock:
            found = self._waiting.get(key)
            if found is None:
                return None
            if id is not None and not (found.done() and found.result().id == id):
                return None
            del self._waiting[key]
        return found.result()

    def put_back(self, key: str, trial: Trial) -> None:
        """Let a trial that was taken wait again; it is given up if its key has another one now."""
        found: Future[Trial] = Future()
        found.set_result(trial)
        with self._lock:
            is_back = self._waiting.setdefault(key, found) is found
        if not is_back:
            self._give_up(trial)
