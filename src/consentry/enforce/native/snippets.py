"""Starts Python snippets in warm workers: one worker for each list of modules and grants.

A worker is made on first use and kept while its launcher lives. It has the operator's modules loaded
and nothing else; what a snippet may read is attached for its own run. What comes back is a stranger's
word, and is read as such.
"""

import errno
import json
import marshal
import math
import os
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

from consentry.base.codes import Code
from consentry.base.errors import FilesystemRace, Refused
from consentry.base.values import dataclass
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.native.parent import NativeParent, Running
from consentry.enforce.native.snippetplan import SnippetPlan
from consentry.enforce.streams import Pipe, write_all

NAME: Final = "<snippet>"
"""What a snippet that is no file is called where it went wrong."""
WORKER_GONE: Final = ("failed", errno.ESRCH, "the worker")
"""What is told where nothing was run, because a worker ended before it had its order."""
NO_RESULT: Final = "NoResult"
"""What is called the error of code that ended and said nothing."""
MOST_RESULT: Final = 8 << 20
MOST_DEPTH: Final = 100
"""Of lists and objects in each other; every reader of the result can take so many."""
MOST_WORKERS: Final = 16
"""Kept at a time by one launcher; each is an interpreter in memory."""


@dataclass(frozen=True, slots=True)
class SnippetError:
    """What a snippet raised, in its own words."""

    type: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class StartedSnippet:
    """A run that was started: the box, and the pipes of output, errors and the result."""

    running: Running
    pipes: tuple[Pipe, Pipe, Pipe]

    def answer(self) -> tuple[object, SnippetError | None]:
        """What it gave back, or what went wrong; when it is over."""
        return read_answer(bytes(self.pipes[2].kept))


class SnippetWorkers:
    """The workers of one launcher; threads may share them."""

    def __init__(self, parent: NativeParent) -> None:
        self._parent = parent
        self._made: dict[tuple[tuple[str, ...], bytes], str] = {}
        self._count = 0
        self._one_at_a_time = Lock()

    def start(
        self,
        source: bytes,
        arguments: Mapping[str, Any],
        plan: SnippetPlan,
        pipes: tuple[Pipe, Pipe],
        *,
        name: str = NAME,
        preload: tuple[str, ...] = (),
        limits: Mapping[str, Any] | None = None,
        holds: Callable[[list[int]], Mapping[str, Any]] = lambda _: {},
    ) -> StartedSnippet:
        """One snippet in a copy of the worker that has these modules loaded.

        The pipes are for what it prints, and are whoever's who stays with the run. `holds` adds to
        the files what held calls are asked about by, and says what the launcher is told of it.
        """
        result = Pipe(None, keeps=True)
        code = os.memfd_create("snippet", os.MFD_CLOEXEC)
        empty = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            write_all(code, marshal.dumps((name, source, dict(arguments))))
            request = {
                "worker": self._worker(preload, plan),
                "rlimits": [],
                "groups": [],
                **(limits or {}),
            }
            files = [empty, pipes[0].writer, pipes[1].writer, result.writer, code]
            request |= holds(files)
            running = self._parent.launch(request, files)
        except BaseException:
            result.close()
            raise
        finally:
            os.close(code)
            os.close(empty)
        return StartedSnippet(running, (*pipes, result))

    def _worker(self, preload: tuple[str, ...], plan: SnippetPlan) -> str:
        key = (preload, plan.key)
        with self._one_at_a_time:
            name = self._made.pop(key, None) or self._make(preload, plan)
            # The one that was used last is the last to go.
            self._made[key] = name
            while len(self._made) > MOST_WORKERS:
                self._end(self._made.pop(next(iter(self._made))))
        return name

    def forget(self, preload: tuple[str, ...], plan: SnippetPlan) -> None:
        """After a run that could not be started: the next one gets a worker that is made anew."""
        with self._one_at_a_time:
            name = self._made.pop((preload, plan.key), None)
            if name is not None:
                self._end(name)

    def _make(self, preload: tuple[str, ...], plan: SnippetPlan) -> str:
        self._count += 1
        name = f"worker-{self._count}"
        try:
            problem = self._told({**plan.worker, "name": name, "preload": list(preload)})
        except BaseException:
            # It may be there, or come to be, and nobody knows of it.
            self._end(name)
            raise
        if problem is not None:
            what, _, detail = problem
            if what == "replaced":
                message = f"`{detail}` is not the file it was a moment ago, so nothing was started"
                raise FilesystemRace(message)
            raise Refused(Code.ENGINE_FAILED, f"the worker could not start: {detail}")
        return name

    def _end(self, name: str) -> None:
        self._told({"unneeded": name})

    def _told(self, request: Mapping[str, Any]) -> tuple[str, int, str] | None:
        with Uninterrupted() as interrupts:
            running = self._parent.launch(request, ())
            try:
                with interrupts.let_through():
                    while running.hear():
                        pass
                return running.ended().problem
            finally:
                running.close()


def read_answer(content: bytes) -> tuple[object, SnippetError | None]:
    """What code says it gave back, or what went wrong: JSON of its own making, so read strictly."""
    if len(content) > MOST_RESULT:
        return None, SnippetError("ResultTooLarge", f"the result has more than {MOST_RESULT} bytes")
    try:
        document = json.loads(content, parse_constant=_no_number, parse_float=_finite)
        if not is_shallow(document, MOST_DEPTH):
            message = f"the result has more than {MOST_DEPTH} lists and objects in each other"
            return None, SnippetError("ResultNotJson", message)
        if document["ok"] is True:
            return document["result"], None
        said = document["error"]
        trace = str(said.get("traceback", ""))
        return None, SnippetError(str(said["type"]), str(said["message"]), trace)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, SnippetError(NO_RESULT, "the code ended without a result")


def is_shallow(value: object, depth: int) -> bool:
    """Whether at most so many lists and objects lie in each other."""
    level = [value]
    for _ in range(depth + 1):
        inner = [each for each in level if isinstance(each, list | tuple | dict)]
        if not inner:
            return True
        level = [
            below for each in inner for below in (each.values() if isinstance(each, dict) else each)
        ]
    return False


def _no_number(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)
