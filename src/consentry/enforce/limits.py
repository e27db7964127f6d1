"""Which mechanism holds each limit on this host, decided before anything starts.

A control group is taken where we may make one: it counts every process and the kernel acts by
itself. Where there is none, an rlimit is taken if it means the same, and else the watcher, which
sees samples. A limit that was asked for and that nothing can hold is listed, and then nothing runs.

Two limits are always there, asked for or not, because without them one run can take the host down:
the number of processes, and all but a part of the memory. Processes are always bounded by the
kernel as well, since a watcher that must share the processors with a fork bomb never gets to see
it. `RLIMIT_AS` is never set: it counts address space, of which many programs reserve far more than
they use, and each process alone.
"""

import os
import resource
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from consentry.base.canonical import Json
from consentry.base.values import dataclass, field, replace
from consentry.enforce.cgroups import RunGroup
from consentry.enforce.confinement import Limits
from consentry.enforce.facts import HostView
from consentry.enforce.groupplaces import Holds, Place, find_places
from consentry.enforce.ownership import ROOT_UID
from consentry.enforce.usage import Control
from consentry.enforce.violations import Truth
from consentry.enforce.watcher import can_watch
from consentry.surface.modes import LayerPlace, Writes

MOST_PROCESSES: Final = 1024
MOST_DESCRIPTORS: Final = 4096
LEAST_MEMORY_BYTES: Final = 16 << 20
"""What it takes to build a box and start a small program in it."""

# A part of the memory that no run gets, so that the host goes on working.
_KEPT_OF_MEMORY: Final = 4
_LOCKED_BYTES: Final = 8 << 20
_QUEUED_BYTES: Final = 800 << 10
# Since then RLIMIT_NPROC counts the processes of a user namespace apart from all others.
_NPROC_BY_NAMESPACE: Final = (5, 14)
# The first process of the box is the engine's own.
_OUR_PROCESSES: Final = 1

Rlimit = tuple[int, int, int]
"""The number of a resource, its soft and its hard limit."""


class Mechanism(StrEnum):
    """What holds a limit."""

    CGROUP_V2 = "cgroup-v2"
    CGROUP_V1 = "cgroup-v1"
    RLIMIT = "rlimit"
    TMPFS = "tmpfs-size"
    WATCHER = "watcher"
    SUPERVISOR = "supervisor"
    CONTAINER = "container"


@dataclass(frozen=True, slots=True)
class HeldControl:
    """One limit, what holds it, and who vouches for that; without a limit, what would hold one."""

    control: Control
    limit: float | None
    mechanism: Mechanism
    truth: Truth

    def to_json(self) -> dict[str, Json]:
        """As it stands in a run's record."""
        return {
            "control": self.control.value,
            "limit": self.limit,
            "mechanism": self.mechanism.value,
            "truth": self.truth.value,
        }


@dataclass(frozen=True, slots=True)
class UnheldControl:
    """A control that this host cannot hold, and why."""

    control: Control
    why: str

    def __str__(self) -> str:
        return f"{self.control}: {self.why}"


@dataclass(frozen=True, slots=True)
class LimitMeans:
    """What this host gives a caller to hold limits with."""

    places: tuple[Place, ...]
    can_watch: bool
    counts_box_alone: bool
    memory_bytes: int | None
    ceilings: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, view: HostView) -> "LimitMeans":
        """Read from the host; a group is proved only by making one."""
        return cls(
            places=find_places(view),
            can_watch=can_watch(str(view.at("/proc"))),
            counts_box_alone=view.uid != ROOT_UID and _kernel(view) >= _NPROC_BY_NAMESPACE,
            memory_bytes=_memory_of(view),
            ceilings={which: resource.getrlimit(which)[1] for which in _LOWERED},
        )

    def proved(self) -> "LimitMeans":
        """The same, less the places in which no group could be made and limited when it was tried."""
        return replace(self, places=tuple(place for place in self.places if _works(place)))


