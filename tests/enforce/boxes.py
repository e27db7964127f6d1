r"""Runs a real program in a real box of the native engine, for tests that look at what it can do.

    run = run_in_box(["sh", "-c", "echo hello"], workspace=tmp_path, run_any=True)
    assert run.stdout == b"hello\n" and run.ended.status == 0

The box is compiled and launched as the product does it; only what stands around it is missing:
no permit, no record, no commit. Limits are held as on any run; a run that does not end within
`patience` is killed and fails the test. Tests that take a control away change the plan by `change`.
"""

import os
import selectors
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.facts import HostView
from consentry.enforce.holding import HeldLimits
from consentry.enforce.limits import LimitMeans, LimitPlan
from consentry.enforce.native import calls
from consentry.enforce.native.disklayer import DiskLayer
from consentry.enforce.native.mediatedreads import with_mediated_reads
from consentry.enforce.native.otherids import ids_behind_root
from consentry.enforce.native.parent import NativeParent, Running
from consentry.enforce.native.planner import Host, Plan, compile_plan
from consentry.enforce.programfiles import look_at_program
from consentry.enforce.running import Ended
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import LayerPlace, Reads, View, Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots

FOLDERS_OF_PROGRAMS: Final = "/usr/local/bin:/usr/bin:/bin"
PYTHON: Final = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
"""An interpreter that any user of this host can start."""

ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "HOME": "/home/user", "TMPDIR": "/tmp"}
WORKSPACE_AND_TMP: Final = Surface.of(read=["./"], write=["./", "/tmp/"])

_PART: Final = 1 << 16


class BoxRun(NamedTuple):
    """How it ended, and what it printed."""

    ended: Ended
    stdout: bytes
    stderr: bytes


def this_host() -> Host:
    """The host and the caller as the planner wants to know them."""
    return Host(
        uid=os.getuid(),
        gid=os.getgid(),
        machine=os.uname().machine,
        landlock_abi=calls.landlock_abi(),
        home=Path.home(),
        protected=protected_roots(),
        behind_root=ids_behind_root(HostView()),
    )


def limits_here(limits: Limits, layer: LayerPlace = LayerPlace.MEMORY) -> LimitPlan:
    """How this host holds these limits for this caller."""
    return LimitPlan.of(limits, LimitMeans.of(HostView(uid=os.getuid())), layer=layer)


def program_of(argv: Sequence[str], folder: Path) -> Program:
    """The program that the first word names, with the files that starting it needs."""
    found = shutil.which(argv[0], path=FOLDERS_OF_PROGRAMS)
    assert found is not None, f"{argv[0]} is not installed"
    started = look_at_program(Path(found))
    is_elsewhere = not started.program.is_relative_to("/usr")
    prefixes = (Path(sys.base_prefix),) if is_elsewhere and found == sys.executable else ()
    return Program(started.program, tuple(argv), folder, startable=started.files, prefixes=prefixes)


def launchable(plan: Plan, wanted: Confinement, host: Host) -> dict[str, Any]:
    """What the launcher is told, with three streams from outside as files 1 to 3."""
    return {
        "ids": host.inner,
        "steps": plan.steps,
        "layer_bytes": wanted.limits.written_bytes,
        "hostname": "box",
        "streams": (1, 2, 3),
        "terminal": False,
        "rlimits": [],
        "groups": [],
        "umask": 0o022,
        "cwd": str(wanted.program.folder),
        "landlock": plan.landlock,
        "direct": plan.makes,
        "exact": plan.exact,
        "moves": bool(plan.layered),
        "filter": plan.filter,
        "listens": True,
        "program": str(wanted.program.path),
        "argv": list(wanted.program.words),
        "env": dict(wanted.environment),
    }


