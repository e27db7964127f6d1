"""Writes what one container is given, and says how it is to be made.

Everything is decided by the plan that all engines share; here it becomes files in the run's own folder
(the order and the code of the first process, small files of `/etc`, the sealed bytes), mounts, and the
words that start it.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.engines.boxplan import Copy, Hidden, Item, Own, Text, box_items, held_places
from consentry.enforce.engines.container.coverings import covered_programs
from consentry.enforce.engines.container.folder import (
    INTERPRETER,
    RunFolder,
    order_of,
    starting_words,
)
from consentry.enforce.engines.container.mounting import (
    CLOSED_BYTES,
    Bound,
    InMemory,
    Mounting,
    covered_in_system,
    mounting_of,
)
from consentry.enforce.engines.container.profile import profile_of
from consentry.enforce.engines.container.words import INSIDE, Container
from consentry.enforce.engines.interface import Compiled
from consentry.enforce.facts import HostView
from consentry.enforce.mounts import read_mounts
from consentry.enforce.native.planner import Host
from consentry.enforce.native.rights import EXECUTE, MAKE_NAMES, Handled
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.sealing import SealedFile
from consentry.enforce.usage import Control as Limited
from consentry.surface.dimensions import Level

OWN_PROCESSES: Final = 1
_TABLES: Final = ("/etc/passwd", "/etc/group")
_UMASK: Final = 0o022
_PREFIX: Final = os.path.realpath(sys.base_prefix)
_HOSTS_OWN: Final = "/usr"
# The run's own folders share what may be written: a half for /tmp, a quarter for each other.
_SHARES: Final = {"/tmp": 2}  # noqa: S108 - the box's own
_SHARE: Final = 4


@dataclass(frozen=True, slots=True)
class Makers:
    """What the engine decides of every container: its image, its user, the code of its first process."""

    image: str
    ids: tuple[int, int]
    rlimits: Mapping[str, int]
    code: bytes
    interpreter: str


@dataclass(frozen=True, slots=True)
class Given:
    """What one run's container is made from."""

    plan: Compiled
    sealed: Sequence[SealedFile]
    host: Host
    has_input: bool
    has_terminal: bool

    @property
    def runs_any(self) -> bool:
        """Whether any program may be started."""
        return self.plan.wanted.surface.proc_exec.level is Level.ANY

    @property
    def filter(self) -> FilterWish:
        """What of the filter depends on the run."""
        return FilterWish(
            observed=False,
            memory_files=self.runs_any,
            # A bound folder may have sockets in it that somebody outside listens on.
            named_sockets=False,
            lends_identity=self.plan.plan.direct is None,
        )


