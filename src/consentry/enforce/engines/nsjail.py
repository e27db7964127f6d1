"""The engine `nsjail`: told of the same box as the native engine's, in a configuration of its own kind.

The configuration is handed over in a file in memory, so that no list of processes shows it. Its filter
on system calls is written in its policy language, from the same list as ours. It can place no private
copy of a program, and the program is the first process of its box. Where the program `nsjail` is not
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
from consentry.enforce.engines.boxcommand import BoxCommandEngine, Prepared, unplaceable
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
from consentry.enforce.engines.commandengine import CommandPlan
from consentry.enforce.native.plangrants import SHM
from consentry.enforce.native.seccompfilter import FAMILIES, REFUSED
from consentry.enforce.native.syscallnumbers import NUMBERS
from consentry.enforce.process import Command, GivenFiles, children_of

_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
_NAMESPACE_BITS: Final = 0x7E020000
_TERMINAL_REQUESTS: Final = (0x5412, 0x541C)
_UNIX: Final = 1
_NULL: Final = "/dev/null"
_PLAIN: Final = f"{string.ascii_letters}{string.digits}/._-=+:, ".encode()
_NO_BOX: Final = 255
_EMPTY: Final = "size=4096,nr_inodes=1,mode=0"
_AS_WE_ARE: Final = ("as", "core", "cpu", "fsize", "nofile", "nproc", "stack")


class Nsjail(BoxCommandEngine):
    """Drives nsjail."""

    name = "nsjail"
    program = "nsjail"
    otherwise = MappingProxyType({Control.SYSTEM_CALLS: "a seccomp policy"})

    def refusals(self, plan: CommandPlan) -> Iterator[Lacking]:
        """Bytes that it cannot place."""
        yield from unplaceable(plan)

    def prepared(
        self,
        plan: CommandPlan,
        sealed: Sequence[object],  # noqa: ARG002 - refused before
        streams: tuple[int, ...],
        ends: ExitStack,
        *,
        has_terminal: bool,  # noqa: ARG002 - it makes a session, and takes no terminal for it
    ) -> Prepared:
        """What was looked at is looked at once more; nsjail opens it by its path a little later."""
        items = tuple(box_items(plan.plan))
        for descriptor in held_places(items).values():
            os.close(descriptor)
        files = GivenFiles(ends)
        text = "\n".join(self.configuration(plan, items)) + "\n"
        number = files.of(os.fsencode(text))
        words = (self.program_path(), "--really_quiet", "--config", f"/proc/self/fd/{number}")
        return Prepared(Command(words, {}, streams, tuple(files.all), outlives=True), _Signs())

    def configuration(self, plan: CommandPlan, items: Sequence[Item]) -> Iterator[str]:
        """The whole box, a line for each thing in it."""
        wanted = plan.wanted
        uid, gid = self._host.inner
        yield from ("mode: ONCE", "time_limit: 0", 'hostname: "box"', "keep_env: false")
        yield f"cwd: {_quoted(str(wanted.program.folder))}"
        for name, value in wanted.environment.items():
            yield f"envar: {_quoted(f'{name}={value}')}"
        # Set before it starts, and inherited: its own would be others.
        yield from (f"rlimit_{name}_type: SOFT" for name in _AS_WE_ARE)
        yield f'uidmap {{ inside_id: "{uid}" outside_id: "{self._host.uid}" count: 1 }}'
        yield f'gidmap {{ inside_id: "{gid}" outside_id: "{self._host.gid}" count: 1 }}'
        yield "iface_no_lo: false"
        yield "mount_proc: false"
        for item in items:
            yield from _mounts(item, plan.limits.layer_bytes)
        yield f"seccomp_string: {_quoted(_policy(self._host.machine))}"
        words = " ".join(f"arg: {_quoted(word)}" for word in wanted.program.words[1:])
        program = (
            f"path: {_quoted(str(wanted.program.path))} arg0: {_quoted(wanted.program.words[0])}"
        )
        yield f"exec_bin {{ {program} {words} }}"


def _mounts(item: Item, most_bytes: int) -> Iterator[str]:
    match item:
        case Link(target, path):
            yield _mount(src=target, dst=path, is_symlink=True)
        case Shown(source, path, _, is_writable):
            is_folder = Path(source).is_dir()
            yield _mount(src=source, dst=path, is_bind=True, rw=is_writable, is_dir=is_folder)
        case Text(path, content):
            yield _mount(src_content=os.fsdecode(content), dst=path)
        case Own(path, is_writable):
            yield _own(path, most_bytes // 4, is_writable=is_writable)
        case Hidden(path, is_folder=True):
            yield _mount(dst=path, fstype="tmpfs", options=_EMPTY, rw=False, is_dir=True)
        case Hidden(path):
            yield _mount(src=_NULL, dst=path, is_bind=True, rw=False)
        case Devices():
            for name in _DEVICES:
                yield _mount(src=f"/dev/{name}", dst=f"/dev/{name}", is_bind=True, rw=True)
            yield _own(SHM, most_bytes // 4, is_writable=True)
        case Processes(hidden):
            yield _mount(dst="/proc", fstype="proc", rw=False, is_dir=True)
            for path in filter(os.path.exists, hidden):
                yield _mount(src=_NULL, dst=path, is_bind=True, rw=False)
        case _:
            # Folders are made for what is mounted in them.
            return


def _own(path: str, most_bytes: int, *, is_writable: bool) -> str:
    mode = "0700" if is_writable else "0555"
    options = f"size={most_bytes},mode={mode}"
    return _mount(dst=path, fstype="tmpfs", options=options, rw=is_writable, is_dir=True)


def _mount(**fields: str | bool) -> str:
    said = " ".join(
        f"{name}: {str(value).lower() if isinstance(value, bool) else _quoted(value)}"
        for name, value in fields.items()
    )
    return f"mount {{ {said} nosuid: true }}"


def _quoted(text: str) -> str:
    """As its configuration has strings: each byte that is not a plain letter by its number."""
    plain = (chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in os.fsencode(text))
    return f'"{"".join(plain)}"'


def _policy(machine: str) -> str:
    """Our list in its language; what has no name there has its number."""
    numbers = NUMBERS[machine]
    refused = ", ".join(f"SYSCALL[{numbers[name]}]" for name in REFUSED if name in numbers)
    families = " || ".join(f"domain == {each}" for each in FAMILIES if each != _UNIX)
    requests = " || ".join(f"cmd == {each}" for each in _TERMINAL_REQUESTS)
    return (
        f"POLICY box {{ ERRNO(1) {{ {refused}, "
        f"clone {{ (clone_flags & {_NAMESPACE_BITS}) != 0 }}, "
        f"ioctl {{ {requests} }}, socket(domain) {{ !({families}) }} }}, "
        f"ERRNO(38) {{ SYSCALL[{numbers['clone3']}] }} }} USE box DEFAULT ALLOW"
    )


class _Signs:
    """The program is the first process of the box, and leads its group."""

    def first_process(self, command: int) -> int | None:
        """The only child of nsjail."""
        return next(iter(children_of(command)), None)

    def group_leader(self, command: int) -> int | None:
        """The same."""
        return self.first_process(command)

    def problem(self, status: int) -> tuple[str, int, str] | None:
        """It ends with 255 where it could make no box."""
        return ("failed", 0, "nsjail") if status == _NO_BOX else None

    def close(self) -> None:
        """There is nothing to let go of."""
