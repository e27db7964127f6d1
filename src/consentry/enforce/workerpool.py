"""Runs one function over many jobs in worker processes; a job that kills its worker costs that job.

A job is a tuple of plain values and the function's answer is bytes, so that nothing a worker sends is
ever more than bytes to us. Answers come in the order of the jobs, whichever worker was faster. A job
that raises, dies, eats its memory or takes too long is a `JobFailed`, and the next job gets a new
worker where the old one is not fit any more. Time is CPU time, so that a busy machine does not change
an answer; a worker that waits is given several times as much by the clock.

Little work is done in this process, where starting another would take longer than the work; so is
all of it where no worker can be started. There a job that raises is a `JobFailed` as well, but
nothing ends a job that loops, and what kills the process kills us.

Not promised: confinement. Workers have the rights of this process, and an empty environment.
"""

import marshal
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Final

from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass
from consentry.enforce.pipedprocess import PipedProcess
from consentry.enforce.worker import HEADER, Job, Said, answered, found_function

WORTH_A_WORKER: Final = 200 << 10
"""Bytes of work below which none is started."""

_MODULE: Final = "consentry.enforce.worker"
_PART: Final = 1 << 18
_AHEAD: Final = 32
_PATIENCE: Final = 4
_START_SECONDS: Final = 30
_MOST_START_FAILURES: Final = 2


class Failure(StrEnum):
    """Why a job has no answer."""

    RAISED = "raised"
    DIED = "died"
    TOO_LONG = "too-long"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class JobFailed:
    """What a job without an answer gives instead."""

    reason: Failure
    detail: str = ""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What one job may take: CPU seconds, bytes of the worker's memory, bytes of the answer."""

    seconds: int = 20
    memory: int = 2 << 30
    answer: int = 64 << 20


def run_in_workers(
    function_name: str,
    jobs: Iterable[Job],
    *,
    workers: int,
    total_size: int,
    limits: WorkerLimits | None = None,
) -> Iterator[bytes | JobFailed]:
    """The answers to all jobs, in their order.

    Args:
        function_name: `module:function`; it is called with the values of a job, and returns bytes.
        jobs: taken one by one, a little ahead of what is answered.
        workers: how many processes at most; with fewer than two, none is started.
        total_size: about how many bytes of work there are in all.
        limits: what one job may take.
    """
    if workers < 2 or total_size < WORTH_A_WORKER:  # noqa: PLR2004 - one worker only adds a detour
        return _run_here(function_name, jobs)
    return _Pool(function_name, iter(jobs), workers, limits or WorkerLimits()).run()


def _run_here(function_name: str, jobs: Iterable[Job]) -> Iterator[bytes | JobFailed]:
    function = found_function(function_name)
    for job in jobs:
        kind, body = answered(function, job)
        yield _told(kind, body)


def _told(kind: int, body: bytes) -> bytes | JobFailed:
    if kind == Said.DONE:
        return body
    reason = Failure.MEMORY if kind == Said.SHORT_OF_MEMORY else Failure.RAISED
    return JobFailed(reason, body.decode("utf-8", "replace"))


class _Worker:
    """One process; `number` is that of the job it has."""

    def __init__(self, function_name: str, limits: WorkerLimits) -> None:
        words = [sys.executable, "-I", "-m", _MODULE, function_name]
        self._limits = limits
        self._process = PipedProcess(
            [*words, str(limits.seconds), str(limits.memory)], {"LC_ALL": "C.UTF-8"}
        )
        os.set_blocking(self._process.to, False)
        self.out, self.to = self._process.out, self._process.to
        self.number: int | None = None
        self.job: Job = ()
        self.is_ready = False
        self._left = memoryview(b"")
        self._read = bytearray()
        self.until = time.monotonic() + _START_SECONDS

    @property
    def is_writing(self) -> bool:
        return len(self._left) > 0

    def give(self, number: int, job: Job) -> None:
        body = marshal.dumps(job)
        self._left = memoryview(len(body).to_bytes(8, "little") + body)
        self.number, self.job = number, job
        if self.is_ready:
            self.until = time.monotonic() + self._limits.seconds * _PATIENCE
        self.write()

    def has_begun(self) -> None:
        """It is up, and at its first job."""
        self.is_ready = True
        self.until = time.monotonic() + self._limits.seconds * _PATIENCE

    def write(self) -> None:
        with suppress(BlockingIOError, BrokenPipeError):
            self._left = self._left[os.write(self.to, self._left) :]

    def read(self) -> Iterator[tuple[int, bytes] | JobFailed]:
        """The messages that have come whole, and at last its end."""
        part = os.read(self.out, _PART)
        self._read += part
        while len(self._read) >= HEADER.size:
            kind, size = HEADER.unpack_from(self._read)
            if size > self._limits.answer:
                yield JobFailed(Failure.MEMORY, "the answer is too large")
                return
            whole = HEADER.size + size
            if len(self._read) < whole:
                break
            body = bytes(self._read[HEADER.size : whole])
            del self._read[:whole]
            yield kind, body
        if not part:
            yield self._reason()

    def _reason(self) -> JobFailed:
        status = self._process.wait(time.monotonic() + 1)
        if status == -signal.SIGXCPU:
            return JobFailed(Failure.TOO_LONG)
        return JobFailed(Failure.DIED, "" if status is None else f"status {status}")

    def end(self) -> None:
        self._process.end()


