"""The engine `nsjail`: told of the same box as the native engine's, in a configuration of its own kind.

The configuration is handed over in a file in memory, so that no list of processes shows it. Its filter
on system calls is written in its policy language, from the same list as ours. It can place no private
copy of a program, makes only the top of a read-only tree read-only, which is why every mount below it is
named, and would have the program as the first process of its box, so a shell is. Where `nsjail` is not
there, none of this runs: only the configuration is tested.
"""

import os
import string
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Final

from consentry.enforce.engine import Control, Lacking
from consentry.enforce.engines.boxcommand import BoxCommandEngine, Prepared, unplaceable, unwatched
from consentry.enforce.engines.boxplan import (
    Devices,
    Hidden,
    Item,
    Link,
    Own,
    Processes,
    Shown,
    Text,
    box_items,
    held_places,
)
from consentry.enforce.engines.boxscript import BoxScript, Stays, misread
from consentry.enforce.engines.commandengine import CommandPlan
from consentry.enforce.engines.kafelpolicy import kafel_policy
from consentry.enforce.facts import HostView
from consentry.enforce.mounts import read_mounts
from consentry.enforce.native.plangrants import SHM
from consentry.enforce.process import Command, GivenFiles

_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS: Final = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/ptmx": "pts/ptmx",
}
_TERMINALS: Final = "newinstance,ptmxmode=0666,mode=620"
_NULL: Final = "/dev/null"
_PLAIN: Final = f"{string.ascii_letters}{string.digits}/._-=+:, ".encode()
_EMPTY: Final = "size=4096,nr_inodes=1,mode=0"


class Nsjail(BoxCommandEngine):
    """Drives nsjail."""

    name = "nsjail"
    program = "nsjail"
    own_processes = 2
    otherwise = MappingProxyType({Control.SYSTEM_CALLS: "a seccomp policy"})

    def refusals(self, plan: CommandPlan) -> Iterator[Lacking]:
        """Bytes that it cannot place, and a path that would be misread."""
        yield from unplaceable(plan)
        yield from misread(plan.wanted.program.path)

    def prepared(
        self,
        plan: CommandPlan,
        sealed: Sequence[object],  # noqa: ARG002 - refused before
        streams: tuple[int, ...],
        ends: ExitStack,
        *,
        has_terminal: bool,
    ) -> Prepared:
        """What was looked at is looked at once more; nsjail opens it by its path a little later."""
        items = tuple(box_items(plan.plan))
        for descriptor in held_places(items).values():
            os.close(descriptor)
        files = GivenFiles(ends)
        script = BoxScript.given(
            plan.wanted.program,
            plan.wanted.environment,
            files,
            Stays.ABOVE,
            has_terminal=has_terminal,
        )
        text = "\n".join(self.configuration(plan, items, script)) + "\n"
        number = files.of(os.fsencode(text))
        words = (self.program_path(), "--really_quiet", "--config", f"/proc/self/fd/{number}")
        command = Command(words, {}, streams, tuple(files.all), outlives=True)
        return Prepared(command, script.signs)

    def configuration(
        self, plan: CommandPlan, items: Sequence[Item], script: BoxScript
    ) -> Iterator[str]:
        """The whole box, a line for each thing in it."""
        yield from ("mode: ONCE", "time_limit: 0", 'hostname: "box"', "keep_env: false")
        yield f"cwd: {_quoted(str(plan.wanted.program.folder))}"
        # Both are set before it starts, and inherited: its own would be others.
        yield from ("disable_rl: true", f"nice_level: {os.getpriority(os.PRIO_PROCESS, 0)}")
        yield from self._namespaces()
        for item in items:
            yield from _mounts(item, plan.limits.layer_bytes)
        yield f"seccomp_string: {_quoted(self._policy(plan))}"
        yield from (f"pass_fd: {number}" for number in script.kept)
        path, *words = map(_quoted, script.words)
        yield f"exec_bin {{ path: {path} {' '.join(f'arg: {word}' for word in words)} }}"

    def _namespaces(self) -> Iterator[str]:
        """All that it has, which it makes unless it is told otherwise; nobody else is in them."""
        uid, gid = self._host.inner
        yield f'uidmap {{ inside_id: "{uid}" outside_id: "{self._host.uid}" count: 1 }}'
        yield f'gidmap {{ inside_id: "{gid}" outside_id: "{self._host.gid}" count: 1 }}'
        yield from ("iface_no_lo: false", "mount_proc: false")

    def _policy(self, plan: CommandPlan) -> str:
        return kafel_policy(self._host.machine, unwatched(plan))


