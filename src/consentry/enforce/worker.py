"""What a worker process of `workerpool` does: jobs in, answers out, until there are no more.

Its standard input brings jobs, its standard output takes answers; what a job prints goes nowhere. The
limits are its own: memory for the whole worker, CPU time for each job.
"""

import importlib
import marshal
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from typing import Any, BinaryIO, Final

Job = tuple[Any, ...]

HEADER: Final = struct.Struct("<BQ")
"""What a message begins with: one of `Said`, and the length of the rest."""

_LENGTH: Final = 8


class Said(IntEnum):
    """What a worker may say."""

    READY = 0
    DONE = 1
    RAISED = 2
    SHORT_OF_MEMORY = 3


def found_function(function_name: str) -> Callable[..., Any]:
    """The function that `module:function` names."""
    module, _, name = function_name.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def answered(function: Callable[..., Any], job: Job) -> tuple[Said, bytes]:
    """What a worker says to a job."""
    try:
        answer = function(*job)
        if not isinstance(answer, bytes):
            return Said.RAISED, b"the answer is not bytes"
    except MemoryError:
        return Said.SHORT_OF_MEMORY, b""
    except Exception as problem:  # noqa: BLE001 - hostile input may raise anything; it costs the job
        return Said.RAISED, type(problem).__name__.encode()
    return Said.DONE, answer


def main(function_name: str, seconds: int, memory: int) -> None:
    """Answers jobs until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # a lower one holds
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # What a job prints must not be taken for an answer.
    answers = os.dup(1)
    os.dup2(2, 1)
    function = found_function(function_name)
    with os.fdopen(os.dup(0), "rb") as jobs, os.fdopen(answers, "wb") as out:
        _send(out, Said.READY, b"")
        while len(header := jobs.read(_LENGTH)) == _LENGTH:
            job = marshal.loads(jobs.read(int.from_bytes(header, "little")))  # noqa: S302 - our own
            _allow_seconds(seconds)
            kind, body = answered(function, job)
            _send(out, kind, body)


def _allow_seconds(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + seconds + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def _send(out: BinaryIO, kind: Said, body: bytes) -> None:
    out.write(HEADER.pack(kind, len(body)) + body)
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
