"""The engine `firejail`: a set-user-id program that closes the host's tree around what is granted.

It does not build a root, it takes away: each name at the top of the host's tree is hidden, but for the
folders that lead to a grant, of which only the grants are left. Files are told to it by path, so a path
with a character that means something to it is refused, and it can place no private copy of a program.
Its filter on system calls is its own and knows no arguments. What of all this holds, attacks say.

The program and its words reach the box in a file in memory, because firejail takes few and short ones.
"""

import os
import pwd
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Final

from consentry.enforce.engine import Control, Lacking
from consentry.enforce.engines.boxcommand import BoxCommandEngine, Prepared, unplaceable
from consentry.enforce.engines.boxplan import (
    Hidden,
    Item,
    Own,
    Shown,
    box_items,
    held_places,
)
from consentry.enforce.engines.boxscript import SHELL, BoxScript, Stays, misread
from consentry.enforce.engines.commandengine import CommandPlan
from consentry.enforce.native.probe import Trial, nothing_held
from consentry.enforce.native.runtime import HOME
from consentry.enforce.process import Command, GivenFiles

_AS_ROOT: Final = "it makes no user namespace for root, whose program would be root on the host"
_AS_NOBODY: Final = (
    "the list of users has no home folder for this user, without which it starts nothing"
)
_REFUSED: Final = (
    "clone3:ENOSYS", "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "bpf",
    "perf_event_open", "keyctl", "add_key", "request_key", "unshare", "setns", "mount", "umount2",
    "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "move_mount",
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "name_to_handle_at",
    "open_by_handle_at", "quotactl", "fanotify_init", "move_pages", "migrate_pages",
)  # fmt: skip
_ALWAYS: Final = (
    "--quiet", "--noprofile", "--private-tmp", "--private-dev", "--private", "--net=none",
    "--caps.drop=all", "--nonewprivs", "--noroot", "--nogroups", "--ipc-namespace",
    "--dbus-user=none", "--dbus-system=none", "--restrict-namespaces", "--protocol=inet,inet6",
    "--seccomp.block-secondary", "--hostname=box", "--deterministic-exit-code",
    "--deterministic-shutdown", "--blacklist=/sys", "--machine-id", "--nosound", "--noinput",
    "--keep-var-tmp", "--blacklist=/dev/ptmx", "--blacklist=/dev/pts",
)  # fmt: skip
# What firejail itself makes anew, or what every program needs and is read-only there.
_MADE_ANEW: Final = ("dev", "proc", "tmp", "etc", "sys")
_EMPTIED: Final = ("dev", "proc", "tmp", "sys", "home", "root")
_KEPT: Final = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_RUN: Final = Path("/run")
_MOST_WORD: Final = 4096
_MOST_WORDS: Final = 120
_MEANT: Final = frozenset("\"'*?[]{}<>|&;$`\\!#~, \t\n")


