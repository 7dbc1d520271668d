"""The open studies of the service: one thread for each, which writes many requests at once.

Requests of a study wait in its queue. Its thread carries out all waiting requests, makes them
durable in one commit, and only then answers them. So under load many requests share one fsync.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dikin.errors import BusyError, StoreError, UnknownStudyError
from dikin.service.limits import (
    ANSWER_SECONDS,
    BATCH,
    BATCH_SECONDS,
    CLOSE_SECONDS,
    LONGEST_TURN,
    OPEN_STUDIES,
)
from dikin.status import Status
from dikin.studies.database import ReplacedFileError
from dikin.studies.study import Study

T = TypeVar("T")

KEPT_WARNINGS = 20
"""The number of warnings remembered for a study."""

log = logging.getLogger("dikin.service")


@dataclass
class Job:
    """An operation on a study, the future that waits for it, and its result or error."""

    act: Callable[[Study], Any]
    client: str | None
    """The client that changes the study; None for a read."""
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None

    def fail(self, error: Exception) -> None:
        """Take back what was done, since its commit failed; even a read may have seen lost rows."""
        if self.error is None:
            self.error = error
            if not isinstance(error, StoreError):
                text = f"the request may not have been written: {error}. Send it again"
                self.error = StoreError(text)


class StuckError(BusyError):
    """A study or the database has not answered for too long."""

    retry_after = 5


class Worker:
    """The thread of one study."""

    def __init__(
        self, store: str, name: str, patience: float, deadline: float = ANSWER_SECONDS
    ) -> None:
        self.name, self.users = name, 0
        self.warnings: deque[str] = deque(maxlen=KEPT_WARNINGS)
        """The warnings of the study, newest last, each once."""
        self._store, self._patience, self._deadline = store, patience, deadline
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._ended = False
        self._busy_since: float | None = None
        """When the present job began; None while there is none."""
        self._study: Study | None = None
        self._thread = threading.Thread(target=self._run, name=f"study {name}", daemon=True)
        self._thread.start()

    async def do(self, act: Callable[[Study], T], client: str | None = None) -> T:
        """Do something with the study; a change is durable when this returns.

        Without an answer in time this is an error. What had begun by then may still be carried out.
        """
        if self.stuck:
            raise self._stuck_error()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self.users += 1
        self._jobs.put(Job(act, client, loop, answer))
        timer = loop.call_later(self._deadline, self._give_up, answer)
        try:
            return await answer
        finally:
            timer.cancel()
            self.users -= 1

    def _give_up(self, answer: asyncio.Future[Any]) -> None:
        if not answer.done():
            answer.set_exception(self._stuck_error())

    def _stuck_error(self) -> StuckError:
        return StuckError(
            f"study {self.name!r} is stuck: it has not answered for {self._deadline:g} seconds. "
            "Does its database answer? Send the request again later: an answer counts once, and an "
            "ask under the same key is asked once"
        )

    @property
    def stuck(self) -> bool:
        """Whether the present job has taken too long."""
        since = self._busy_since
        return since is not None and time.monotonic() - since > self._deadline

    def status(self, study: Study) -> Status:
        """Return the status of its study, with its warnings; to be called in its thread."""
        status = study.status()
        return replace(status, warnings=(*self.warnings, *status.warnings))

    def end(self) -> None:
        """Finish the waiting jobs, and close the study."""
        self._jobs.put(None)

    def join(self, seconds: float) -> bool:
        """Wait until the thread has ended; return whether it has."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    # --- in the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        _WARNINGS.collect = self._collect
        while not self._ended:
            _deliver(self._carry_out())
        self._close()

    def _next(self, *, wait: bool) -> Job | None:
        """Return the next job; None if there is none, or if it was the last."""
        try:
            job = self._jobs.get(wait)
        except queue.Empty:
            return None
        self._ended = job is None
        return job

    def _carry_out(self) -> list[Job]:
        """Do the next jobs, as many as time allows, and make them durable together."""
        done: list[Job] = []
        busy: BusyError | None = None
        job, began = self._next(wait=True), time.monotonic()
        while job is not None:
            self._busy_since = time.monotonic()
            if busy is not None and job.client is not None:
                job.error = busy  # it would wait as long, and those behind it one after the other
            elif not job.answer.done():  # somebody still waits for it
                self._do(job)
            if isinstance(job.error, BusyError):
                busy = job.error
            elif isinstance(job.error, StoreError):
                # It may have lost earlier rows, which are not durable yet; no other error may.
                for each in done:
                    each.fail(job.error)
            done.append(job)
            late = busy is None and time.monotonic() - began >= BATCH_SECONDS
            job = None if late or len(done) >= BATCH else self._next(wait=False)
        try:
            if self._study is not None:
                self._study._flush()
        except Exception as error:  # whatever it is, no client may hear of a success
            for each in done:
                each.fail(error)
        self._busy_since = None
        return done

    def _do(self, job: Job) -> None:
        was_open = self._study is not None
        try:
            job.result = self._act(job)
        except UnknownStudyError as error:
            # It was deleted, and nothing was done; by now there may be a new study with its name.
            self._close()
            if was_open:
                self._do(job)
            else:
                job.error = error
        except ReplacedFileError as error:
            # Whoever sends it again finds the study of the new file.
            self._close()
            job.error = error
        except Exception as error:
            job.error = error

    def _act(self, job: Job) -> Any:
        if self._study is None:
            self._study = Study(
                self._store,
                self.name,
                client="dikin serve",
                patience=self._patience,
            )
            self._study._share_commits(min(self._patience / 2, LONGEST_TURN))
        if job.client is not None:
            self._study.client = job.client
        return job.act(self._study)

    def _close(self) -> None:
        study, self._study = self._study, None
        self.warnings.clear()
        try:
            if study is not None:
                study.close()
        except Exception:
            log.exception("a study could not be closed")

    def _collect(self, text: str) -> None:
        if text in self.warnings:
            self.warnings.remove(text)
        self.warnings.append(text)


