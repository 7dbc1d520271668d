"""The open studies of the service: one thread for each, which writes many requests at once.

Requests of a study wait in its queue. Its thread carries out all waiting requests, makes them
durable in one commit, and only then answers them. So under load many requests share one fsync.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading
import time
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from math import nan
from typing import Any, NamedTuple, TypeVar

from dikin.errors import BusyError, StoreError, UnknownStudyError
from dikin.serialization import number_or_nan
from dikin.service.limits import (
    ANSWER_SECONDS,
    BATCH,
    BATCH_SECONDS,
    CLOSE_SECONDS,
    LONG,
    LONGEST_TURN,
    OPEN_STUDIES,
)
from dikin.status import Status
from dikin.studies.database import ReplacedFileError
from dikin.studies.history import value_or_loss
from dikin.studies.processes import processes
from dikin.studies.study import Study

T = TypeVar("T")

FIRST = 20
"""The number of first rounds whose mean is the baseline."""
KEPT_WARNINGS = 20
"""The number of warnings remembered for a study."""

SMALL_STUDY = 1000
"""Queries and answers of a study that are read in a tenth of a second, and need no process."""
LARGE_POINT = 20
"""Numbers in a point with which a query takes twice as long to read as with few."""
LOW_PRIORITY = 10
"""By which work that takes long gives way to other processes (`nice`)."""

log = logging.getLogger("dikin.service")


class Job(NamedTuple):
    """An operation on a study, and the future that waits for its result."""

    act: Callable[[Study], Any]
    client: str | None
    """The client that changes the study; None for a read."""
    visitor: str
    """Whose job it is: visitors take turns."""
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]


class Outcome(NamedTuple):
    """The result or the error of a job."""

    job: Job
    result: Any
    error: BaseException | None


class Account:
    """What was computed for each visitor; this one does not count."""

    def refuse_greedy(self, visitor: str) -> None:
        """Refuse what would be computed now for a visitor that has had more than its share."""

    def charge(self, visitor: str, seconds: float) -> None:
        """Note that something was computed for a visitor."""


class StuckError(BusyError):
    """A study or the database has not answered for too long."""

    retry_after = 5


class Worker:
    """The thread of one study."""

    def __init__(
        self,
        store: str,
        name: str,
        patience: float,
        deadline: float = ANSWER_SECONDS,
        account: Account | None = None,
    ) -> None:
        self.name, self.users, self._account = name, 0, account or Account()
        self.warnings: deque[str] = deque(maxlen=KEPT_WARNINGS)
        """The learner's warnings, newest last, each once."""
        self._first_mean: float | None = None
        """The mean of the first rounds, once they have been told; it never changes after that."""
        self._store, self._patience, self._deadline = store, patience, deadline
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._turns: OrderedDict[str, deque[Job]] = OrderedDict()
        """Jobs that were taken out of the queue, by visitor, in the order of their turns."""
        self._busy_since: float | None = None
        """When the present job began; None while there is none."""
        self._study: Study | None = None
        self._thread = threading.Thread(target=self._run, name=f"study {name}", daemon=True)
        self._thread.start()

    async def do(
        self, act: Callable[[Study], T], client: str | None = None, visitor: str = ""
    ) -> T:
        """Do something with the study; a change is durable when this returns.

        Without an answer in time this is an error. What had begun by then may still be carried out.
        """
        if self.stuck:
            raise self._stuck_error()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self.users += 1
        self._jobs.put(Job(act, client, visitor, loop, answer))
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
        """The status of its study, with its warnings; to be called in its thread."""
        status = study.status()
        if self._first_mean is None and status.rounds >= FIRST:
            self._first_mean = _mean_of_first(study)
        return replace(
            status,
            first_rounds=FIRST,
            first_mean=number_or_nan(self._first_mean),
            warnings=(*self.warnings, *status.warnings),
        )

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
        going_on = True
        while going_on or self._turns:
            going_on = self._receive() and going_on
            _deliver(self._carry_out())
        self._close()

    def _receive(self) -> bool:
        """Take all jobs out of the queue, blocking if there is none; False after the last."""
        while not (self._turns and self._jobs.empty()):
            job = self._jobs.get()
            if job is None:
                return False
            self._turns.setdefault(job.visitor, deque()).append(job)
        return True

    def _next(self) -> Job:
        """The next job: visitors take turns, so that none waits for all jobs of another."""
        visitor, jobs = self._turns.popitem(last=False)
        job = jobs.popleft()
        if jobs:
            self._turns[visitor] = jobs
        return job

    def _carry_out(self) -> list[Outcome]:
        """Do the next jobs, as many as time allows, and make them durable together."""
        outcomes: list[Outcome] = []
        began = self._busy_since = time.monotonic()
        while self._turns and len(outcomes) < BATCH:
            if outcomes and self._busy_since - began >= BATCH_SECONDS:
                break
            outcome = self._charged(self._next())
            self._busy_since = time.monotonic()
            if _may_have_lost(outcome.error):
                outcomes = [_failed(each, outcome.error) for each in outcomes]
            outcomes.append(outcome)
            if isinstance(outcome.error, BusyError):
                # Others that write would wait as long, one after the other.
                outcomes += [Outcome(job, None, outcome.error) for job in self._writes()]
        began = time.thread_time()
        try:
            if self._study is not None:
                self._study.flush()
        except Exception as error:  # whatever it is, no client may be told of a success
            outcomes = [_failed(each, error) for each in outcomes]
        each = (time.thread_time() - began) / max(1, len(outcomes))
        for outcome in outcomes:
            if outcome.job.visitor:
                self._account.charge(outcome.job.visitor, each)
        self._busy_since = None
        return outcomes

    def _writes(self) -> list[Job]:
        """Take all jobs that write out of the turns."""
        jobs = [job for each in self._turns.values() for job in each]
        self._turns.clear()
        for job in jobs:
            if job.client is None:
                self._turns.setdefault(job.visitor, deque()).append(job)
        return [job for job in jobs if job.client is not None]

    def _charged(self, job: Job) -> Outcome:
        if not job.visitor:  # without tokens there is nobody to charge
            return self._outcome(job)
        try:
            self._account.refuse_greedy(job.visitor)
        except Exception as error:
            return Outcome(job, None, error)
        began = time.thread_time()
        outcome = self._outcome(job)
        self._account.charge(job.visitor, time.thread_time() - began)
        return outcome

    def _outcome(self, job: Job) -> Outcome:
        if job.answer.done():  # nobody waits for it any more, and nothing has been done yet
            return Outcome(job, None, None)
        was_open = self._study is not None
        try:
            return Outcome(job, self._act(job), None)
        except UnknownStudyError as error:
            # It was deleted, and nothing was done; by now there may be a new study with its name.
            self._close()
            if not was_open:
                return Outcome(job, None, error)
        except ReplacedFileError as error:
            # Whoever sends it again finds the study of the new file.
            self._close()
            return Outcome(job, None, error)
        except Exception as error:
            return Outcome(job, None, error)
        return self._outcome(job)

    def _act(self, job: Job) -> Any:
        study = self._open()
        if job.client is not None:
            study.client = job.client
        return job.act(study)

    def _open(self) -> Study:
        if self._study is None:
            self._study = Study(
                self._store,
                self.name,
                client="dikin serve",
                patience=self._patience,
                commit_within=min(self._patience / 2, LONGEST_TURN),
            )
            self._study._flush_by_hand()
        return self._study

    def _close(self) -> None:
        study, self._study = self._study, None
        self._first_mean = None
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


