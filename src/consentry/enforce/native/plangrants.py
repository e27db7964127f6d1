"""The places of the host that a run is granted, sorted by what becomes of them.

What a program's box and a snippet's have in common is decided here, once: which roots lie under a
layer, which are only read, what of them is hidden, and what Landlock opens of it all.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.confinement import Confinement
from consentry.enforce.native.directplan import direct_roots
from consentry.enforce.native.planparts import (
    Layered,
    Rule,
    apart_from_layers,
    around_layers,
    hidden_places,
    layer_rules,
    layered_roots,
    own_folders,
    protected_patterns,
    read_rules,
    writable_place,
)
from consentry.enforce.native.readgrants import ReadGrants, read_grants
from consentry.enforce.native.rights import (
    DEVICES,
    EXECUTE,
    READ,
    READ_DIR,
    WRITE,
    WRITE_FILE,
    Handled,
)
from consentry.enforce.native.runtime import Runtime, Step
from consentry.enforce.roots import Root, bound_roots
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import ProtectedRoots

SHM: Final = "/dev/shm"  # noqa: S108 - the box's own


@dataclass(frozen=True, slots=True)
class Granted:
    """The granted places, as they are now.

    `written` are the roots with something writable: those under a layer, or those written at once.
    """

    reads: tuple[Root, ...]
    writes: tuple[Root, ...]
    runtime: Runtime
    layered: tuple[Layered, ...]
    written: tuple[Layered, ...]
    readable: tuple[Root, ...]
    denied: tuple[Pattern, ...]
    hidden: tuple[str, ...]
    grants: ReadGrants
    own: tuple[tuple[str, bool], ...]

    @classmethod
    def of(
        cls, wanted: Confinement, runtime: Runtime, home: Path | None, protected: ProtectedRoots
    ) -> "Granted":
        """Raises where a part may not be granted."""
        surface, workspace = wanted.surface, wanted.workspace
        reads = bound_roots(surface.fs_read_roots, workspace, home, protected)
        writes = bound_roots(surface.fs_write_roots, workspace, home, protected)
        is_direct = wanted.writes is Writes.DIRECT
        layered = () if is_direct else tuple(layered_roots(around_layers(reads, writes), writes))
        written = direct_roots(writes) if is_direct else layered
        readable = tuple(apart_from_layers(reads, written, runtime))
        shown = (*(layer.root for layer in written), *readable)
        denied = (*wanted.denied, *protected_patterns(shown, protected))
        hidden = tuple(hidden_places(denied, shown, workspace, home))
        programs = (*wanted.program.copies, *wanted.program.startable)
        return cls(
            reads=reads,
            writes=writes,
            runtime=runtime,
            layered=layered,
            written=written,
            readable=readable,
            denied=denied,
            hidden=hidden,
            grants=read_grants(reads, writes, written, runtime, hidden, programs),
            own=own_folders(surface.fs_write_roots),
        )

    @property
    def shown(self) -> tuple[Root, ...]:
        """All that is shown of the host besides the runtime."""
        return (*(layer.root for layer in self.written), *self.readable)

    @property
    def places(self) -> tuple[tuple[str, bool], ...]:
        """What is mounted where, and whether it can be written."""
        return (
            *self.own,
            ("/dev", True),
            ("/proc", True),
            *((str(root.path), False) for root in self.shown),
            *(
                (str(writable_place(root)), True)
                for layer in self.written
                for root in layer.writable
            ),
        )

    def own_steps(self) -> Iterator[Step]:
        """The run's own folders, each empty."""
        for path, is_writable in self.own:
            yield ("own", path, 0o700 if is_writable else 0o555, ("noexec",))

    def hiding_steps(self) -> Iterator[Step]:
        """What is covered, so that it is not there."""
        for path in self.hidden:
            yield ("hide_folder" if Path(path).is_dir() else "hide_file", path)

    def rules(self, handled: Handled, *, runs_any: bool, names_all: bool = True) -> Iterator[Rule]:
        """What Landlock opens; with `names_all` every folder can be listed.

        A right on a folder holds for all below it: where there is more than the grants, it is none.
        """
        on_runtime = READ | EXECUTE if runs_any else READ
        for path in self.runtime.roots:
            yield (path, handled.on(on_runtime, folder=Path(path).is_dir()))
        if names_all:
            yield ("/", handled.on(READ_DIR, folder=True))
        yield ("/proc", handled.on(READ | WRITE_FILE, folder=True))
        yield ("/dev", handled.on(DEVICES, folder=True))
        yield (SHM, handled.on(WRITE, folder=True))
        yield ("/etc", handled.on(READ, folder=True))
        for path, is_writable in self.own:
            yield (path, handled.on(WRITE if is_writable else READ, folder=True))
        yield from layer_rules(self.layered, handled, runs_any=runs_any)
        yield from read_rules(self.grants.open_roots, handled, runs_any=runs_any)
        yield from self.grants.lists(handled)
