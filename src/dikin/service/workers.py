"""The studies that the service has open: one thread for each, which writes many requests at once.

Requests of a study wait in its queue. Its thread carries out all that wait, makes them durable in
one commit, and only then answers them: so under load many requests share the time of one fsync.
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
from contextlib import contextmanager
from dataclasses import replace
from math import nan
from typing import Any, NamedTuple, TypeVar

from dikin.errors import BusyError, StoreError, UnknownStudyError
from dikin.serialization import number_or_nan
from dikin.service.limits import BATCH, BATCH_SECONDS, OPEN_STUDIES
from dikin.status import Status
from dikin.studies.history import value_or_loss
from dikin.studies.study import Study

T = TypeVar("T")

FIRST = 20
"""Rounds whose mean says where it began."""
KEPT_WARNINGS = 20
"""Warnings that are remembered of a study."""

log = logging.getLogger("dikin.service")


class Job(NamedTuple):
    """Something to be done with a study, and who waits for it."""

    act: Callable[[Study], Any]
    client: str | None
    """Who asks for something that changes the study; None for a look."""
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]


class Outcome(NamedTuple):
    """What became of a job."""

    job: Job
    result: Any
    error: BaseException | None


class Worker:
    """The thread of one study."""

    def __init__(self, store: str, name: str, patience: float) -> None:
        self.name, self.users = name, 0
        self.warnings: deque[str] = deque(maxlen=KEPT_WARNINGS)
        """What the learner warned of, newest last, each once."""
        self._first_mean: float | None = None
        """The mean of the first rounds, once they are told: it stays what it is."""
        self._store, self._patience = store, patience
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._study: Study | None = None
        self._thread = threading.Thread(target=self._run, name=f"study {name}", daemon=True)
        self._thread.start()

    async def do(self, act: Callable[[Study], T], client: str | None = None) -> T:
        """Do something with the study; durable, if it changes the study, when this returns."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self.users += 1
        try:
            self._jobs.put(Job(act, client, loop, answer))
            return await answer
        finally:
            self.users -= 1

    def status(self, study: Study) -> Status:
        """The status of its study, with what it warned of; to be called in its thread."""
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
        """Finish what waits, and let go of the study."""
        self._jobs.put(None)

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    # --- in the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        _WARNINGS.collect = self._collect
        going_on = True
        while going_on:
            waiting = self._waiting()
            going_on = None not in waiting
            jobs = deque(job for job in waiting if job is not None)
            while jobs:
                _deliver(self._carry_out(jobs))
        self._close()

    def _waiting(self) -> list[Job | None]:
        """All that waits; waits for the first."""
        jobs = [self._jobs.get()]
        while len(jobs) < BATCH and not self._jobs.empty():
            jobs.append(self._jobs.get())
        return jobs

    def _carry_out(self, jobs: deque[Job]) -> list[Outcome]:
        """Do the first jobs, as many as there is time for, and make them durable together."""
        outcomes: list[Outcome] = []
        began = time.monotonic()
        while jobs and (not outcomes or time.monotonic() - began < BATCH_SECONDS):
            outcome = self._outcome(jobs.popleft())
            if _may_have_lost(outcome.error):
                outcomes = [_failed(each, outcome.error) for each in outcomes]
            outcomes.append(outcome)
        try:
            if self._study is not None:
                self._study.flush()
        except Exception as error:  # whatever it is, nobody may be told that it was written
            outcomes = [_failed(each, error) for each in outcomes]
        return outcomes

    def _outcome(self, job: Job) -> Outcome:
        if job.answer.cancelled():  # nobody waits, and nothing was done yet
            return Outcome(job, None, None)
        was_open = self._study is not None
        try:
            return Outcome(job, self._act(job), None)
        except UnknownStudyError as error:
            # It was deleted, and nothing was done; there may be another of its name by now.
            self._close()
            if not was_open:
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
                commit_within=self._patience / 2,
            )
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
    """The mean of the first rounds; NaN where they were trimmed, or are not numbers."""
    told = [value_or_loss(record) for record in study.records(1, FIRST)]
    values = [value for value in told if value is not None]
    return sum(values) / FIRST if len(values) == FIRST else nan


