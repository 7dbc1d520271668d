"""The studies that the service has open: one thread for each, which writes many requests at once.

Requests of a study wait in its queue. Its thread carries out all that wait, makes them durable in
one commit, and only then answers them: so under load many requests share the time of one fsync.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from dikin.errors import BusyError, DikinError, StateError, StoreError, UnknownStudyError
from dikin.studies.study import Study

T = TypeVar("T")

AT_ONCE = 256
"""Requests that are written in one commit at most: some ten milliseconds of work."""
OPEN_STUDIES = 64
"""Studies that are kept open; each has a connection of its own."""
HEARD = 20
"""Warnings that are remembered of a study."""


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
        self.warnings: deque[str] = deque(maxlen=HEARD)
        """What the learner warned of, newest last, each once."""
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

    def end(self) -> None:
        """Finish what waits, and let go of the study."""
        self._jobs.put(None)

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    # --- in the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        _HEARD.listener = self._hear
        going_on = True
        while going_on:
            jobs = self._waiting()
            going_on = None not in jobs
            _deliver(self._carry_out([job for job in jobs if job is not None]))
        self._close()

    def _waiting(self) -> list[Job | None]:
        """All that waits; waits for the first."""
        jobs = [self._jobs.get()]
        while len(jobs) < AT_ONCE and not self._jobs.empty():
            jobs.append(self._jobs.get())
        return jobs

    def _carry_out(self, jobs: list[Job]) -> list[Outcome]:
        """Do jobs, and make them durable together."""
        outcomes: list[Outcome] = []
        for job in jobs:
            outcome = self._outcome(job)
            if _may_have_lost(outcome.error):
                outcomes = [_failed(each, outcome.error) for each in outcomes]
            outcomes.append(outcome)
        try:
            if self._study is not None:
                self._study.flush()
        except DikinError as error:
            outcomes = [_failed(each, error) for each in outcomes]
        if any(isinstance(each.error, UnknownStudyError) for each in outcomes):
            self._close()  # it was deleted; there may be another of its name by now
        return outcomes

    def _outcome(self, job: Job) -> Outcome:
        if job.answer.cancelled():  # nobody waits, and nothing was done yet
            return Outcome(job, None, None)
        try:
            study = self._open()
            if job.client is not None:
                study.client = job.client
            return Outcome(job, job.act(study), None)
        except Exception as error:
            return Outcome(job, None, error)

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
        if study is not None:
            study.close()

    def _hear(self, text: str) -> None:
        if text in self.warnings:
            self.warnings.remove(text)
        self.warnings.append(text)


def _may_have_lost(error: BaseException | None) -> bool:
    """Whether with this error jobs before it, which are not durable yet, may be lost."""
    return isinstance(error, StateError) and not isinstance(error, BusyError | UnknownStudyError)


def _failed(outcome: Outcome, error: BaseException | None) -> Outcome:
    """The outcome of a job whose commit failed; a look stays what it was."""
    if outcome.job.client is None or outcome.error is not None:
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

    async def do(self, name: str, act: Callable[[Study], T], client: str | None = None) -> T:
        """Do something with a study, as `Worker.do`."""
        worker = self.of(name)
        try:
            return await worker.do(act, client)
        except UnknownStudyError:
            if self._workers.get(name) is worker and not worker.users:
                self._workers.pop(name).end()
            raise

    async def do_apart(self, name: str, act: Callable[[Study], T]) -> T:
        """Do something that takes long, in a thread of its own: the study goes on meanwhile."""
        worker = self.of(name)
        worker.users += 1
        try:
            study = await self.do(name, lambda study: study)
            return await asyncio.to_thread(act, study)
        finally:
            worker.users -= 1

    def of(self, name: str) -> Worker:
        """The worker of a study."""
        worker = self._workers.get(name)
        if worker is None:
            self._make_room()
            worker = self._workers[name] = Worker(self.store, name, self.patience)
        self._workers.move_to_end(name)
        return worker

    def _make_room(self) -> None:
        idle = [name for name, worker in self._workers.items() if not worker.users]
        for name in idle[: max(0, len(self._workers) - OPEN_STUDIES + 1)]:
            self._workers.pop(name).end()

    def close(self) -> None:
        """End all, and wait until what they were asked for is written."""
        workers = list(self._workers.values())
        for worker in workers:
            worker.end()
        for worker in workers:
            worker.join()
        self._workers.clear()


class _Heard(threading.local):
    """Who hears the warnings of this thread."""

    listener: Callable[[str], None] | None = None


_HEARD = _Heard()


@contextmanager
def listening() -> Iterator[None]:
    """From here to the end, what a study warns of is kept with its worker.

    Filters of warnings belong to the whole process, and threads that change them disturb each
    other. So one function shows all warnings, and asks whom they are for.
    """
    with warnings.catch_warnings():
        show = warnings.showwarning

        def tell(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if _HEARD.listener is None:
                show(message, category, *where, **more)
            else:
                _HEARD.listener(str(message))

        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield
