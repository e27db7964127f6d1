"""What a confinement becomes in a container of a named image, and what of it cannot be held there.

The grants are bound to the tree as for every engine; the system around them is the image's. Nothing
of ours runs inside, so whatever is not held by a mount, a namespace, a group or the filter that the
daemon is told of is refused, by name. Pure but for looking at the caller's own files, with means that
every Unix has.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.engine import Control, Held, Lacking, NotEnforceable, Probe
from consentry.enforce.engines.boxplan import Folder, Hidden, Item, Own, Shown
from consentry.enforce.engines.container.namedimage import NamedImage
from consentry.enforce.engines.interface import Compiled
from consentry.enforce.engines.othersystems import LINUX
from consentry.enforce.limits import (
    LEAST_MEMORY_BYTES,
    MOST_DESCRIPTORS,
    MOST_PROCESSES,
    HeldControl,
    LimitPlan,
    Mechanism,
    UnheldControl,
)
from consentry.enforce.native.directplan import DirectPlan, compile_direct
from consentry.enforce.native.ending import LIMITED
from consentry.enforce.native.plangrants import Granted
from consentry.enforce.native.planner import Plan, require_rounding
from consentry.enforce.native.runtime import Runtime
from consentry.enforce.required import held_by_landlock, required_controls, untranslatable
from consentry.enforce.usage import Control as Limited
from consentry.enforce.violations import Truth
from consentry.surface.modes import Writes
from consentry.surface.protected import ProtectedRoots

HELD: Final = (
    Held(Control.READS, "the image's own files, and nothing of the host but the grants"),
    Held(Control.WRITES, "a read-only root and mounts; new names others obey can be made"),
    Held(Control.DENY_INSIDE, "mounts over the denied names"),
    Held(Control.NO_NETWORK, "a network namespace with nothing in it, and no named sockets"),
    Held(Control.ENVIRONMENT, "built from nothing, with the PATH of the image"),
    Held(Control.PROCESSES_APART, "a pid namespace"),
    Held(Control.SYSTEM_CALLS, "a seccomp filter of ours, of the calls that the daemon knows"),
    Held(Control.NO_NEW_POWERS, "no_new_privs, empty capability sets, seccomp"),
)
_LINUX: Final = "on Linux, the engine `native` does"
LACKS: Final = (
    Lacking(
        Control.PROGRAMS,
        "any program of the image can be started",
        f"let it start any with `--exec any`; {_LINUX}",
    ),
    Lacking(
        Control.LAYER,
        "a container writes to the host's own files, not to a layer",
        f"write at once, by a profile with `writes: direct`; {_LINUX}",
    ),
    Lacking(
        Control.WRITTEN,
        "what is written to the host has no quota",
        f"leave out the limit on what is written; {_LINUX}",
    ),
    Lacking(
        Control.FILES_READ,
        "which files are read is not watched",
        f"leave out `reads: exact`; {_LINUX}",
    ),
    Lacking(
        Control.DENIALS,
        "what is refused is not watched",
        f"leave out --attest and `denials: attested`; {_LINUX}",
    ),
)
_KEPT_OF_MEMORY: Final = 4
_OTHERS_MAY_WRITE: Final = 0o003
_UNTELLABLE: Final = frozenset("\n\r\0")


@dataclass(frozen=True, slots=True)
class NamedGround:
    """Who asks, and what the daemon can do."""

    engine: str
    uid: int
    home: Path | None
    protected: ProtectedRoots
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NamedPlan(Compiled):
    """A confinement for a container of one image."""

    image: NamedImage
    items: tuple[Item, ...]


def compile_named(
    wanted: Confinement, image: NamedImage, ground: NamedGround, shown: Probe | None
) -> NamedPlan:
    """The plan; raises `NotEnforceable` with all that is lacking. The probe itself has none yet."""
    if shown is not None and not shown.is_usable:
        raise NotEnforceable(ground.engine, shown.lacking[:1])
    granted = Granted.of(wanted, Runtime((), (), ()), ground.home, ground.protected)
    direct = _direct(wanted, granted, ground)
    plan = Plan(
        steps=(),
        landlock=None,
        filter=b"",
        layered=granted.layered,
        readable=granted.readable,
        runtime=granted.runtime,
        hidden=granted.hidden,
        places=granted.places,
        startable=None,
        grants=granted.grants,
        direct=direct,
        denied=granted.denied,
        home=None if ground.home is None else str(ground.home),
    )
    limits = limits_for(wanted.limits, ground.about)
    lacking = [
        *untranslatable(wanted),
        *held_by_landlock(plan),
        *_untold(wanted, image),
        *_spelled_otherwise(granted, direct),
        *(Lacking(LIMITED[each.control], each.why) for each in limits.unheld),
        *_closed_to_strangers(direct, ground.uid),
        *(() if shown is None else _lacking_for(wanted, plan, shown)),
    ]
    if lacking:
        # Of each control the first reason, which is the nearest to what was asked for.
        first = {each.control: each for each in reversed(lacking)}
        raise NotEnforceable(ground.engine, list(reversed(first.values())))
    require_rounding(ground.engine, wanted, plan)
    items = tuple(_items(wanted, granted, direct))
    return NamedPlan(wanted, plan, limits, image, items)


def _direct(wanted: Confinement, granted: Granted, ground: NamedGround) -> DirectPlan | None:
    if wanted.writes is not Writes.DIRECT:
        return None
    return compile_direct(
        ground.engine,
        granted.written,
        granted.denied,
        granted.hidden,
        wanted.workspace,
        ground.home,
        ground.uid,
    )


def _items(wanted: Confinement, granted: Granted, direct: DirectPlan | None) -> Iterator[Item]:
    for path, is_writable in granted.own:
        yield Own(path, is_writable)
    for root in granted.readable:
        yield Shown(str(root.path), str(root.path), root.identity, is_writable=False)
    if direct is not None:
        for each in direct.roots:
            path = str(each.root.path)
            yield Shown(path, path, each.root.identity, is_writable=True)
        for path in direct.kept:
            yield Shown(path, path, None, is_writable=False)
        for path in direct.doors:
            yield Hidden(path, is_folder=False)
    yield Folder(str(wanted.program.folder))
    for path in granted.hidden:
        yield Hidden(path, is_folder=Path(path).is_dir())


def require_uncovered(names: Iterable[str], plan: NamedPlan) -> None:
    """Raises where a grant lies over the program's place, and another file would be started."""
    places = [item.path for item in plan.items if isinstance(item, Shown | Own | Hidden)]
    for name in names:
        over = [each for each in (*places, *plan.image.volumes) if Path(name).is_relative_to(each)]
        if over:
            raise Refused(
                Code.PROGRAM_UNSTARTABLE,
                f"`{name}` of the image is covered by `{over[0]}`, which is given to the run",
                help_line="name another program of the image, or grant less",
            )


def require_same(items: Iterable[Item]) -> None:
    """Raises where something else is at a granted name than when the plan was made."""
    for item in items:
        if not isinstance(item, Shown) or item.identity is None:
            continue
        try:
            found = Path(item.source).lstat()
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != item.identity:
            message = f"`{item.source}` is not the file it was a moment ago, so nothing was started"
            raise Refused(Code.FILESYSTEM_RACE, message)


def limits_for(limits: Limits, about: Mapping[str, Any]) -> LimitPlan:
    """What holds each limit: the container's own group, limits of its processes, or we ourselves."""
    most = int(about.get("MemTotal") or 0)
    memory = limits.memory_bytes or (most - most // _KEPT_OF_MEMORY or None)
    processes = limits.processes or MOST_PROCESSES
    by_group, by_process = (Mechanism.CONTAINER, Truth.KERNEL), (Mechanism.RLIMIT, Truth.KERNEL)
    by_us = (Mechanism.SUPERVISOR, Truth.MEDIATED)
    controls = (
        HeldControl(Limited.MEMORY, memory, *by_group),
        HeldControl(Limited.PROCESSES, processes, *by_group),
        HeldControl(Limited.CPU, limits.cpu_seconds, Mechanism.WATCHER, Truth.OBSERVED),
        HeldControl(Limited.FILE, limits.file_bytes, *by_process),
        HeldControl(Limited.DESCRIPTORS, MOST_DESCRIPTORS, *by_process),
        HeldControl(Limited.OUTPUT, limits.output_bytes, *by_us),
        HeldControl(Limited.WALL, limits.wall_seconds, *by_us),
    )
    unheld: list[UnheldControl] = []
    if limits.written_bytes != Limits().written_bytes:
        why = "writes that reach the workspace at once have no quota"
        unheld.append(UnheldControl(Limited.WRITTEN, why))
    if limits.memory_bytes is not None and limits.memory_bytes < LEAST_MEMORY_BYTES:
        why = f"a box needs at least {LEAST_MEMORY_BYTES}"
        unheld.append(UnheldControl(Limited.MEMORY, why))
    elif not about.get("MemoryLimit"):
        unheld.append(UnheldControl(Limited.MEMORY, "the daemon cannot limit it"))
    if not about.get("PidsLimit"):
        unheld.append(UnheldControl(Limited.PROCESSES, "the daemon cannot limit it"))
    return LimitPlan(controls, tuple(unheld), (), (), limits.written_bytes)


def _untold(wanted: Confinement, image: NamedImage) -> Iterator[Lacking]:
    if image.machine is None:
        why = f"our filter is not written for the machine that `{image.name}` is for"
        yield Lacking(Control.SYSTEM_CALLS, why, "name an image for x86-64 or ARM64")
    for name, value in wanted.environment.items():
        if set(value) & _UNTELLABLE or not _is_text(value):
            why = f"the value of `{name}` is not one line of UTF-8, which is all docker can be told"
            yield Lacking(Control.ENVIRONMENT, why, f"leave out `--env {name}`")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _spelled_otherwise(granted: Granted, direct: DirectPlan | None) -> Iterator[Lacking]:
    """A mount covers one spelling of a name, where a file system may take several."""
    closed = () if direct is None else (*direct.kept, *direct.doors)
    if granted.denied or closed:
        for root in granted.shown:
            if root.is_folder and takes_any_case(root.path):
                why = f"`{root.path}` takes names in any case, and a mount covers only one spelling"
                yield Lacking(Control.DENY_INSIDE, why, "use a folder on a case-sensitive volume")
    if sys.platform != LINUX:
        # There an accent of its own and one that is part of a letter are the same name.
        for path in (*granted.hidden, *closed):
            if not path.isascii():
                why = f"`{path}` has letters that this system spells in two ways"
                yield Lacking(Control.DENY_INSIDE, why, "rename it, or move it out of the grant")


def takes_any_case(folder: Path) -> bool:
    """Whether the same file is found by its name in the other case; told by the folder's own name."""
    for each in (folder, *folder.parents):
        other = each.name.swapcase()
        if other != each.name:
            try:
                return os.path.samestat(each.stat(), each.with_name(other).stat())
            except OSError:
                return False
    return False


def _closed_to_strangers(direct: DirectPlan | None, uid: int) -> Iterator[Lacking]:
    if direct is None or uid != 0:
        return
    for each in direct.roots:
        if each.root.path.stat().st_mode & _OTHERS_MAY_WRITE != _OTHERS_MAY_WRITE:
            why = f"`{each.root.path}` is closed to the user that a root caller's program has"
            yield Lacking(Control.WRITES, why, "run it as the user who owns the folder")


def _lacking_for(wanted: Confinement, plan: Plan, shown: Probe) -> Iterator[Lacking]:
    held = {each.control for each in shown.held}
    known = {each.control: each for each in shown.lacking}
    for control in required_controls(wanted, plan):
        if control not in held:
            yield known.get(control) or Lacking(control, "it was not shown to hold here", _LINUX)