@dataclass(frozen=True, slots=True)
class LimitPlan:
    """What is set where, and what is reported of it; `unheld` is not empty: do not run."""

    controls: tuple[HeldControl, ...]
    unheld: tuple[UnheldControl, ...]
    rlimits: tuple[Rlimit, ...]
    places: tuple[Place, ...]
    layer_bytes: int

    @classmethod
    def of(
        cls,
        limits: Limits,
        means: LimitMeans,
        *,
        writes: Writes = Writes.LAYER,
        layer: LayerPlace = LayerPlace.MEMORY,
    ) -> "LimitPlan":
        """The plan for these limits; every control is either held or listed as unheld."""
        controls: list[HeldControl] = []
        unheld: list[UnheldControl] = []
        for control, limit, is_asked in _wanted(limits, means):
            holder = _holder(control, means, writes, layer)
            if isinstance(holder, UnheldControl):
                unheld += [holder] if is_asked else []
            elif limit is not None and limit < _LEAST[control]:
                unheld.append(UnheldControl(control, f"a box needs at least {_LEAST[control]}"))
            else:
                controls.append(HeldControl(control, limit, *holder))
        return cls(
            controls=tuple(controls),
            unheld=tuple(unheld),
            rlimits=tuple(_rlimits(controls, means)),
            places=means.places,
            layer_bytes=limits.written_bytes,
        )

    def limit(self, control: Control, *mechanisms: Mechanism) -> float | None:
        """The limit of a control if it is held by one of these, or by any when none is named."""
        for held in self.controls:
            if held.control is control and (not mechanisms or held.mechanism in mechanisms):
                return held.limit
        return None

    def unsafe_without(self, *controls: Control) -> "LimitPlan":
        """The same with some limits taken away, to show what they hold; for tests only."""
        left = tuple(held for held in self.controls if held.control not in controls)
        gone = {_RLIMIT_OF[control] for control in controls if control in _RLIMIT_OF}
        rlimits = tuple(each for each in self.rlimits if each[0] not in gone)
        size = _UNLIMITED_LAYER if Control.WRITTEN in controls else self.layer_bytes
        return replace(self, controls=left, rlimits=rlimits, layer_bytes=size)


_UNLIMITED_LAYER: Final = 1 << 30
_LEAST: Final = {
    Control.CPU: 1,
    Control.MEMORY: LEAST_MEMORY_BYTES,
    Control.PROCESSES: 1,
    Control.FILE: 0,
    Control.WRITTEN: 1 << 16,  # a size of 0 would be no limit
    Control.OUTPUT: 0,
    Control.WALL: 0,
    Control.DESCRIPTORS: 16,
}
_RLIMIT_OF: Final = {
    Control.CPU: resource.RLIMIT_CPU,
    Control.PROCESSES: resource.RLIMIT_NPROC,
    Control.FILE: resource.RLIMIT_FSIZE,
    Control.DESCRIPTORS: resource.RLIMIT_NOFILE,
}
_OF_LINUX: Final = {
    "RLIMIT_MSGQUEUE": _QUEUED_BYTES,
    # Whoever may run ahead of everybody else could stop the host from stopping it.
    "RLIMIT_NICE": 0,
    "RLIMIT_RTPRIO": 0,
}
_ALWAYS: Final = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_MEMLOCK: _LOCKED_BYTES,
    # Other systems do not have them; nothing of ours runs there under limits of its own.
    **{
        getattr(resource, name): most for name, most in _OF_LINUX.items() if hasattr(resource, name)
    },
}
_LOWERED: Final = (*_RLIMIT_OF.values(), *_ALWAYS)


def _works(place: Place) -> bool:
    try:
        group = RunGroup(
            [place],
            f"probe-{os.urandom(8).hex()}",
            memory_bytes=LEAST_MEMORY_BYTES if Holds.MEMORY in place.holds else None,
            processes=MOST_PROCESSES if Holds.PIDS in place.holds else None,
        )
    except OSError:
        return False
    return group.remove()


def _wanted(limits: Limits, means: LimitMeans) -> list[tuple[Control, float | None, bool]]:
    """Every control with its limit, and whether somebody asked for it."""
    memory = limits.memory_bytes
    if memory is None and means.memory_bytes is not None:
        memory = means.memory_bytes - means.memory_bytes // _KEPT_OF_MEMORY
    processes = MOST_PROCESSES if limits.processes is None else limits.processes
    asked: list[tuple[Control, float | None]] = [
        (Control.CPU, limits.cpu_seconds),
        (Control.FILE, limits.file_bytes),
        (Control.OUTPUT, limits.output_bytes),
        (Control.WALL, limits.wall_seconds),
    ]
    return [
        (Control.MEMORY, memory, limits.memory_bytes is not None),
        (Control.PROCESSES, processes, limits.processes is not None),
        (Control.WRITTEN, limits.written_bytes, limits.written_bytes != Limits().written_bytes),
        (Control.DESCRIPTORS, MOST_DESCRIPTORS, False),
        *((control, limit, limit is not None) for control, limit in asked),
    ]


def _holder(
    control: Control, means: LimitMeans, writes: Writes, layer: LayerPlace
) -> tuple[Mechanism, Truth] | UnheldControl:
    match control:
        case Control.MEMORY | Control.CPU | Control.PROCESSES:
            return _by_group(control, means) or _by_count(control, means)
        case Control.FILE | Control.DESCRIPTORS:
            return Mechanism.RLIMIT, Truth.KERNEL
        case Control.WRITTEN:
            if writes is Writes.LAYER:
                return _HOLDERS_OF_LAYERS[layer]
            return UnheldControl(control, "writes that reach the workspace at once have no quota")
        case Control.OUTPUT | Control.WALL:
            return Mechanism.SUPERVISOR, Truth.MEDIATED


_HOLDERS_OF_LAYERS: Final = {
    LayerPlace.MEMORY: (Mechanism.TMPFS, Truth.KERNEL),
    LayerPlace.DISK: (Mechanism.WATCHER, Truth.OBSERVED),
}
_HOLDS: Final = {
    Control.MEMORY: Holds.MEMORY,
    Control.CPU: Holds.TIME,
    Control.PROCESSES: Holds.PIDS,
}


def _by_group(control: Control, means: LimitMeans) -> tuple[Mechanism, Truth] | None:
    for place in means.places:
        if _HOLDS[control] in place.holds:
            return Mechanism(place.version.value), Truth.KERNEL
    return None


def _by_count(control: Control, means: LimitMeans) -> tuple[Mechanism, Truth] | UnheldControl:
    if control is Control.PROCESSES and means.counts_box_alone:
        return Mechanism.RLIMIT, Truth.KERNEL
    if means.can_watch:
        return Mechanism.WATCHER, Truth.OBSERVED
    why = "no control group may be made, and the kernel does not list the children of a process"
    return UnheldControl(control, why)


def _rlimits(controls: list[HeldControl], means: LimitMeans) -> list[Rlimit]:
    chosen = {which: (value, value) for which, value in _ALWAYS.items()}
    for held in controls:
        if held.limit is None:
            continue
        limit = int(held.limit)
        match held.control:
            case Control.CPU:
                # The first second over it asks, the next one kills; each process for itself.
                chosen[resource.RLIMIT_CPU] = (limit, limit + 1)
            case Control.PROCESSES if held.mechanism is Mechanism.RLIMIT:
                chosen[resource.RLIMIT_NPROC] = (limit + _OUR_PROCESSES, limit + _OUR_PROCESSES)
            case Control.PROCESSES if held.mechanism is Mechanism.WATCHER:
                # All boxes of this caller are one user's, and are counted together.
                together = max(limit, MOST_PROCESSES) + _OUR_PROCESSES
                chosen[resource.RLIMIT_NPROC] = (together, together)
            case Control.WRITTEN if held.mechanism is Mechanism.WATCHER:
                # No file is longer than all may be together: what one call can take is bounded.
                file = chosen.get(resource.RLIMIT_FSIZE, (limit, limit))[0]
                chosen[resource.RLIMIT_FSIZE] = (min(limit, file), min(limit, file))
            case Control.FILE if resource.RLIMIT_FSIZE in chosen:
                file = min(limit, chosen[resource.RLIMIT_FSIZE][0])
                chosen[resource.RLIMIT_FSIZE] = (file, file)
            case Control.FILE | Control.DESCRIPTORS:
                chosen[_RLIMIT_OF[held.control]] = (limit, limit)
            case _:
                pass
    return [
        (which, _lower(soft, means.ceilings.get(which)), _lower(hard, means.ceilings.get(which)))
        for which, (soft, hard) in chosen.items()
    ]


def _lower(value: int, ceiling: int | None) -> int:
    """A limit that we have ourselves cannot be raised."""
    return value if ceiling is None or ceiling == resource.RLIM_INFINITY else min(value, ceiling)


def _kernel(view: HostView) -> tuple[int, int]:
    release = view.read_word("/proc/sys/kernel/osrelease") or ""
    numbers = release.replace("-", ".").split(".")[:2]
    try:
        major, minor = map(int, numbers)
    except ValueError:
        return 0, 0
    return major, minor


def _memory_of(view: HostView) -> int | None:
    for line in (view.read("/proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemTotal":
            return int(rest.split()[0]) << 10
    return None
