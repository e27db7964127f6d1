"""The engine `bubblewrap`: the program bwrap, told to build the same box as the native engine's.

Namespaces and mounts are bwrap's; the filter on system calls is ours. It has no layer and no list of
programs. A root caller's program has the host's user 0 behind its number inside, without any
capability and with all of `/proc` read-only: bwrap shows no files as another user's.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

from consentry.enforce.engine import Control, Lacking
from consentry.enforce.engines.boxcommand import BoxCommandEngine, Prepared, unwatched
from consentry.enforce.engines.boxplan import (
    Copy,
    Devices,
    Folder,
    Hidden,
    Item,
    Link,
    Own,
    Processes,
    Shown,
    Text,
    box_items,
    fresh,
    held_places,
)
from consentry.enforce.engines.commandengine import CommandPlan
from consentry.enforce.native.plangrants import SHM
from consentry.enforce.native.seccompfilter import compile_filter
from consentry.enforce.process import Command, GivenFiles, children_of
from consentry.enforce.sealing import SealedFile
from consentry.enforce.usage import Control as Limited

_BY_DESCRIPTOR: Final = b"ro-bind-fd"
_SETSID: Final = Path("/usr/bin/setsid")
_NULL: Final = "/dev/null"
# The run's own folders share what may be written: a half for /tmp, a quarter for each other.
_SHARES: Final = {"/tmp": 2}  # noqa: S108 - the box's own
_SHARE: Final = 4


class Bubblewrap(BoxCommandEngine):
    """Drives bwrap."""

    name = "bubblewrap"
    program = "bwrap"
    otherwise = MappingProxyType({Control.ENVIRONMENT: "built from nothing, and PWD"})
    own_processes = 2

    def refusals(self, plan: CommandPlan) -> Iterator[Lacking]:
        """Sealed copies are written by bwrap itself, under the limits of the run."""
        most = _file_limit(plan)
        for path in plan.wanted.program.copies:
            if most is not None and path.stat().st_size > most:
                why = f"the private copy of `{path}` would be larger than a file may be"
                yield Lacking(Control.FILE_SIZE, why, "raise the limit, or use `native`")

    def prepared(
        self,
        plan: CommandPlan,
        sealed: Sequence[SealedFile],
        streams: tuple[int, ...],
        ends: ExitStack,
        *,
        has_terminal: bool,
    ) -> Prepared:
        """Everything is told through descriptors, so that no list of processes shows it."""
        program = self.program_path()
        files = GivenFiles(ends)
        items = tuple(box_items(plan.plan))
        by_descriptor = _BY_DESCRIPTOR in Path(program).read_bytes()
        held = held_places(items)
        for descriptor in held.values():
            ends.callback(os.close, descriptor)
        words = [*self._namespaces(plan), "--seccomp", str(files.of(self._filter(plan)))]
        described = _Items(files, sealed, held if by_descriptor else {}, plan)
        for item in items:
            words += described.words(item)
        if self._host.uid == 0:
            words += ["--remount-ro", "/proc"]
        words += ["--remount-ro", "/dev", "--remount-ro", "/"]
        words += ["--chdir", str(plan.wanted.program.folder)]
        told, tells = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signs = StatusSigns(told)
        words += ["--json-status-fd", str(files.given(tells))]
        arguments = files.of(b"".join(os.fsencode(word) + b"\0" for word in words))
        leads = [str(_SETSID), "--ctty"] if has_terminal and _SETSID.exists() else []
        started = (*leads, str(plan.wanted.program.path), *plan.wanted.program.words[1:])
        command = (program, "--args", str(arguments), "--", *started)
        return Prepared(Command(command, {}, streams, tuple(files.all)), signs)

    def _namespaces(self, plan: CommandPlan) -> Iterator[str]:
        uid, gid = self._host.inner
        yield from ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session")
        yield from ("--cap-drop", "ALL", "--uid", str(uid), "--gid", str(gid))
        yield from ("--hostname", "box", "--clearenv")
        for name, value in plan.wanted.environment.items():
            yield from ("--setenv", name, value)

    def _filter(self, plan: CommandPlan) -> bytes:
        return compile_filter(self._host.machine, unwatched(plan))


class _Items:
    """How each thing in a box is said to bwrap."""

    def __init__(
        self,
        files: GivenFiles,
        sealed: Sequence[SealedFile],
        held: dict[Shown, int],
        plan: CommandPlan,
    ) -> None:
        self._files = files
        self._sealed = sealed
        self._held = held
        self._bytes = plan.limits.layer_bytes

    def words(self, item: Item) -> Iterator[str]:  # noqa: C901 - one case for each kind
        match item:
            case Folder(path):
                yield from ("--dir", path)
            case Link(target, path):
                yield from ("--symlink", target, path)
            case Shown():
                yield from self._shown(item)
            case Text(path, content):
                yield from ("--file", str(self._files.of(content)), path)
            case Own(path, is_writable):
                yield from self._own(path, is_writable=is_writable)
            case Hidden(path, is_folder=True):
                yield from ("--perms", "0000", "--size", "4096", "--tmpfs", path)
                yield from ("--remount-ro", path)
            case Hidden(path):
                yield from ("--ro-bind", _NULL, path)
            case Copy(index, path):
                number = self._files.given(fresh(self._sealed[index]))
                yield from ("--perms", "0555", "--ro-bind-data", str(number), path)
            case Devices():
                yield from ("--dev", "/dev")
                yield from self._own(SHM, is_writable=True)
            case Processes(hidden):
                yield from ("--proc", "/proc")
                for path in hidden:
                    if Path(path).exists():
                        yield from ("--ro-bind", _NULL, path)

    def _shown(self, item: Shown) -> Iterator[str]:
        how = "--bind" if item.is_writable else "--ro-bind"
        if item in self._held:
            yield from (f"{how}-fd", str(self._files.shared(self._held[item])), item.path)
        else:
            yield from (how, item.source, item.path)

    def _own(self, path: str, *, is_writable: bool) -> Iterator[str]:
        size = max(1 << 16, self._bytes // _SHARES.get(path, _SHARE))
        mode = "0700" if is_writable else "0555"
        yield from ("--perms", mode, "--size", str(size), "--tmpfs", path)


class StatusSigns:
    """What bwrap tells of itself: the box's first process, and at the end that a program was started."""

    def __init__(self, told: int) -> None:
        self._told = told
        self._said = b""
        self._documents: dict[str, int] = {}

    def first_process(self, command: int) -> int | None:  # noqa: ARG002 - bwrap says it
        """The child of which bwrap says that it is the box."""
        self._read()
        return self._documents.get("child-pid")

    def group_leader(self, command: int) -> int | None:
        """Of the group of the program, the first that the first process started."""
        first = self.first_process(command)
        started = () if first is None else children_of(first)
        if not started:
            return None
        with suppress(ProcessLookupError):
            return os.getpgid(started[0])
        return None

    def problem(self, status: int) -> tuple[str, int, str] | None:
        """Only where a program was started does it tell of an end."""
        self._read()
        is_told = "exit-code" in self._documents
        return None if is_told or status < 0 else ("failed", 0, "bwrap")

    def _read(self) -> None:
        with suppress(BlockingIOError):
            while part := os.read(self._told, 4096):
                self._said += part
        *lines, self._said = self._said.split(b"\n")
        for line in lines:
            self._documents |= json.loads(line)

    def close(self) -> None:
        """Lets go of the pipe."""
        os.close(self._told)


def _file_limit(plan: CommandPlan) -> int | None:
    """How large one file may become, where that is limited."""
    found = plan.limits.limit(Limited.FILE)
    return None if found is None else int(found)
