"""Compiles a confinement for a snippet: what its worker is made with, and its copies with it.

The worker gets the runtime, and the granted places out of every run's sight; a copy puts them where
they belong. A snippet starts no program; what it writes besides folders of its own goes to a layer.
"""

import hashlib
import marshal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from consentry.base.values import dataclass
from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.ports import proxy_variables, ways_of
from consentry.enforce.native.plangrants import SHM, Granted
from consentry.enforce.native.planner import Host, Plan, ruleset
from consentry.enforce.native.planparts import (
    Layered,
    bind_steps,
    home_steps,
    layer_steps,
)
from consentry.enforce.native.rights import Handled
from consentry.enforce.native.runtime import (
    ENVIRONMENT,
    HIDDEN_IN_PROC,
    HOME,
    Runtime,
    Step,
    identity_of,
    runtime_of,
)
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.native.worker import HELD
from consentry.enforce.roots import Root, is_own

_STORE: Final = f"{HELD}/store"  # covered with the rest by the last step of a run
_RUN_ONLY: Final = ("ro", "nosuid", "nodev", "noexec")


@dataclass(frozen=True, slots=True)
class SnippetPlan:
    """What the worker and its copies are made with, and what their notes are read by.

    Plans with one key are the same to the last step, and share a worker.
    """

    worker: dict[str, Any]
    plan: Plan
    key: bytes


def compile_snippet(wanted: Confinement, host: Host) -> SnippetPlan:
    """The plan; raises where a part of it may not be granted."""
    inner = (0, 0) if host.uid == 0 else (host.uid, host.gid)
    runtime = runtime_of(host.protected, _prefixes(), *inner)
    granted = Granted.of(wanted, runtime, host.home, host.protected)
    layered, readable, grants = granted.layered, granted.readable, granted.grants
    attached = _Attached.of(layered, readable)
    folder = str(wanted.program.folder)
    access = wanted.surface.net_access
    plan = Plan(
        steps=(
            *_own_steps(granted),
            *attached.copy_steps,
            ("dir", folder),
            *home_steps(granted.shown, host.home),
            *granted.hiding_steps(),
            ("hide_folder", HELD),
        ),
        ways=ways_of(access, holds=wanted.holds),
        landlock=_ruleset(host, granted),
        filter=compile_filter(
            host.machine, FilterWish(memory_files=False, lends_identity=not wanted.holds)
        ),
        layered=layered,
        readable=readable,
        runtime=runtime,
        hidden=granted.hidden,
        places=granted.places,
        startable=frozenset(),
        grants=grants,
        denied=granted.denied,
        home=None if host.home is None else str(host.home),
    )
    run = {
        "ids": inner,
        "idmap": None,
        "root": "",
        "steps": plan.steps,
        "umask": 0o022,
        "cwd": folder,
        "store": _STORE,
        "layer_bytes": wanted.limits.written_bytes,
        "landlock": plan.landlock,
        "filter": plan.filter,
        "ways": plan.ways,
        "env": _beyond_the_workers(wanted.environment)
        | proxy_variables(access, wanted.any_host, holds=wanted.holds),
    }
    worker = {
        "ids": host.inner,
        "steps": (*_worker_steps(runtime), *attached.worker_steps, ("dir", folder)),
        "hostname": "box",
        "held": attached.held,
        "run": run,
        # Files that are held one by one were looked up when the copy was made.
        "ahead": not grants.picked,
        "passed_by": _passed_by(
            [*granted.reads, *granted.writes], [*granted.hidden, *attached.places]
        ),
    }
    return SnippetPlan(worker, plan, hashlib.sha256(marshal.dumps(worker)).digest())


