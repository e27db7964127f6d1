"""Compiles a confinement for the native engine: a flat list of steps, rights and a filter.

Everything that needs a decision is decided here, outside and before the box exists; what runs
inside only carries it out. A control that this host cannot hold is reported, and then nothing runs.
"""

from pathlib import Path
from typing import Any, Final

from consentry.base.values import dataclass
from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.ports import ways_of
from consentry.enforce.engine import Lacking, NotEnforceable
from consentry.enforce.native.directplan import DirectPlan, compile_direct
from consentry.enforce.native.otherids import FIRST
from consentry.enforce.native.plangrants import Granted
from consentry.enforce.native.planparts import (
    Layered,
    Rule,
    bind_steps,
    home_steps,
    layer_steps,
    program_rules,
    program_steps,
)
from consentry.enforce.native.readgrants import ReadGrants
from consentry.enforce.native.rights import (
    READ,
    Handled,
)
from consentry.enforce.native.runtime import PROGRAM_FOLDERS, Runtime, Step, runtime_of
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.native.visibleplan import backdrop_steps
from consentry.enforce.roots import Root, is_own
from consentry.surface.dimensions import Level
from consentry.surface.modes import LayerPlace, Rounding, View, Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import ProtectedRoots

ENGINE: Final = "native"


@dataclass(frozen=True, slots=True)
class Host:
    """What the planner must know of the host and the caller."""

    uid: int
    gid: int
    machine: str
    landlock_abi: int
    home: Path | None
    protected: ProtectedRoots
    behind_root: int = FIRST
    """The host's user and group that a root caller's program runs as: nobody has this number."""

    @property
    def inner(self) -> tuple[int, int]:
        """The ids that the program has, which are its ids on the host as well."""
        return (self.behind_root,) * 2 if self.uid == 0 else (self.uid, self.gid)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the launcher is told, and what the caller must know to read the outcome."""

    steps: tuple[Step, ...]
    landlock: dict[str, Any] | None
    filter: bytes
    layered: tuple[Layered, ...]
    readable: tuple[Root, ...]
    runtime: Runtime
    hidden: tuple[str, ...]
    places: tuple[tuple[str, bool], ...]
    startable: frozenset[str] | None
    grants: ReadGrants
    direct: DirectPlan | None = None
    makes: dict[str, Any] | None = None
    denied: tuple[Pattern, ...] = ()
    home: str | None = None
    legible: tuple[str, ...] | None = None
    alike: int = 0
    """So many of the first steps are the same for every run of the same kind; with none, the whole
    plan is for one run only."""

    has_own_tree: bool = True
    """Whether the names of the run's own folders mean those, and not the host's."""

    listed: frozenset[str] = frozenset()
    """Folders of which the names can be listed, and no more."""

    workspace: str | None = None
    """Where it lies below one of the run's own folders: what is not granted of it is lost inside."""

    ways: tuple[int, ...] = ()
    """The ports on which the proxy hears the box's programs."""

    exact: dict[str, Any] | None = None
    """Where the program may not read files by itself: who may, and at which places."""

    def may_read(self, path: str) -> bool:
        """Whether what is there may be opened; where only grants are there, all of it may."""
        return (
            self.legible is None
            or path in self.listed
            or any(_is_below(path, each) for each in self.legible)
        )

    def may_write(self, path: str) -> bool:
        """Whether what is mounted there can be written: the innermost place decides."""
        within = [place for place in self.places if _is_below(path, place[0])]
        # At the same place a root may be shown and, once more, be writable.
        return max(within, key=lambda place: (len(place[0]), place[1]), default=("", False))[1]

    def may_start(self, path: str) -> bool:
        """Whether a program may be executed, as far as its path decides."""
        return self.startable is None or path in self.startable


def compile_plan(wanted: Confinement, host: Host, *, memory_files: bool = True) -> Plan:
    """The plan; raises where a part of it may not be granted.

    Files in memory are refused to whoever may not start any program, and with `memory_files` false
    to everybody.
    """
    runtime = runtime_of(host.protected, wanted.program.prefixes, *host.inner)
    granted = Granted.of(wanted, runtime, host.home, host.protected)
    grants, hidden, denied = granted.grants, granted.hidden, granted.denied
    is_direct = wanted.writes is Writes.DIRECT
    direct = None
    if is_direct:
        direct = compile_direct(
            ENGINE, granted.written, denied, hidden, wanted.workspace, host.home, host.uid
        )
    programs = (*wanted.program.copies, *wanted.program.startable)
    runs_any = wanted.surface.proc_exec.level is Level.ANY
    is_visible = wanted.view is View.VISIBLE
    steps: list[Step] = []
    if is_visible:
        needed = (
            *(root.path for root in (*granted.shown, *granted.writes)),
            *wanted.program.copies,
            *wanted.program.prefixes,
            wanted.program.folder,
        )
        rows = (*host.protected.never_granted, *host.protected.bound)
        steps += backdrop_steps(wanted, runtime, needed, host.home, rows, as_stranger=host.uid == 0)
    steps += runtime.steps
    steps += [
        ("again", path, ("ro", "nosuid", "nodev", "noexec"))
        for path in (() if runs_any else PROGRAM_FOLDERS)
        if Path(path).is_dir()
    ]
    steps += granted.own_steps()
    steps += runtime.prefix_steps
    # What is hidden in the host's own tree may be another thing a moment later.
    alike = 0 if is_visible else len(steps)
    steps += bind_steps(granted.readable)
    steps += layer_steps(granted.layered, runs_any=runs_any)
    steps += direct.steps(runs_any=runs_any) if direct is not None else ()
    steps += home_steps(granted.shown, host.home)
    steps.append(("dir", str(wanted.program.folder)))
    steps += granted.hiding_steps()
    steps += program_steps(wanted, runs_any=runs_any)
    apart = str(wanted.workspace) if is_own(wanted.workspace) else None
    handled = Handled.by(host.landlock_abi)
    rules: list[Rule] = [
        *granted.rules(handled, runs_any=runs_any, names_all=not is_visible),
        *(direct.rules(handled, runs_any=runs_any) if direct is not None else ()),
        *program_rules(wanted, handled),
    ]
    return Plan(
        steps=tuple(steps),
        ways=ways_of(wanted.surface.net_access, holds=wanted.holds),
        alike=alike,
        landlock=ruleset(
            handled, host.landlock_abi, rules, tuple(grants.rules(handled, runs_any=runs_any))
        ),
        filter=compile_filter(
            host.machine,
            FilterWish(
                memory_files=runs_any and memory_files,
                lends_identity=not is_direct and not wanted.holds,
                preallocates=wanted.layer is LayerPlace.MEMORY,
                named_sockets=not is_direct,
            ),
        ),
        layered=granted.layered,
        readable=granted.readable,
        runtime=runtime,
        hidden=hidden,
        places=granted.places if apart is None else (*granted.places, (apart, False)),
        workspace=apart,
        startable=None if runs_any else frozenset(map(str, programs)),
        grants=grants,
        direct=direct,
        makes=None if direct is None else direct.told(handled, host.landlock_abi, hidden),
        denied=denied,
        home=None if host.home is None else str(host.home),
        legible=tuple(path for path, rights in rules if rights & READ) if is_visible else None,
    )


def require_rounding(engine: str, wanted: Confinement, plan: Plan) -> None:
    """Raises where patterns are to be held exactly and one of them is not."""
    if wanted.rounding is Rounding.EXACT and plan.grants.rounded:
        raise NotEnforceable(
            engine, [Lacking(each.control, str(each)) for each in plan.grants.rounded]
        )


def ruleset(
    handled: Handled, abi: int, rules: list[Rule], picked: tuple[Rule, ...] = ()
) -> dict[str, Any] | None:
    """What the box is told of Landlock; `picked` are places where no link is followed."""
    if abi == 0:
        return None
    # One rule a place: later rules add to earlier ones, and each costs a descriptor.
    together: dict[str, int] = {}
    for path, rights in rules:
        together[path] = together.get(path, 0) | rights
    return {
        "abi": abi,
        "fs": handled.fs,
        "net": 0,
        "scoped": handled.scoped,
        "flags": handled.flags,
        "paths": list(together.items()),
        "picked": picked,
    }


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
