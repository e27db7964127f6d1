"""Runs Python snippets in warm workers: one worker for each list of modules, one copy for each run.

A worker is made on first use and kept while its engine lives. It has the operator's modules loaded
and nothing else; what a snippet may read is attached for its own run, what it writes goes to a layer.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.native.parent import NativeParent
from consentry.enforce.native.planner import Host
from consentry.enforce.native.rights import DEVICES, READ, READ_DIR, WRITE, WRITE_FILE, Handled
from consentry.enforce.native.runtime import HIDDEN_IN_PROC, HOME, Step, runtime_of
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.native.supervisor import Bounds, Supervised, Supervisor
from consentry.enforce.native.worker import HELD
from consentry.enforce.roots import is_own
from consentry.enforce.streams import Pipe

MOST_RESULT: Final = 8 << 20

_TMP: Final = "/tmp"  # noqa: S108 - the box's own
_SHM: Final = "/dev/shm"  # noqa: S108 - the box's own
_OWN_BYTES: Final = 64 << 20
_ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "HOME": HOME, "TMPDIR": _TMP, "LANG": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class SnippetError:
    """What a snippet raised, in its own words."""

    type: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class SnippetOutcome:
    """What a snippet gave back, or what went wrong; and how the run went, as seen from outside."""

    result: object
    error: SnippetError | None
    supervised: Supervised
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class SnippetPlan:
    """What one snippet may do besides computing."""

    workspace: Path | None = None
    readable: tuple[Path, ...] = ()
    may_write_tmp: bool = False
    bounds: Bounds | None = None


class SnippetWorkers:
    """The workers of one launcher."""

    def __init__(self, parent: NativeParent, host: Host) -> None:
        self._parent = parent
        self._host = host
        self._made: dict[tuple[tuple[str, ...], Path | None], str] = {}

    def run(
        self,
        source: bytes,
        arguments: Mapping[str, Any],
        plan: SnippetPlan,
        preload: tuple[str, ...] = (),
    ) -> SnippetOutcome:
        """One snippet in a copy of the worker that has these modules loaded."""
        worker = self._worker(preload, plan.workspace)
        code = os.memfd_create("snippet", os.MFD_CLOEXEC)
        out, err, result = Pipe(None, keeps=True), Pipe(None, keeps=True), Pipe(None, keeps=True)
        empty = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.write(code, source)
            # The launcher puts its own two before these.
            files = [empty, out.writer, err.writer, result.writer, code]
            running = self._parent.launch(self._request(worker, plan, arguments), files)
        finally:
            os.close(code)
            os.close(empty)
        pipes = (out, err, result)
        supervised = Supervisor(running, plan.bounds or Bounds(), pipes).stay()
        value, error = _read(bytes(result.kept))
        return SnippetOutcome(value, error, supervised, bytes(out.kept), bytes(err.kept))

    def _worker(self, preload: tuple[str, ...], workspace: Path | None) -> str:
        known = self._made.get((preload, workspace))
        if known is not None:
            return known
        name = f"worker-{len(self._made)}"
        running = self._parent.launch(self._settled(name, preload, workspace), ())
        while running.hear():
            pass
        problem = running.ended().problem
        running.close()
        if problem is not None:
            raise Refused(Code.ENGINE_FAILED, f"the worker could not start: {problem[2]}")
        self._made[(preload, workspace)] = name
        return name

    def _settled(
        self, name: str, preload: tuple[str, ...], workspace: Path | None
    ) -> dict[str, Any]:
        runtime = runtime_of(self._host.protected, _prefixes(), *self._inner)
        steps = [step for step in runtime.steps if step[0] != "proc"]
        steps += [("whole_proc",), ("dir", _TMP), ("dir", HOME), ("dir", HELD)]
        steps += runtime.prefix_steps
        for place, prefix in _covered_prefixes():
            steps += [("dir", place), ("bind", str(prefix), place, ("ro", "nosuid", "nodev"), None)]
        if workspace is not None:
            steps.append(("dir", str(workspace)))
        found = None if workspace is None else workspace.stat()
        return {
            "name": name,
            "preload": list(preload),
            "ids": self._host.inner,
            "steps": tuple(steps),
            "hostname": "box",
            "env": _ENVIRONMENT,
            "workspace": None if workspace is None else str(workspace),
            "identity": None if found is None else (found.st_dev, found.st_ino),
        }

    @property
    def _inner(self) -> tuple[int, int]:
        return (0, 0) if self._host.uid == 0 else (self._host.uid, self._host.gid)

    def _request(
        self, worker: str, plan: SnippetPlan, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        handled = Handled.by(self._host.landlock_abi)
        roots = runtime_of(self._host.protected, _prefixes(), *self._inner).roots
        own = WRITE if plan.may_write_tmp else READ
        rules = [
            *((path, handled.on(READ, folder=Path(path).is_dir())) for path in roots),
            ("/", handled.on(READ_DIR, folder=True)),
            ("/proc", handled.on(READ | WRITE_FILE, folder=True)),
            ("/dev", handled.on(DEVICES, folder=True)),
            ("/etc", handled.on(READ, folder=True)),
            (_SHM, handled.on(WRITE, folder=True)),
            (_TMP, handled.on(own, folder=True)),
            (HOME, handled.on(own, folder=True)),
            *((str(path), handled.on(READ, folder=path.is_dir())) for path in plan.readable),
        ]
        return {
            "worker": worker,
            "ids": self._inner,
            "root": "",
            "steps": tuple(_steps(plan)),
            "streams": (2, 3, 4),
            "result": 5,
            "code": 6,
            "arguments": dict(arguments),
            "umask": 0o022,
            "cwd": str(plan.workspace or HOME),
            "rlimits": [],
            "layer_bytes": _OWN_BYTES,
            "landlock": {
                "abi": self._host.landlock_abi,
                "fs": handled.fs,
                "net": 0,
                "scoped": handled.scoped,
                "flags": handled.flags,
                "paths": rules,
            },
            "filter": compile_filter(self._host.machine, FilterWish(memory_files=False)),
            "listens": True,
        }


def _steps(plan: SnippetPlan) -> list[Step]:
    mode = 0o700 if plan.may_write_tmp else 0o555
    steps: list[Step] = [
        ("proc", HIDDEN_IN_PROC),
        ("tmpfs", _SHM, _OWN_BYTES, 0o1777, ("noexec",)),
        ("tmpfs", _TMP, _OWN_BYTES, mode, ("noexec",)),
        ("tmpfs", HOME, _OWN_BYTES, mode, ("noexec",)),
    ]
    for place, prefix in _covered_prefixes():
        steps += [("dir", str(prefix)), ("bind", place, str(prefix), (), None)]
        steps.append(("hide_folder", place))
    if plan.workspace is not None:
        steps.append(("dir", str(plan.workspace)))
        steps.append(("bind", HELD, str(plan.workspace), ("ro", "noexec"), None))
    steps.append(("hide_folder", HELD))
    return steps


def _prefixes() -> tuple[Path, ...]:
    """Where this interpreter is installed, if not among the system's own."""
    found = {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    return tuple(sorted(path for path in found if not path.is_relative_to("/usr")))


def _covered_prefixes() -> list[tuple[str, Path]]:
    """Prefixes below a folder that every run gets anew, and where the worker keeps them."""
    covered = [path for path in _prefixes() if is_own(path)]
    return [(f"{HELD}-prefix-{number}", path) for number, path in enumerate(covered)]


def _read(content: bytes) -> tuple[object, SnippetError | None]:
    try:
        document = json.loads(content)
        if document["ok"] is True:
            return document["result"], None
        said = document["error"]
        trace = str(said.get("traceback", ""))
        return None, SnippetError(str(said["type"]), str(said["message"]), trace)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, SnippetError("NoResult", "the snippet ended without a result")