@dataclass(frozen=True, slots=True)
class _Attached:
    """The granted places: how the worker holds them, and how a copy puts them where they belong."""

    held: tuple[tuple[str, tuple[int, int] | None, bool], ...]
    places: tuple[str, ...]
    worker_steps: tuple[Step, ...]
    copy_steps: tuple[Step, ...]

    @classmethod
    def of(cls, layered: Sequence[Layered], readable: Sequence[Root]) -> "_Attached":
        held: list[Any] = []
        places: list[str] = []
        inside: list[Step] = []
        copied: list[Step] = []

        def hold(source: object, identity: object, *, is_folder: bool, shown_as: bool) -> str:
            place = f"{HELD}/{len(held)}"
            held.append((source, identity, shown_as))
            inside.append(("dir" if is_folder else "empty", place))
            return place

        for step in (*bind_steps(readable), *layer_steps(layered, runs_any=False)):
            match step:
                case ("layer", None, path, attributes, _, folders):
                    copied.append(("layer", None, path, attributes, None, folders))
                    places.append(str(path))
                case ("layer", source, path, attributes, identity, folders):
                    place = hold(source, identity, is_folder=True, shown_as=True)
                    copied.append(("layer_held", place, path, attributes, folders))
                    places.append(str(path))
                case ("view" | "bind" as how, source, path, attributes, identity):
                    shown_as = "idmap" in attributes  # type: ignore[operator]
                    place = hold(source, identity, is_folder=how == "view", shown_as=shown_as)
                    is_view = how == "view" and "socketless" not in attributes  # type: ignore[operator]
                    copied.append(
                        ("view_held", place, path, *_RUN_ONLY)
                        if is_view
                        else ("bind", place, path, _RUN_ONLY, None)
                    )
                    places.append(str(path))
                case ("again" | "limit", *_):
                    copied.append(step)
                case _:
                    # A copy cannot make a place where the root is nobody's to write, but can make
                    # one in a folder of its own.
                    inside.append(step)
                    copied.append(step)
        return cls(tuple(held), tuple(places), tuple(inside), tuple(copied))


def _passed_by(
    roots: Sequence[Root], places: Sequence[str]
) -> tuple[tuple[str, tuple[int, int] | None], ...]:
    """What a copy looks up while it is made, and would find again although it was replaced since."""
    looked_up = {str(root.path): root.identity for root in roots}
    for place in places:
        for path in (Path(place), *Path(place).parents):
            looked_up.setdefault(str(path), _identity(path))
    return tuple(sorted(looked_up.items()))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _worker_steps(runtime: Runtime) -> Iterator[Step]:
    yield from (step for step in runtime.steps if step[0] != "proc")
    yield from (("whole_proc",), ("dir", "/tmp"), ("dir", HOME), ("dir", _STORE))  # noqa: S108
    yield from runtime.prefix_steps
    for place, prefix in _covered_prefixes():
        yield ("dir", place)
        yield ("bind", str(prefix), place, ("ro", "nosuid", "nodev"), identity_of(prefix))


def _own_steps(granted: Granted) -> Iterator[Step]:
    yield ("proc", HIDDEN_IN_PROC)
    yield ("own", SHM, 0o1777, ("noexec",))
    # All copies of a worker would have the same terminals.
    yield ("hide_folder", "/dev/pts")
    yield from granted.own_steps()
    for place, prefix in _covered_prefixes():
        yield ("dir", str(prefix))
        yield ("bind", place, str(prefix), (), None)
        yield ("hide_folder", place)


def _ruleset(host: Host, granted: Granted) -> dict[str, Any] | None:
    handled = Handled.by(host.landlock_abi)
    rules = list(granted.rules(handled, runs_any=False))
    picked = tuple(granted.grants.rules(handled, runs_any=False))
    return ruleset(handled, host.landlock_abi, rules, picked)


def _beyond_the_workers(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a run has besides those that every worker is started with."""
    return {name: value for name, value in environment.items() if name not in ENVIRONMENT}


def _prefixes() -> tuple[Path, ...]:
    """Where this interpreter is installed, if not among the system's own."""
    found = {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    return tuple(sorted(path for path in found if not path.is_relative_to("/usr")))


def _covered_prefixes() -> list[tuple[str, Path]]:
    """Prefixes below a folder that every run gets anew, and where the worker keeps them."""
    covered = [path for path in _prefixes() if is_own(path)]
    return [(f"{HELD}-prefix-{number}", path) for number, path in enumerate(covered)]
