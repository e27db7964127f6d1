"""Compiles a confinement for a snippet: what its worker is made with, and what its run is told.

The worker gets the runtime, and the granted places out of every run's sight; a run puts them where
they belong. A snippet starts no program and writes nothing but folders of its own.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from consentry.enforce.confinement import Confinement
from consentry.enforce.native.planner import Host, Plan, ruleset
from consentry.enforce.native.planparts import (
    Rule,
    apart_from_layers,
    bind_steps,
    hidden_places,
    home_steps,
    own_folders,
    protected_patterns,
    read_rules,
)
from consentry.enforce.native.readgrants import ReadGrants, read_grants
from consentry.enforce.native.rights import DEVICES, READ, READ_DIR, WRITE, WRITE_FILE, Handled
from consentry.enforce.native.runtime import (
    HIDDEN_IN_PROC,
    HOME,
    Runtime,
    Step,
    identity_of,
    runtime_of,
)
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.native.worker import HELD
from consentry.enforce.roots import Root, bound_roots, is_own

OWN_BYTES: Final = 64 << 20

_SHM: Final = "/dev/shm"  # noqa: S108 - the box's own
_KEPT: Final = ("bind", "view")


@dataclass(frozen=True, slots=True)
class SnippetPlan:
    """What the worker is made with, what a run is told, and what its notes are read by."""

    worker: dict[str, Any]
    run: dict[str, Any]
    plan: Plan


def compile_snippet(wanted: Confinement, host: Host) -> SnippetPlan:
    """The plan; raises where a part of it may not be granted."""
    surface = wanted.surface
    inner = (0, 0) if host.uid == 0 else (host.uid, host.gid)
    reads = bound_roots(surface.fs_read_roots, wanted.workspace, host.home, host.protected)
    runtime = runtime_of(host.protected, _prefixes(), *inner)
    readable = tuple(apart_from_layers(reads, (), runtime))
    denied = (*wanted.denied, *protected_patterns(readable, host.protected))
    hidden = tuple(hidden_places(denied, readable, wanted.workspace, host.home))
    grants = read_grants(reads, (), (), runtime, hidden, ())
    own = own_folders(surface.fs_write_roots)
    shown = list(bind_steps(readable))
    folder = str(wanted.program.folder)
    plan = Plan(
        steps=tuple(_run_steps(own, shown, hidden, folder, readable, host.home)),
        landlock=_ruleset(host, runtime, own, grants),
        filter=compile_filter(host.machine, FilterWish(memory_files=False)),
        layered=(),
        readable=readable,
        runtime=runtime,
        hidden=hidden,
        places=(
            *own,
            ("/dev", True),
            ("/proc", True),
            *((str(root.path), False) for root in readable),
        ),
        startable=frozenset(),
        grants=grants,
        denied=denied,
        home=None if host.home is None else str(host.home),
    )
    run = {
        "ids": inner,
        "root": "",
        "steps": plan.steps,
        "umask": 0o022,
        "cwd": folder,
        "layer_bytes": OWN_BYTES,
        "landlock": plan.landlock,
        "filter": plan.filter,
        "listens": True,
    }
    return SnippetPlan(_worker(host, runtime, shown, folder), run, plan)


def _worker(host: Host, runtime: Runtime, shown: Sequence[Step], folder: str) -> dict[str, Any]:
    steps: list[Step] = [step for step in runtime.steps if step[0] != "proc"]
    steps += [("whole_proc",), ("dir", "/tmp"), ("dir", HOME), ("dir", HELD)]  # noqa: S108
    steps += runtime.prefix_steps
    for place, prefix in _covered_prefixes():
        bound = (str(prefix), place, ("ro", "nosuid", "nodev"), identity_of(prefix))
        steps += [("dir", place), ("bind", *bound)]
    # A run cannot make a place to put something in where the root is nobody's to write.
    steps += [step for step in shown if step[0] not in _KEPT]
    steps.append(("dir", folder))
    kept = [step for step in shown if step[0] in _KEPT]
    for number, step in enumerate(kept):
        steps.append(("dir" if step[0] == "view" else "empty", f"{HELD}/{number}"))
    return {
        "ids": host.inner,
        "steps": tuple(steps),
        "hostname": "box",
        "held": [
            (source, identity, how == "view", "idmap" in attributes)  # type: ignore[operator]
            for how, source, _, attributes, identity in kept
        ],
    }


def _run_steps(
    own: Sequence[tuple[str, bool]],
    shown: Sequence[Step],
    hidden: Sequence[str],
    folder: str,
    readable: Sequence[Root],
    home: Path | None,
) -> list[Step]:
    steps: list[Step] = [("proc", HIDDEN_IN_PROC), ("tmpfs", _SHM, OWN_BYTES, 0o1777, ("noexec",))]
    steps += [
        ("tmpfs", path, OWN_BYTES, 0o700 if is_writable else 0o555, ("noexec",))
        for path, is_writable in own
    ]
    for place, prefix in _covered_prefixes():
        steps += [("dir", str(prefix)), ("bind", place, str(prefix), (), None)]
        steps.append(("hide_folder", place))
    number = 0
    for step in shown:
        if step[0] in _KEPT:
            held = f"{HELD}/{number}"
            steps.append(("bind", held, step[2], ("ro", "nosuid", "nodev", "noexec"), None))
            number += 1
        else:
            steps.append(step)
    steps.append(("dir", folder))
    steps += home_steps(readable, home)
    steps += [("hide_folder" if Path(path).is_dir() else "hide_file", path) for path in hidden]
    steps.append(("hide_folder", HELD))
    return steps


def _ruleset(
    host: Host, runtime: Runtime, own: Sequence[tuple[str, bool]], grants: ReadGrants
) -> dict[str, Any] | None:
    handled = Handled.by(host.landlock_abi)
    rules: list[Rule] = [
        *((path, handled.on(READ, folder=Path(path).is_dir())) for path in runtime.roots),
        ("/", handled.on(READ_DIR, folder=True)),
        ("/proc", handled.on(READ | WRITE_FILE, folder=True)),
        ("/dev", handled.on(DEVICES, folder=True)),
        ("/etc", handled.on(READ, folder=True)),
        (_SHM, handled.on(WRITE, folder=True)),
        *((path, handled.on(WRITE if can else READ, folder=True)) for path, can in own),
        *read_rules(grants.open_roots, handled, runs_any=False),
        *grants.lists(handled),
    ]
    picked = tuple(grants.rules(handled, runs_any=False))
    return ruleset(handled, host.landlock_abi, rules, picked)


def _prefixes() -> tuple[Path, ...]:
    """Where this interpreter is installed, if not among the system's own."""
    found = {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    return tuple(sorted(path for path in found if not path.is_relative_to("/usr")))


def _covered_prefixes() -> list[tuple[str, Path]]:
    """Prefixes below a folder that every run gets anew, and where the worker keeps them."""
    covered = [path for path in _prefixes() if is_own(path)]
    return [(f"{HELD}-prefix-{number}", path) for number, path in enumerate(covered)]