def _may_have_lost(error: BaseException | None) -> bool:
    """Whether with this error jobs before it, which are not durable yet, may be lost.

    After others the session has kept what it returned with, or the error would be a StoreError.
    """
    return isinstance(error, StoreError) and not isinstance(error, BusyError)


def _failed(outcome: Outcome, error: BaseException | None) -> Outcome:
    """The outcome of a job whose commit failed; what a look saw may never have been."""
    if outcome.error is not None:
        return outcome
    if not isinstance(error, StoreError):
        error = StoreError(f"what was asked for may not be written: {error}. Send it again")
    return outcome._replace(result=None, error=error)


def _deliver(outcomes: list[Outcome]) -> None:
    """Answer those who wait, in their event loops; each loop is woken once."""
    for loop in {outcome.job.loop for outcome in outcomes}:
        mine = [outcome for outcome in outcomes if outcome.job.loop is loop]
        loop.call_soon_threadsafe(_answer, mine)


def _answer(outcomes: list[Outcome]) -> None:
    for job, result, error in outcomes:
        if job.answer.done():  # who asked has gone
            continue
        if error is None:
            job.answer.set_result(result)
        else:
            job.answer.set_exception(error)


class Workers:
    """The workers of a store, by study; those that were not used for longest are ended."""

    def __init__(self, store: str, patience: float) -> None:
        self.store, self.patience = store, patience
        self._workers: OrderedDict[str, Worker] = OrderedDict()
        # A verification takes long: it has threads that nobody else waits for.
        self._long = ThreadPoolExecutor(2, "long")

    async def do(self, name: str, act: Callable[[Study], T], client: str | None = None) -> T:
        """Do something with a study, as `Worker.do`."""
        worker = await self.of(name)
        return await worker.do(act, client)

    async def do_apart(self, name: str, act: Callable[[Study], T]) -> T:
        """Do something that takes long, with a connection of its own: the study goes on."""

        def apart() -> T:
            with Study(self.store, name, client="dikin serve", patience=self.patience) as study:
                return act(study)

        return await asyncio.get_running_loop().run_in_executor(self._long, apart)

    async def of(self, name: str) -> Worker:
        """The worker of a study; a name that is not known costs no thread."""
        if name not in self._workers and name not in await self.names():
            raise UnknownStudyError(f"there is no study {name!r}")
        worker = self._workers.get(name)
        if worker is None:
            self._make_room()
            worker = self._workers[name] = Worker(self.store, name, self.patience)
        self._workers.move_to_end(name)
        return worker

    async def names(self) -> list[str]:
        """The studies in the store."""
        return await asyncio.to_thread(Study.names, self.store)

    def _make_room(self) -> None:
        over = len(self._workers) - OPEN_STUDIES + 1
        idle = [name for name, worker in self._workers.items() if not worker.users]
        if len(idle) < over:
            raise BusyError(f"{len(self._workers)} studies are in use at the same time; try again")
        for name in idle[: max(0, over)]:
            self._workers.pop(name).end()

    def close(self) -> None:
        """End all, and wait until what they were asked for is written."""
        workers = list(self._workers.values())
        for worker in workers:
            worker.end()
        for worker in workers:
            worker.join()
        self._workers.clear()
        self._long.shutdown(wait=False, cancel_futures=True)


class _Warnings(threading.local):
    """What is done with the warnings of this thread."""

    collect: Callable[[str], None] | None = None


_WARNINGS = _Warnings()


@contextmanager
def collecting_warnings() -> Iterator[None]:
    """From here to the end, what a study warns of is kept with its worker.

    Filters of warnings belong to the whole process, and threads that change them disturb each
    other. So one function shows all warnings, and asks whom they are for.
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