def container_for(given: Given, makers: Makers, folder: RunFolder) -> Container:
    """Writes the files into the folder; raises where a granted place is another one by now."""
    plan = given.plan
    mounting = _mounting(given, makers, folder)
    folder.write("order", order_of(_order(given, mounting)), 0o444)
    folder.write("alive", b"", 0o444)
    folder.give_report(given.host.inner[0])
    profile = json.dumps(profile_of(given.host.machine, given.filter)).encode()
    bound = {each.path: each for each in _of_first_process(makers, folder)}
    bound |= {each.path: each for each in mounting.bound}
    in_memory = {each.path: each for each in (*_beside_interpreter(), *covered_in_system())}
    in_memory |= {each.path: each for each in mounting.in_memory}
    memory = plan.limits.limit(Limited.MEMORY)
    processes = plan.limits.limit(Limited.PROCESSES)
    return Container(
        name=folder.path.name,
        owner=str(os.getpid()),
        image=makers.image,
        user=f"{makers.ids[0]}:{makers.ids[1]}",
        profile=folder.share(profile, 0o600),
        bound=tuple(bound.values()),
        in_memory=tuple(each for path, each in in_memory.items() if path not in bound),
        shared_bytes=max(1, plan.wanted.limits.written_bytes // _SHARE),
        memory_bytes=None if memory is None else int(memory),
        processes=None if processes is None else int(processes) + OWN_PROCESSES,
        rlimits=tuple(makers.rlimits.items()),
        words=starting_words(INSIDE),
        environment=(("PYTHONHOME", _PREFIX),),
        has_input=given.has_input,
        has_terminal=given.has_terminal,
    )


def _mounting(given: Given, makers: Makers, folder: RunFolder) -> Mounting:
    items = tuple(_with_ids(box_items(given.plan.plan), given.host.inner, makers.ids))
    for descriptor in held_places(items).values():
        os.close(descriptor)
    program = given.plan.wanted.program
    allowed = (*program.copies, *program.startable)
    covers = () if given.runs_any else tuple(covered_programs(allowed, folder.path))
    files = _written(items, given.sealed, folder)
    sizes = _own_sizes(items, given.plan.wanted.limits.written_bytes)
    return mounting_of(items, files, sizes, read_mounts(HostView()) or (), covers)


def _of_first_process(makers: Makers, folder: RunFolder) -> Iterator[Bound]:
    """Its interpreter, with the library of it where that is not the host's, and its own files."""
    if _PREFIX != _HOSTS_OWN:
        yield Bound(_PREFIX, _PREFIX)
    yield Bound(makers.interpreter, f"{INSIDE}/{INTERPRETER}")
    yield Bound(folder.share(makers.code, 0o444), f"{INSIDE}/start")
    for name in ("order", "alive"):
        yield Bound(str(folder.path / name), f"{INSIDE}/{name}")
    yield Bound(str(folder.path / "report"), f"{INSIDE}/report", is_writable=True)


def _beside_interpreter() -> Iterator[InMemory]:
    """The programs there, where it is not the host's."""
    programs = Path(_PREFIX, "bin")
    if _PREFIX != _HOSTS_OWN and programs.is_dir():
        yield InMemory(str(programs), CLOSED_BYTES, 0o555, is_writable=False)


def _order(given: Given, mounting: Mounting) -> dict[str, object]:
    wanted, limits = given.plan.wanted, given.plan.limits
    return {
        "program": str(wanted.program.path),
        "argv": list(wanted.program.words),
        "env": dict(wanted.environment),
        "cwd": str(wanted.program.folder),
        "umask": _UMASK,
        "terminal": given.has_terminal,
        "links": list(mounting.links),
        "rlimits": list(limits.rlimits),
        "cpu_seconds": limits.limit(Limited.CPU),
        "landlock": _rules(given),
        "filter": compile_filter(given.host.machine, given.filter),
    }


def _rules(given: Given) -> Mapping[str, object] | None:
    """As the native engine has them; what is written at once, new names too, is the program's."""
    rules, direct = given.plan.plan.landlock, given.plan.plan.direct
    if rules is None or direct is None:
        return rules
    rights = MAKE_NAMES | EXECUTE if given.runs_any else MAKE_NAMES
    added = Handled.by(given.host.landlock_abi).on(rights, folder=True)
    roots = {str(each.root.path) for each in direct.roots}
    paths = [(path, has | added if path in roots else has) for path, has in rules["paths"]]
    return {**rules, "paths": paths}


def _with_ids(
    items: Iterable[Item], known: tuple[int, int], ids: tuple[int, int]
) -> Iterator[Item]:
    """The tables of users and groups, with the numbers that they have inside."""
    numbers = dict(zip(known, ids, strict=True))
    for item in items:
        if isinstance(item, Text) and item.path in _TABLES:
            fields = item.content.decode().split(":")
            told = (str(numbers.get(int(f), f)) if f.isdigit() else f for f in fields)
            yield Text(item.path, ":".join(told).encode())
        else:
            yield item


def _written(
    items: Sequence[Item], sealed: Sequence[SealedFile], folder: RunFolder
) -> dict[str, str]:
    """The files that are made for the box, by the path they have in it."""
    files: dict[str, str] = {}
    for number, item in enumerate(items):
        match item:
            case Text(path, content):
                files[path] = folder.share(content, 0o444)
            case Copy(index, path):
                files[path] = folder.copy(f"copy{number}", sealed[index].descriptor, 0o555)
            case Hidden(path, False):
                files[path] = folder.share(b"", 0)
            case _:
                pass
    return files


def _own_sizes(items: Sequence[Item], most: int) -> dict[str, int]:
    paths = [item.path for item in items if isinstance(item, Own)]
    return {path: max(1, most * _SHARES.get(path, 1) // _SHARE) for path in paths}