def _deliver(jobs: list[Job]) -> None:
    """Answer the waiting clients, in their event loops; each loop is woken once."""
    for loop in {job.loop for job in jobs}:
        mine = [job for job in jobs if job.loop is loop]
        with suppress(RuntimeError):  # closed: the service has ended without waiting for it
            loop.call_soon_threadsafe(_answer, mine)


def _answer(jobs: list[Job]) -> None:
    for job in jobs:
        if job.answer.done():  # the client has gone
            continue
        if job.error is None:
            job.answer.set_result(job.result)
        else:
            job.answer.set_exception(job.error)


class Workers:
    """The workers of a store, by study; the least recently used are ended."""

    def __init__(self, store: str, patience: float, deadline: float = ANSWER_SECONDS) -> None:
        self.store, self.patience, self.deadline = store, patience, deadline
        self.abandoned = False
        """Whether threads were left behind that the database did not answer."""
        self._workers: OrderedDict[str, Worker] = OrderedDict()
        # A database that does not answer takes no more threads than these, and a study that takes
        # long to create delays no check of a token.
        self._short, self._long = ThreadPoolExecutor(1, "short"), ThreadPoolExecutor(2, "long")

    async def do(self, name: str, act: Callable[[Study], T], client: str | None = None) -> T:
        """Do something with a study, as `Worker.do`."""
        return await (await self.of(name)).do(act, client)

    async def status(self, name: str) -> Status:
        """Return the status of a study."""
        worker = await self.of(name)
        return await worker.do(worker.status)

    async def of(self, name: str) -> Worker:
        """Return the worker of a study; an unknown name starts no thread."""
        if name not in self._workers and name not in await self.names():
            raise UnknownStudyError(f"there is no study {name!r}")
        worker = self._workers.get(name)
        if worker is None:
            self._make_room()
            worker = self._workers[name] = Worker(self.store, name, self.patience, self.deadline)
        self._workers.move_to_end(name)
        return worker

    async def names(self) -> list[str]:
        """Return the studies in the store."""
        return await self.apart(Study.names, self.store)

    async def apart(self, call: Callable[..., T], *arguments: Any, long: bool = False) -> T:
        """Call something outside the event loop, with a deadline."""
        pool = self._long if long else self._short
        try:
            async with asyncio.timeout(self.deadline):
                return await asyncio.get_running_loop().run_in_executor(pool, call, *arguments)
        except TimeoutError:
            raise StuckError(
                f"the store has not answered for {self.deadline:g} seconds. Does the database "
                "answer? Send the request again later"
            ) from None

    def stuck(self) -> int:
        """Return the number of studies that have not answered for too long."""
        return sum(worker.stuck for worker in self._workers.values())

    def _make_room(self) -> None:
        over = len(self._workers) - OPEN_STUDIES + 1
        idle = [name for name, worker in self._workers.items() if not worker.users]
        if len(idle) < over:
            raise BusyError(f"{len(self._workers)} studies are in use at the same time; try again")
        for name in idle[: max(0, over)]:
            self._workers.pop(name).end()

    def close(self) -> None:
        """End all workers, and wait some seconds until their jobs are written."""
        workers = list(self._workers.values())
        for worker in workers:
            worker.end()
        until = time.monotonic() + CLOSE_SECONDS
        ended = [worker.join(max(0.0, until - time.monotonic())) for worker in workers]
        self._workers.clear()
        for pool in (self._short, self._long):
            pool.shutdown(wait=False, cancel_futures=True)
        if not all(ended):
            self.abandoned = True
            log.error("%d studies did not end: their database does not answer", ended.count(False))


class _Warnings(threading.local):
    """Where the warnings of this thread go."""

    collect: Callable[[str], None] | None = None


_WARNINGS = _Warnings()


@contextmanager
def collecting_warnings() -> Iterator[None]:
    """While this is active, each worker collects the warnings of its study.

    Filters of warnings belong to the whole process, and threads that change them disturb each
    other. So one function handles all warnings and passes each to the worker of its thread.
    """
    with warnings.catch_warnings():
        show = warnings.showwarning

        def tell(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if _WARNINGS.collect is None:
                show(message, category, *where, **more)
            else:
                _WARNINGS.collect(str(message))

        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield
