"""Compiles a confinement for a host without namespaces: rights and filters, and nothing mounted.

The program stands in the host's own tree. What it may read is said to Landlock place by place, and a
denied place is kept closed by granting everything around it and not what it lies in. What needs a
mount, a layer or a copy is listed with the reason, and then nothing runs.
"""

import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from consentry.base.values import replace
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, Held, Lacking
from consentry.enforce.facts import HostView
from consentry.enforce.native.openparts import Parts, parts_around
from consentry.enforce.native.otherids import one_behind_root
from consentry.enforce.native.planner import Host, Plan, ruleset
from consentry.enforce.native.planparts import (
    Rule,
    apart_from_layers,
    existing_places,
    hidden_places,
    own_folders,
    protected_patterns,
    read_rules,
)
from consentry.enforce.native.readgrants import ReadGrants, read_grants
from consentry.enforce.native.rights import DEVICES, EXECUTE, READ, READ_DIR, READ_FILE, WRITE
from consentry.enforce.native.rights import Handled as HandledRights
from consentry.enforce.native.runtime import PROGRAM_FOLDERS, identity_of, runtime_of
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.ownership import ROOT_UID, is_roots_alone
from consentry.enforce.patternfiles import Picked
from consentry.enforce.roots import Root, bound_roots
from consentry.enforce.violations import Truth
from consentry.enforce.watcher import can_watch
from consentry.surface.dimensions import Level
from consentry.surface.modes import Denials, Reads, View, Writes

HELD: Final = (
    Held(Control.READS, "Landlock; names, sizes and times can be looked up"),
    Held(Control.WRITES, "Landlock, and seccomp on modes, owners, times and marks"),
    Held(Control.DENY_INSIDE, "Landlock's rules on all that lies beside it"),
    Held(Control.NO_NETWORK, "seccomp refuses to make or connect sockets"),
    Held(Control.PROGRAMS, "Landlock, also on reading programs; no memory files"),
    Held(Control.ENVIRONMENT, "built from nothing"),
    Held(
        Control.PROCESSES_APART,
        "Landlock's scopes and rules, seccomp; that a number is in use can be looked up",
    ),
    Held(Control.SYSTEM_CALLS, "seccomp filters"),
    Held(Control.NO_NEW_POWERS, "no_new_privs, empty capability sets, seccomp"),
    Held(Control.FILES_READ, "a seccomp observer", Truth.OBSERVED),
    Held(Control.DENIALS, "a seccomp observer; a refused socket is not told of", Truth.OBSERVED),
)
"""What holds without namespaces, and by what."""

OWN_TMP, OWN_HOME = "own:tmp", "own:home"
"""Stand in a plan for the run's own folders, which are made when it is launched."""

PINNED: Final = (
    *(f"/proc/{name}" for name in ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat")),
    *(f"/proc/{name}" for name in ("uptime", "version")),
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/vm/overcommit_memory",
)
"""What of /proc tells of no process; nothing else of it can be opened."""

_DEVICES: Final = tuple(
    f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")
)
_HAS_SCOPES: Final = 6
_TCP: Final = 0b11
_PROGRAMS: Final = (*PROGRAM_FOLDERS, "/bin", "/sbin")
_VISIBLE: Final = "choose the view `visible` (--view visible)"


def lacking_here(wanted: Confinement, host: Host, why: str) -> Iterator[Lacking]:
    """What such a run cannot be held to; `why` there are no namespaces is a part of the reason."""
    if wanted.surface.net_access.level is not Level.NONE:
        yield Lacking(
            Control.NO_NETWORK, "without a network of its own a box cannot be led to the proxy"
        )
    if host.landlock_abi < _HAS_SCOPES:
        lack = f"Landlock ABI {host.landlock_abi} has no scopes for signals, and {why}"
        yield Lacking(Control.PROCESSES_APART, lack, "boot Linux 6.12 or newer")
    if not can_watch():
        lack = "the kernel does not list the children of a process, so one could be left behind"
        yield Lacking(Control.PROCESSES_APART, f"{lack}, and {why}")
    if wanted.view is View.PRIVATE:
        lack = f"the private view needs a root of its own, and {why}"
        yield Lacking(Control.READS, lack, _VISIBLE)
    yield from _unwritable(wanted, host, why)
    if wanted.reads is Reads.EXACT:
        lack = f"exact reads are made from inside a box, and {why}"
        yield Lacking(Control.FILES_READ, lack, "write `reads: observed`")
    if wanted.denials is Denials.ATTESTED:
        lack = f"denials are attested for boxes only, and {why}"
        yield Lacking(Control.DENIALS, lack, "leave out --attest; denials are then observed")
    if wanted.program.then:
        lack = f"several commands in order are started from inside a box, and {why}"
        yield Lacking(Control.PROGRAMS, lack, "give the tool an `entrypoint`")
    for path in wanted.program.copies:
        if not is_roots_alone(path):
            lack = f"`{path}` can be changed by others than root, so a copy is run, and {why}"
            yield Lacking(Control.PROGRAMS, lack, _instead_of(path, wanted))
    if host.uid == ROOT_UID:
        yield from _not_another(why)
        yield from _closed_to_others(wanted)


def _unwritable(wanted: Confinement, host: Host, why: str) -> Iterator[Lacking]:
    writes = bound_roots(wanted.surface.fs_write_roots, wanted.workspace, host.home, host.protected)
    remedy = "leave out what is to be written; the run's own TMPDIR and HOME can be"
    for root in writes:
        if wanted.writes is Writes.LAYER:
            lack = f"`{root.path}` is written through a layer, and {why}"
            yield Lacking(Control.LAYER, lack, remedy)
        else:
            lack = f"names in `{root.path}` that other programs obey are covered, and {why}"
            yield Lacking(Control.WRITES, lack, remedy)


def _instead_of(path: Path, wanted: Confinement) -> str:
    if path == wanted.program.path:
        return "start a program that only root may change"
    return f"give it on standard input, as in `{wanted.program.path.name} - < {path.name}`"


def _not_another(why: str) -> Iterator[Lacking]:
    if one_behind_root(HostView()) is None:
        lack = f"root's program is to be another user, of which this root has none, and {why}"
        yield Lacking(Control.NO_NEW_POWERS, lack, "run it as an ordinary user")


def _closed_to_others(wanted: Confinement) -> Iterator[Lacking]:
    """A root caller's program is another user, and nothing shows it root's files as its own."""
    places = dict.fromkeys((wanted.workspace, wanted.program.folder, *wanted.program.prefixes))
    for place in places:
        for folder in (place, *place.parents):
            if not folder.stat().st_mode & stat.S_IXOTH:
                lack = f"`{folder}` is closed to others than its owner, and root's program is one"
                yield Lacking(Control.READS, lack, "work in a folder that others may enter")
                break


def compile_bare(wanted: Confinement, host: Host, *, memory_files: bool = True) -> Plan:
    """The plan; its own folders are named by what stands for them."""
    surface = wanted.surface
    reads = bound_roots(surface.fs_read_roots, wanted.workspace, host.home, host.protected)
    runs_any = surface.proc_exec.level is Level.ANY
    runtime = runtime_of(host.protected, wanted.program.prefixes, *host.inner)
    programs_at = () if runs_any else tuple(map(Path, _PROGRAMS))
    provided = _provided(runtime.roots, programs_at)
    runtime = replace(runtime, roots=provided.all, steps=(), prefix_steps=())
    readable = tuple(apart_from_layers(reads, (), runtime))
    denied = (*wanted.denied, *protected_patterns(readable, host.protected))
    hidden = tuple(hidden_places(denied, readable, wanted.workspace, host.home))
    programs = (*wanted.program.copies, *wanted.program.startable)
    grants = read_grants(reads, (), (), runtime, hidden, programs)
    whole, parts = _around_hidden(grants, hidden, programs_at)
    own = dict(own_folders(surface.fs_write_roots))
    handled = HandledRights.by(host.landlock_abi)
    reading = READ | EXECUTE if runs_any else READ
    is_writable = any(own.values())
    rules: list[Rule] = [
        *((path, handled.on(reading, folder=Path(path).is_dir())) for path in provided.all),
        *((path, handled.on(READ_DIR, folder=True)) for path in (*provided.listed, *parts.listed)),
        *((path, handled.on(READ_FILE, folder=False)) for path in PINNED),
        *((path, handled.on(DEVICES, folder=False)) for path in _DEVICES),
        *(
            (path, handled.on(WRITE if is_writable else READ, folder=True))
            for path in (OWN_TMP, OWN_HOME)
        ),
    ]
    known = [*_known_roots(grants, whole, handled, runs_any=runs_any)]
    known += [
        (str(path), handled.on(READ | EXECUTE, folder=False), *identity_of(path))
        for path in programs
    ]
    picked = [(path, handled.on(reading, folder=False)) for path in parts.files]
    picked += [(path, handled.on(reading, folder=True)) for path in parts.folders]
    told = ruleset(handled, host.landlock_abi, rules, tuple(picked))
    return Plan(
        steps=(),
        landlock=None if told is None else {**told, "net": _TCP, "known": known},
        filter=compile_filter(
            host.machine,
            FilterWish(
                memory_files=runs_any and memory_files,
                families=(),
                named_sockets=False,
                lends_identity=False,
            ),
        ),
        layered=(),
        readable=readable,
        runtime=runtime,
        hidden=hidden,
        places=(
            *((path, True) for path in _DEVICES),
            *((path, is_writable) for path in (OWN_TMP, OWN_HOME)),
            *((str(root.path), False) for root in readable),
        ),
        startable=None if runs_any else frozenset(map(str, programs)),
        grants=replace(
            grants,
            whole=tuple(root for root in grants.whole if root in whole),
            picked=tuple(_picked([each.root for each in grants.picked], parts)),
            around=tuple(_picked([r for r in grants.whole if r not in whole], parts)),
        ),
        has_own_tree=False,
        denied=denied,
        home=None if host.home is None else str(host.home),
        legible=tuple(
            path
            for path, rights in (*rules, *picked, *(each[:2] for each in known))
            if rights & READ_FILE
        ),
        listed=frozenset((*provided.listed, *parts.listed)),
    )


def denied_above(plan: Plan, wanted: Confinement, home: Path | None) -> Iterator[Lacking]:
    """What is granted and denied by one and the same name, or by one above: nothing lies beside."""
    for place in existing_places(wanted.denied, wanted.workspace, home):
        for root in plan.readable:
            if root.path.is_relative_to(place):
                why = f"`{root.path}` is granted, and `{place}` is denied"
                yield Lacking(Control.DENY_INSIDE, why)


def placed_in(plan: Plan, tmp: str, home: str) -> Plan:
    """The plan with the run's own folders in it."""
    names = {OWN_TMP: tmp, OWN_HOME: home}
    told: dict[str, Any] | None = plan.landlock
    if told is not None:
        told = {
            **told,
            "paths": [(names.get(path, path), rights) for path, rights in told["paths"]],
        }
    return replace(
        plan,
        landlock=told,
        places=tuple((names.get(path, path), can) for path, can in plan.places),
        legible=tuple(names.get(path, path) for path in plan.legible or ()),
    )


def _provided(roots: Iterable[str], closed: Sequence[Path]) -> Parts:
    """The runtime, around the folders of programs: what can be read can be run by the loader."""
    found = Parts()
    for root in roots:
        if not any(Path(root).is_relative_to(each) for each in closed):
            found += parts_around(Path(root), closed)
    return found


def _around_hidden(
    grants: ReadGrants, hidden: Sequence[str], programs: Sequence[Path]
) -> tuple[tuple[Root, ...], Parts]:
    """The roots that are open as they are, and the open parts of all others.

    A root around the folders of programs does not open them; one of them that is named does.
    """
    closed = [Path(path) for path in hidden]
    whole: list[Root] = []
    parts = Parts()
    for root in grants.open_roots:
        inside = [path for path in (*closed, *programs) if root.path in path.parents]
        if inside:
            parts += parts_around(root.path, inside)
        else:
            whole.append(root)
    for each in grants.picked:
        parts += Parts(files=tuple(sorted(each.files)))
        for folder in each.folders:
            parts += parts_around(Path(folder), closed)
        within = [path for path in closed if path.is_relative_to(each.root.path)]
        if each.root.is_folder and not any(path.is_dir() for path in within):
            parts += Parts(listed=(str(each.root.path),))
    return tuple(whole), parts


def _known_roots(
    grants: ReadGrants, whole: Sequence[Root], handled: HandledRights, *, runs_any: bool
) -> Iterator[tuple[str, int, int, int]]:
    """Each root with its rights and what it was when the plan was made; one in parts has none."""
    rights = dict(read_rules(whole, handled, runs_any=runs_any))
    for root in (*grants.open_roots, *(each.root for each in grants.picked)):
        if root.identity is not None:
            yield (str(root.path), rights.get(str(root.path), 0), *root.identity)


def _picked(roots: Iterable[Root], parts: Parts) -> Iterator[Picked]:
    """Roots that are not open as they are, with what of each is."""
    for root in roots:
        below = str(root.path).rstrip("/") + "/"
        yield Picked(
            root,
            frozenset(path for path in parts.files if path.startswith(below)),
            tuple(path for path in parts.folders if path.startswith(below)),
        )