class _Pool:
    def __init__(
        self, function_name: str, jobs: Iterator[Job], workers: int, limits: WorkerLimits
    ) -> None:
        self._function_name = function_name
        self._jobs = enumerate(jobs)
        self._again: deque[tuple[int, Job]] = deque()
        self._most = workers
        self._limits = limits
        self._workers: list[_Worker] = []
        self._answers: dict[int, bytes | JobFailed] = {}
        self._next = 0
        self._start_failures = 0
        self._is_out = False

    def run(self) -> Iterator[bytes | JobFailed]:
        try:
            while True:
                self._fill()
                while self._next in self._answers:
                    answer = self._answers.pop(self._next)
                    self._next += 1
                    yield answer
                if self._start_failures > _MOST_START_FAILURES:
                    yield from self._without_workers()
                    return
                if any(worker.number is not None for worker in self._workers):
                    self._listen()
                elif self._is_out and not self._again:
                    return
        finally:
            for worker in self._workers:
                worker.end()

    def _fill(self) -> None:
        """Gives each idle worker a job, and starts workers while there are jobs for them."""
        while len(self._answers) < _AHEAD * self._most:
            idle = next((each for each in self._workers if each.number is None), None)
            if idle is None:
                if len(self._workers) >= self._most:
                    return
                if self._start_failures > _MOST_START_FAILURES:
                    return
            job = self._take()
            if job is None:
                return
            if idle is None:
                try:
                    idle = _Worker(self._function_name, self._limits)
                except ConsentryError:
                    self._again.appendleft(job)
                    self._start_failures = _MOST_START_FAILURES + 1
                    return
                self._workers.append(idle)
            idle.give(*job)

    def _take(self) -> tuple[int, Job] | None:
        if self._again:
            return self._again.popleft()
        job = next(self._jobs, None)
        self._is_out = job is None
        return job

    def _listen(self) -> None:
        """Waits until a worker says something, can be told more, or has had its time."""
        poll = select.poll()
        by_descriptor: dict[int, _Worker] = {}
        for worker in self._workers:
            by_descriptor[worker.out] = worker
            poll.register(worker.out, select.POLLIN)
            if worker.is_writing:
                by_descriptor[worker.to] = worker
                poll.register(worker.to, select.POLLOUT)
        busy = [worker.until for worker in self._workers if worker.number is not None]
        wait = max(0.0, min(busy, default=0.0) - time.monotonic())
        for descriptor, _ in poll.poll(wait * 1000 + 1):
            worker = by_descriptor[descriptor]
            if worker not in self._workers:
                continue
            if descriptor == worker.to:
                worker.write()
            else:
                self._hear(worker)
        now = time.monotonic()
        for worker in [each for each in self._workers if each.number is not None]:
            if worker.until < now:
                self._settle(worker, JobFailed(Failure.TOO_LONG))

    def _hear(self, worker: _Worker) -> None:
        for message in worker.read():
            if isinstance(message, JobFailed):
                self._settle(worker, message)
                return
            kind, body = message
            if kind == Said.READY:
                worker.has_begun()
            elif kind == Said.SHORT_OF_MEMORY:
                self._settle(worker, JobFailed(Failure.MEMORY))
                return
            elif worker.number is not None:
                self._answers[worker.number] = _told(kind, body)
                worker.number = None

    def _settle(self, worker: _Worker, failed: JobFailed) -> None:
        """The worker is not used any more; its job failed, unless it had not begun."""
        self._workers.remove(worker)
        worker.end()
        number, worker.number = worker.number, None
        if number is None:
            return
        if worker.is_ready:
            self._answers[number] = failed
        else:
            self._start_failures += 1
            self._again.append((number, worker.job))

    def _without_workers(self) -> Iterator[bytes | JobFailed]:
        """What is left, in this process: jobs that were handed out and came back, then the rest."""
        function = found_function(self._function_name)
        handed = [(each.number, each.job) for each in self._workers if each.number is not None]
        left = sorted([*self._again, *handed], key=lambda each: each[0])
        for number, job in left:
            self._answers[number] = _told(*answered(function, job))
        for number in sorted(self._answers):
            yield self._answers[number]
        for _, job in self._jobs:
            yield _told(*answered(function, job))