def _mounts(item: Item, most_bytes: int) -> Iterator[str]:
    match item:
        case Link(target, path):
            yield _mount(src=target, dst=path, is_symlink=True)
        case Shown():
            yield from _shown(item)
        case Text(path, b""):
            # One without content would not be made at all.
            yield _mount(src=_NULL, dst=path, is_bind=True, rw=False, nodev=False)
        case Text(path, content):
            yield _mount(src_content=os.fsdecode(content), dst=path)
        case Own(path, is_writable):
            yield _own(path, most_bytes // 4, is_writable=is_writable)
        case Hidden(path, is_folder=True):
            yield _mount(dst=path, fstype="tmpfs", options=_EMPTY, rw=False, is_dir=True)
        case Hidden(path):
            yield _covered(path)
        case Devices():
            for name in _DEVICES:
                device = f"/dev/{name}"
                yield _mount(src=device, dst=device, is_bind=True, rw=True, nodev=False)
            yield _own(SHM, most_bytes // 4, is_writable=True)
            fixed = {"rw": True, "is_dir": True, "nodev": False}
            yield _mount(dst="/dev/pts", fstype="devpts", options=_TERMINALS, **fixed)
            for path, target in _LINKS.items():
                yield _mount(src=target, dst=path, is_symlink=True)
        case Processes(hidden):
            yield _mount(dst="/proc", fstype="proc", rw=False, is_dir=True)
            yield from map(_covered, filter(os.path.exists, hidden))
        case _:
            # Folders are made for what is mounted in them.
            return


def _shown(item: Shown) -> Iterator[str]:
    """With every mount below it: nsjail makes none of them read-only by itself."""
    is_folder = Path(item.source).is_dir()
    fixed = {"is_bind": True, "rw": item.is_writable}
    yield _mount(src=item.source, dst=item.path, **fixed, is_dir=is_folder)
    if is_folder and not item.is_writable:
        for point in _mounts_below(item.source):
            below = Path(item.path, Path(point).relative_to(item.source))
            yield _mount(src=point, dst=str(below), **fixed, is_dir=os.path.isdir(point))  # noqa: PTH112


def _mounts_below(folder: str) -> Iterator[str]:
    """From the top down; one that another mount lies over is not there for anybody."""
    points = {each.point for each in read_mounts(HostView()) or ()} - {folder}
    yield from (
        each
        for each in sorted(points)
        if Path(each).is_relative_to(folder) and os.path.lexists(each)
    )


def _covered(path: str) -> str:
    """Of a file that is there. As for a folder, nsjail does not open it first, which may not be."""
    return _mount(src=_NULL, dst=path, is_bind=True, rw=False, is_dir=True)


def _own(path: str, most_bytes: int, *, is_writable: bool) -> str:
    mode = "0700" if is_writable else "0555"
    options = f"size={most_bytes},mode={mode}"
    return _mount(dst=path, fstype="tmpfs", options=options, rw=is_writable, is_dir=True)


def _mount(**fields: str | bool) -> str:
    said = " ".join(
        f"{name}: {str(value).lower() if isinstance(value, bool) else _quoted(value)}"
        for name, value in {"nodev": True, "nosuid": True, **fields}.items()
    )
    return f"mount {{ {said} }}"


def _quoted(text: str) -> str:
    """As its configuration has strings: each byte that is not a plain letter by its number."""
    plain = (chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in os.fsencode(text))
    return f'"{"".join(plain)}"'