def run_in_box(
    argv: Sequence[str],
    *,
    workspace: Path,
    surface: Surface = WORKSPACE_AND_TMP,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    env: Mapping[str, str] = ENVIRONMENT,
    denied: Sequence[str] = (),
    view: View = View.PRIVATE,
    writes: Writes = Writes.LAYER,
    reads: Reads = Reads.OBSERVED,
    state: Path | None = None,
    stdin: bytes = b"",
    patience: float = 30.0,
    run_any: bool = False,
    change: Callable[[dict[str, Any]], None] = lambda _: None,
    watch: Callable[[Running], None] = lambda _: None,
    held: HeldLimits | None = None,
    see_layer: Callable[[Path], None] | None = None,
) -> BoxRun:
    """Runs a program to its end.

    Args:
        argv: the program, by name or path, and its arguments.
        workspace: where it starts, and what `./` means in the surface.
        surface: what it may do; by default the workspace and `/tmp` are its to write.
        limits: how much it may use.
        env: its whole environment.
        denied: patterns of what stays refused inside what is allowed.
        view: what exists inside.
        writes: where writes go.
        reads: how the list of files read is made.
        state: where the layer is made on the disk; without one it is in memory.
        stdin: what it can read; at most what a pipe holds.
        patience: after so many seconds it is killed, and the test fails.
        run_any: adds the power to start any program, so that a shell is of use.
        change: changes what the launcher is told, before it is.
        watch: called every 20 ms or more often while it runs.
        held: holds the limits instead, and is the caller's to close.
        see_layer: called at the end with the folder that holds `upper0` and so on.
    """
    if run_any:
        surface = surface | Surface.of(run=Level.ANY)
    wanted = Confinement(
        surface,
        workspace,
        program_of(argv, workspace),
        env,
        denied=tuple(map(Pattern.parse, denied)),
        view=view,
        writes=writes,
        layer=LayerPlace.MEMORY if state is None else LayerPlace.DISK,
        limits=limits,
    )
    host = this_host()
    plan = compile_plan(wanted, host)
    if reads is Reads.EXACT:
        plan = with_mediated_reads(plan)
    told = launchable(plan, wanted, host)
    holder = held or HeldLimits(limits_here(limits, wanted.layer), f"test-{os.urandom(8).hex()}")
    parent = NativeParent()
    ends = ExitStack()
    try:
        told |= holder.told()
        disk = None
        if state is not None:
            disk = ends.enter_context(DiskLayer.made(state, plan.layered, host.inner))
            told |= {"disk": disk.told, "bell": 4}
            holder.count_on_disk(disk.uppers())
        change(told)
        with _Streams(stdin) as streams:
            running = parent.launch(told, [*streams.its, *([] if disk is None else [disk.bell])])
            streams.hand_over()
            try:
                _supervise(running, streams, _Watch(holder, watch), time.monotonic() + patience)
                ended = running.ended()
            finally:
                running.close()
        if ended.layer is not None:
            layer = ended.layer
            if disk is not None:
                disk.hear_that_it_is_alone()
                layer = disk.descriptor
            if see_layer is not None:
                see_layer(Path(f"/proc/self/fd/{layer}"))
            os.close(ended.layer)
        return BoxRun(ended, bytes(streams.heard[0]), bytes(streams.heard[1]))
    finally:
        ends.close()
        parent.close()
        if held is None:
            holder.close()


class _Watch:
    """Ends a run that goes over a limit, and lets the test look on."""

    def __init__(self, held: HeldLimits, look: Callable[[Running], None]) -> None:
        self._held = held
        self._look = look
        self._is_watched = self._is_counted = False
        self._is_ended = False

    def __call__(self, running: Running) -> None:
        if running.pid is not None and not self._is_watched:
            self._is_watched = True
            self._held.watch(running.pid)
        if running.store is not None and not self._is_counted:
            self._is_counted = True
            self._held.count_store(running.store)
        if not self._is_ended and self._held.check() is not None:
            self._is_ended = True
            running.end_now()
        self._look(running)


class _Streams:
    """The three streams of a program: what it reads is there already, what it prints is kept."""

    def __init__(self, stdin: bytes) -> None:
        its_in, our_in = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(our_in, False)
        assert os.write(our_in, stdin) == len(stdin)
        os.close(our_in)
        pairs = [os.pipe2(os.O_CLOEXEC) for _ in range(2)]
        self.its = [its_in, *(writer for _, writer in pairs)]
        self.readers = [reader for reader, _ in pairs]
        self.heard = (bytearray(), bytearray())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hand_over()
        for reader in self.readers:
            os.close(reader)

    def hand_over(self) -> None:
        """The ends in the box are the box's alone from here on."""
        for descriptor in self.its:
            os.close(descriptor)
        self.its = []


def _supervise(
    running: Running, streams: _Streams, watch: Callable[[Running], None], deadline: float
) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(running.fileno(), selectors.EVENT_READ)
        for number, reader in enumerate(streams.readers):
            selector.register(reader, selectors.EVENT_READ, streams.heard[number])
        is_late = False
        while selector.get_map():
            for key, _ in selector.select(0.02):
                if key.data is None:
                    is_news_left = running.hear()
                else:
                    part = os.read(key.fd, _PART)
                    key.data.extend(part)
                    is_news_left = bool(part)
                if not is_news_left:
                    selector.unregister(key.fd)
            watch(running)
            if not is_late and time.monotonic() > deadline:
                is_late = True
                running.kill()
        assert not is_late, f"killed after its time; it printed {streams.heard}"