def _mean_of_first(study: Study) -> float:
    """The mean of the first rounds; NaN if they were trimmed or are not numbers."""
    values = [value_or_loss(record) for record in study.records(1, FIRST)]
    numbers = [value for value in values if value is not None]
    return sum(numbers) / FIRST if len(numbers) == FIRST else nan


def _may_have_lost(error: BaseException | None) -> bool:
    """Whether this error may have lost earlier jobs that are not durable yet.

    After any other error the session still has their rows, or it would be a StoreError.
    """
    return isinstance(error, StoreError) and not isinstance(error, BusyError)


def _failed(outcome: Outcome, error: BaseException | None) -> Outcome:
    """The outcome of a job whose commit failed; a read may have seen rows that are now lost."""
    if outcome.error is not None:
        return outcome
    if not isinstance(error, StoreError):
        error = StoreError(f"the request may not have been written: {error}. Send it again")
    return outcome._replace(result=None, error=error)


def _deliver(outcomes: list[Outcome]) -> None:
    """Answer the waiting clients, in their event loops; each loop is woken once."""
    for loop in {outcome.job.loop for outcome in outcomes}:
        mine = [outcome for outcome in outcomes if outcome.job.loop is loop]
        with suppress(RuntimeError):  # closed: the service has ended without waiting for it
            loop.call_soon_threadsafe(_answer, mine)


def _answer(outcomes: list[Outcome]) -> None:
    for job, result, error in outcomes:
        if job.answer.done():  # the client has gone
            continue
        if error is None:
            job.answer.set_result(result)
        else:
            job.answer.set_exception(error)


class Workers:
    """The workers of a store, by study; the least recently used are ended."""

    def __init__(
        self,
        store: str,
        patience: float,
        deadline: float = ANSWER_SECONDS,
        account: Account | None = None,
    ) -> None:
        self.store, self.patience, self.deadline = store, patience, deadline
        self._account = account or Account()
        self.abandoned = False
        """Whether threads were left behind that the database did not answer."""
        self._workers: OrderedDict[str, Worker] = OrderedDict()
        # Threads for what reads a whole study, or that wait for a process which does.
        self._long = ThreadPoolExecutor(LONG, "long")
        self._stops = set[Callable[[], None]]()
        """What ends these processes."""
        # One, so that a database that does not answer takes no more of them.
        self._short = ThreadPoolExecutor(1, "names")

    async def do(
        self, name: str, act: Callable[[Study], T], client: str | None = None, visitor: str = ""
    ) -> T:
        """Do something with a study, as `Worker.do`."""
        worker = self._workers.get(name) or await self.of(name)
        self._workers.move_to_end(name)
        return await worker.do(act, client, visitor)

    async def do_apart(self, name: str, method: str, *arguments: Any, visitor: str = "") -> Any:
        """Call a method of a study that reads all of it, while the study goes on.

        A large study has a process of its own for it: a thread would hold the interpreter, and
        every other request would wait for it.
        """
        status = await self.do(name, Study.status, visitor=visitor)
        call = self.store, self.patience, name, method, arguments
        where = _call_apart if is_small(status) else self._in_process
        do = partial(self._charged_apart, where, call, visitor)
        return await asyncio.get_running_loop().run_in_executor(self._long, do)

    def _charged_apart(
        self, do: Callable[..., LongCall], call: tuple[Any, ...], visitor: str
    ) -> Any:
        self._account.refuse_greedy(visitor)
        result, error, seconds = do(*call)
        self._account.charge(visitor, seconds)
        if error is not None:
            raise error
        return result

    def _in_process(self, *call: Any) -> LongCall:
        with processes(1) as (pool, stop):
            self._stops.add(stop)
            try:
                return pool.submit(_call_with_low_priority, *call).result()
            except BrokenProcessPool:
                raise StoreError(
                    "the process that did this was ended before it was done, by a shutdown or for "
                    "lack of memory. Send the request again"
                ) from None
            finally:
                self._stops.discard(stop)

    async def of(self, name: str) -> Worker:
        """The worker of a study; an unknown name starts no thread."""
        if name not in self._workers and name not in await self.names():
            raise UnknownStudyError(f"there is no study {name!r}")
        worker = self._workers.get(name)
        if worker is None:
            self._make_room()
            worker = Worker(self.store, name, self.patience, self.deadline, self._account)
            self._workers[name] = worker
        self._workers.move_to_end(name)
        return worker

    async def names(self) -> list[str]:
        """The studies in the store."""
        return await self.within(Study.names, self.store)

    async def within(self, call: Callable[..., T], *arguments: Any) -> T:
        """A short call that needs the database, with a deadline."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.deadline):
                return await loop.run_in_executor(self._short, call, *arguments)
        except TimeoutError:
            raise StuckError(
                f"the store has not answered for {self.deadline:g} seconds. Send the request again "
                "later"
            ) from None

    def stuck(self) -> int:
        """The number of studies that have not answered for too long."""
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
        for stop in list(self._stops):
            stop()
        workers = list(self._workers.values())
        for worker in workers:
            worker.end()
        until = time.monotonic() + CLOSE_SECONDS
        ended = [worker.join(max(0.0, until - time.monotonic())) for worker in workers]
        self._workers.clear()
        for pool in (self._long, self._short):
            pool.shutdown(wait=False, cancel_futures=True)
        if not all(ended):
            self.abandoned = True
            log.error("%d studies did not end: their database does not answer", ended.count(False))


def is_small(status: Status) -> bool:
    """Whether all of a study can be read in about a tenth of a second."""
    return (status.asked + status.rounds) * (1 + status.center.size / LARGE_POINT) <= SMALL_STUDY


class LongCall(NamedTuple):
    """The result or the error of a method of a study, and the seconds that were computed."""

    result: Any
    error: Exception | None
    seconds: float


def _call_apart(
    store: str, patience: float, name: str, method: str, arguments: tuple[Any, ...]
) -> LongCall:
    """Call a method of a study over a connection of its own."""
    began = time.thread_time()
    try:
        with Study(store, name, client="dikin serve", patience=patience) as study:
            result, error = getattr(study, method)(*arguments), None
    except Exception as reason:
        result, error = None, reason
    return LongCall(result, error, time.thread_time() - began)


def _call_with_low_priority(*call: Any) -> LongCall:
    """The same, in a process that gives way to all others."""
    if hasattr(os, "nice"):  # Windows has none
        os.nice(LOW_PRIORITY)
    return _call_apart(*call)


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
