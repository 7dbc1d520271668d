"""The open studies of the service: requests of one study wait in a line, and are written together.

One thread at a time carries out all requests that wait for a study, makes them durable in one
transaction, and only then answers them. So under load many requests share one fsync.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from dikin.errors import BusyError, StoreError, UnknownStudyError
from dikin.service import limits
from dikin.studies.database import ReplacedFileError
from dikin.studies.study import Study

T = TypeVar("T")

log = logging.getLogger("dikin.service")


class StuckError(BusyError):
    """A study or the database has not answered for too long."""

    retry_after = 5


@dataclass
class Job:
    """An operation on a study, the future that waits for it, and its result or error."""

    act: Callable[[Study], Any]
    client: str | None
    """The client that changes the study; None for a read."""
    answer: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None

    def fail(self, error: Exception) -> None:
        """Take back the result, which was not written. Even a read may have seen it."""
        if self.error is None:
            text = f"the request may not have been written: {error}. Send it again"
            self.error = error if isinstance(error, StoreError) else StoreError(text)


def _deliver(jobs: list[Job]) -> None:
    """Answer the clients that have not gone, in the event loop."""
    for job in jobs:
        if job.answer.done():
            continue
        if job.error is None:
            job.answer.set_result(job.result)
        else:
            job.answer.set_exception(job.error)


class OpenStudy:
    """A study, and the requests that wait for it."""

    def __init__(self, name: str, owner: OpenStudies) -> None:
        self.name, self._owner = name, owner
        self._jobs: deque[Job] = deque()
        self._tokens = defaultdict[str, asyncio.Semaphore](
            lambda: asyncio.Semaphore(limits.AT_ONCE_EACH)
        )
        self._turn, self._using = threading.Lock(), threading.Lock()
        self._running, self._users = False, 0
        self._study: Study | None = None
        self._busy_since: float | None = None
        """When the present job began; None while there is none."""
        self.used = time.monotonic()

    @property
    def is_stuck(self) -> bool:
        """True if the present job has taken too long."""
        since = self._busy_since
        return since is not None and time.monotonic() - since > self._owner.deadline

    @property
    def is_idle(self) -> bool:
        """True if nobody waits for it, and nothing is done."""
        return not self._users and self._busy_since is None

    async def do(
        self, act: Callable[[Study], T], client: str | None = None, token: str | None = None
    ) -> T:
        """Do something with the study. A change is durable when this returns.

        Without an answer in time this is an error. An act that had begun may still be carried out.
        """
        if self._busy_since is not None and self.is_stuck:
            raise self._stuck_error()
        self.used = time.monotonic()
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._users += 1
        try:
            async with (
                asyncio.timeout(self._owner.deadline),
                nullcontext() if token is None else self._tokens[token],
            ):
                with self._turn:
                    self._jobs.append(Job(act, client, answer))
                    starts, self._running = not self._running, True
                if starts:
                    self._owner.threads.submit(self._run)
                return await answer
        except TimeoutError as error:
            if isinstance(error, BusyError):
                raise
            raise self._stuck_error() from None
        finally:
            self._users -= 1
            if self._study is None and self.is_idle:  # it does not exist, or cannot be opened
                self._owner.remove(self)

    def _stuck_error(self) -> StuckError:
        return StuckError(
            f"study {self.name!r} is stuck: it has not answered for {self._owner.deadline:g} "
            "seconds. Does its database answer? Send the request again later: an answer counts "
            "once, and an ask under the same key is asked once"
        )

    # --- in a thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        threading.current_thread().name = f"study {self.name}"  # for the log
        with self._using:
            while self._running:
                jobs = self._carry_out()
                with suppress(RuntimeError):  # closed: the service has ended without waiting for it
                    jobs[0].answer.get_loop().call_soon_threadsafe(_deliver, jobs)
                with self._turn:
                    self._running = bool(self._jobs)
        self._owner.give_back(self)

    def _carry_out(self) -> list[Job]:
        """Do the next jobs, as many as time allows, and make them durable together."""
        done: list[Job] = []
        busy: BusyError | None = None
        began = time.monotonic()
        while self._jobs and len(done) < limits.BATCH:
            job = self._jobs.popleft()
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
            if busy is None and time.monotonic() - began >= limits.BATCH_SECONDS:
                break
        try:
            if self._study is not None:
                self._study._ledger.flush()
        except Exception as error:  # whatever it is, no client may hear of a success
            for each in done:
                each.fail(error)
        self._busy_since = None
        return done

    def _do(self, job: Job) -> None:
        was_open = self._study is not None
        try:
            if self._study is None:
                store, patience = self._owner.store, self._owner.patience
                self._study = Study(store, self.name, client="dikin serve", patience=patience)
                self._study._ledger.sharing = True
            if job.client is not None:
                self._study._ledger.client = job.client
            job.result = job.act(self._study)
        except UnknownStudyError as error:
            # It was deleted, and nothing was done; by now there may be a new study with its name.
            self.close()
            if was_open:
                self._do(job)
            else:
                job.error = error
        except Exception as error:
            job.error = error
            if isinstance(error, ReplacedFileError):
                self.close()  # who sends it again finds the study of the new file

    def disconnect(self) -> None:
        """Close the connection, unless it is in use. The next request opens another."""
        if self._using.acquire(blocking=False):
            try:
                if self._study is not None:
                    self._study._ledger.database.close()
            finally:
                self._using.release()

    def close(self) -> None:
        """Close the study. The next request opens it again."""
        study, self._study = self._study, None
        try:
            if study is not None:
                study.close()
        except Exception:
            log.exception("a study could not be closed")


class OpenStudies:
    """The open studies of a store, least recently used first."""

    def __init__(
        self, store: str, patience: float, deadline: float = limits.ANSWER_SECONDS
    ) -> None:
        self.store, self.patience, self.deadline = store, patience, deadline
        self.abandoned = False
        """True if threads were left behind that the database did not answer."""
        self._studies: OrderedDict[str, OpenStudy] = OrderedDict()
        self._connected: OrderedDict[OpenStudy, None] = OrderedDict()
        """Studies that may have a connection, in the order of their last requests."""
        self._turn = threading.Lock()
        self.threads = ThreadPoolExecutor(limits.THREADS, "study")
        # A database that does not answer takes no more threads than these.
        self._others = ThreadPoolExecutor(4, "store")
        self._calls: set[Future[Any]] = set()

    def do(
        self,
        name: str,
        act: Callable[[Study], T],
        client: str | None = None,
        token: str | None = None,
    ) -> Coroutine[Any, Any, T]:
        """Do something with a study, as `OpenStudy.do`. Its first request opens it."""
        if name not in self._studies:
            self._make_room()
            self._studies[name] = OpenStudy(name, self)
        self._studies.move_to_end(name)
        return self._studies[name].do(act, client, token)

    def remove(self, study: OpenStudy) -> None:
        """Forget a study that is not open."""
        if self._studies.get(study.name) is study:
            del self._studies[study.name]

    def _make_room(self) -> None:
        now = time.monotonic()
        idle = [each for each in self._studies.values() if each.is_idle]
        over = len(self._studies) - limits.OPEN_STUDIES + 1
        if len(idle) < over:
            raise BusyError(f"{len(self._studies)} studies are in use at the same time; try again")
        for place, study in enumerate(idle):
            if place < over or now - study.used > limits.UNUSED_SECONDS:
                del self._studies[study.name]
                self.threads.submit(study.close)

    def give_back(self, study: OpenStudy) -> None:
        """Note that a study waits for requests, and disconnect the study that waits longest."""
        with self._turn:
            self._connected[study] = None
            self._connected.move_to_end(study)
            if len(self._connected) <= limits.IDLE_CONNECTIONS:
                return
            oldest, _ = self._connected.popitem(last=False)
        oldest.disconnect()

    async def apart(self, call: Callable[..., T], *arguments: Any) -> T:
        """Call something outside the event loop, with a deadline."""
        future = self._others.submit(call, *arguments)
        self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        try:
            async with asyncio.timeout(self.deadline):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise StuckError(
                f"the store has not answered for {self.deadline:g} seconds. Does the database "
                "answer? Send the request again later"
            ) from None

    @property
    def stuck(self) -> int:
        """Number of studies that have not answered for too long."""
        return sum(study.is_stuck for study in self._studies.values())

    def close(self) -> None:
        """Wait some seconds until all requests are written, and close all studies."""
        until = time.monotonic() + limits.CLOSE_SECONDS
        studies = list(self._studies.values())
        busy = [each for each in studies if not each.is_idle]
        while (busy or self._calls) and time.monotonic() < until:
            time.sleep(0.01)
            busy = [each for each in busy if not each.is_idle]
        for pool in (self.threads, self._others):
            pool.shutdown(wait=False, cancel_futures=True)
        for each in studies:
            if each.is_idle:
                each.close()
        self.abandoned = bool(busy or self._calls)
        if busy:
            log.error("%d studies did not end: their database does not answer", len(busy))