class Firejail(BoxCommandEngine):
    """Drives firejail."""

    name = "firejail"
    program = "firejail"
    otherwise = MappingProxyType(
        {
            Control.READS: "the top of the host's tree hidden, only the grants whitelisted",
            Control.SYSTEM_CALLS: "firejail's seccomp filters, no terminals but the one it is given",
        }
    )
    own_processes = 3

    def try_out(self) -> Trial:
        """As of any other; for root it is of no use, nor for a user that no list names."""
        why = _AS_ROOT if self._host.uid == 0 else _AS_NOBODY
        if self._host.uid == 0 or not _has_account(self._host.uid):
            help_line = "use the engine `native`, or run as an ordinary user"
            return Trial(nothing_held(self.name, why, help_line))
        return super().try_out()

    def refusals(self, plan: CommandPlan) -> Iterator[Lacking]:
        """Paths that it cannot be told, and bytes that it cannot place."""
        yield from unplaceable(plan)
        yield from misread(plan.wanted.program.path)
        items = tuple(box_items(plan.plan))
        for item in items:
            if isinstance(item, Shown) and item.identity is not None and _is_emptied(item.path):
                why = f"firejail puts an empty folder over `{item.path}`, so it would not be there"
                remedy = "use the engine `native`, or a folder elsewhere"
                yield Lacking(Control.READS, why, remedy)
        words = list(self._tree(plan, items))
        if len(words) > _MOST_WORDS:
            why = f"firejail takes {_MOST_WORDS} options, and {len(words)} would be needed"
            yield Lacking(Control.READS, why, "grant fewer folders")
        for word in words:
            told = word.partition("=")[2]
            is_list = word.startswith("--private-etc=")
            if len(word) > _MOST_WORD or (not is_list and _MEANT & set(told)):
                why = f"firejail cannot be told of `{told}`, which is too long or has an odd character"
                yield Lacking(Control.READS, why, "use the engine `native`, or rename it")

    def prepared(
        self,
        plan: CommandPlan,
        sealed: Sequence[object],  # noqa: ARG002 - refused before
        streams: tuple[int, ...],
        ends: ExitStack,
        *,
        has_terminal: bool,
    ) -> Prepared:
        """What was looked at is looked at once more; firejail opens it by its path a little later."""
        program = self.program_path()
        items = tuple(box_items(plan.plan))
        for descriptor in held_places(items).values():
            os.close(descriptor)
        files = GivenFiles(ends)
        variables = dict(plan.wanted.environment)
        if variables.get("HOME") == HOME:
            variables["HOME"] = str(_own_home())
        script = BoxScript.given(
            plan.wanted.program, variables, files, Stays.NOT, has_terminal=has_terminal
        )
        words = (
            program,
            *self._fixed(),
            f"--keep-fd={','.join(map(str, script.kept))}",
            *self._tree(plan, items),
            "--",
            *script.words,
        )
        environment = {"HOME": str(_own_home()), "SHELL": SHELL, "LANG": "C.UTF-8"}
        command = Command(words, environment, streams, tuple(files.all), outlives=True)
        return Prepared(command, script.signs)

    def _fixed(self) -> Iterator[str]:
        yield from _ALWAYS
        yield f"--seccomp={','.join(_REFUSED)}"

    def _tree(self, plan: CommandPlan, items: Sequence[Item]) -> Iterator[str]:
        """The host's tree with everything hidden but the grants."""
        shown = [item for item in items if isinstance(item, Shown) and not _is_kept(item.path)]
        yield f"--private-etc={','.join(_of_etc(items))}"
        tops = {Path(item.path).parts[1] for item in shown}
        for name in sorted(os.listdir("/")):  # noqa: PTH208 - names at the top
            if name not in (*_MADE_ANEW, *_KEPT, *tops, "home", "root", "run"):
                yield f"--blacklist=/{name}"
        if "run" not in tops:
            # Nothing in it is granted; firejail's own folder stays in any case.
            for each in _one_in_run():
                yield from (f"--whitelist={each}", f"--blacklist={each}")
        for place in shown:
            if Path(place.path).parts[1] not in _MADE_ANEW:
                yield f"--whitelist={place.path}"
                yield f"--read-{'write' if place.is_writable else 'only'}={place.path}"
        for item in items:
            if isinstance(item, Hidden):
                yield f"--blacklist={item.path}"
            elif isinstance(item, Own) and item.path != HOME and not item.is_writable:
                yield f"--read-only={item.path}"
        yield f"--private-cwd={plan.wanted.program.folder}"


def _is_kept(path: str) -> bool:
    return Path(path).parts[1] in _KEPT


def _is_emptied(path: str) -> bool:
    """Whether it lies in a home or another folder that each box of firejail has anew and empty."""
    return Path(path).is_relative_to(_own_home()) or Path(path).parts[1] in _EMPTIED


def _of_etc(items: Sequence[Item]) -> list[str]:
    """The names right below `/etc` that every program is shown."""
    found = [Path(item.path).parts for item in items if isinstance(item, Shown)]
    return sorted({parts[2] for parts in found if parts[:2] == ("/", "etc")}) or ["ld.so.cache"]


def _one_in_run() -> Iterator[Path]:
    """One folder that is left, so that firejail hides all others there, and is hidden then."""
    for name in ("lock", "user"):
        if (_RUN / name).is_dir():
            yield _RUN / name
            return


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _own_home() -> Path:
    """Where firejail puts an empty home folder: where the list of users has it."""
    return Path(pwd.getpwuid(os.getuid()).pw_dir)
