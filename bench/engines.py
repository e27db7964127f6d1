"""What Consentry adds to the start of other engines: `true` in each, beside its own bare command.

Bare is the very command that the driver would start, with the same mounts, started by nobody in
particular; what is written for it in memory is not counted. Ours is the same behind its gate, in its
control groups and under its limits, looked after until it is gone. Beside it stands the whole run as
the library does it: decided, permitted, confined and recorded.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter_ns

import consentry
from bench.report import Sample, heading, row, shown
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engines.boxcommand import BoxCommandEngine
from consentry.enforce.engines.commandengine import CommandPlan
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.registry import FROM_CHEAPEST, made_engine
from consentry.enforce.native.streamends import Io
from consentry.enforce.process import GIVEN_FROM, Command
from consentry.service.library import library_of_this_process
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots

ROUNDS = 40
TARGET_RATIO, TARGET_NANOSECONDS = 1.15, 4_000_000
_TRUE = "/usr/bin/true"


def run() -> bool:
    """Prints the table; returns whether the target is met by every engine that can be used here."""
    heading(f"engines (`true`, {ROUNDS} starts of each, in turns)")
    before = os.environ.copy()
    met = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        project = Path(folder, "project")
        project.mkdir()
        project.chmod(0o755)
        os.environ["CONSENTRY_STATE"] = f"{folder}/state"
        try:
            ground = EngineGround(None, protected_roots(), os.environ["PATH"], Path(folder))
            for name in FROM_CHEAPEST:
                engine = made_engine(name, ground)
                # Containers need a daemon of their own, and have a bench of their own.
                if isinstance(engine, BoxCommandEngine):
                    met.append(_measured(engine, project))
        finally:
            library_of_this_process().close()
            os.environ.clear()
            os.environ.update(before)
    return all(met)


def _measured(engine: BoxCommandEngine, project: Path) -> bool:
    absent = engine.missing() or _unusable(engine)
    if absent is not None:
        print(f"{engine.name}: not measured: {absent}")
        return True
    program = Program(Path(_TRUE), (_TRUE,), project)
    surface = Surface.of(read=["./"], write=["/tmp/"], run=Level.ANY)  # noqa: S108 - the box's own
    plan = engine.compile(Confinement(surface, project, program, {"PATH": "/usr/bin:/bin"}))
    subjects: dict[str, Callable[[], int]] = {
        "bare": lambda: _bare(engine, plan),
        "ours": lambda: _timed(lambda: _started_by_us(engine, plan)),
        "recorded": lambda: _timed(lambda: _recorded(engine.name, project)),
    }
    taken: dict[str, list[int]] = {name: [] for name in subjects}
    for turn in range(ROUNDS + 2):
        for name, subject in subjects.items():
            nanoseconds = subject()
            if turn > 1:
                taken[name].append(nanoseconds)
    samples = {name: Sample(name, tuple(values)) for name, values in taken.items()}
    bare, ours = samples["bare"], samples["ours"]
    row(f"{engine.name}, bare", bare)
    row(f"{engine.name}, ours", ours, bare)
    row(f"{engine.name}, with its record", samples["recorded"], bare)
    added = ours.p50 - bare.p50
    is_met = ours.p50 <= bare.p50 * TARGET_RATIO or added <= TARGET_NANOSECONDS
    print(
        f"{'':<44} added {shown(added) if added > 0 else 'nothing':>7}  target <= {TARGET_RATIO} x or"
        f" + {shown(TARGET_NANOSECONDS)}: {'met' if is_met else 'NOT MET'}"
    )
    return is_met


def _unusable(engine: BoxCommandEngine) -> str | None:
    shown_here = engine.probe()
    return None if shown_here.is_usable else shown_here.lacking[0].why


def _timed(subject: Callable[[], object]) -> int:
    begun = perf_counter_ns()
    subject()
    return perf_counter_ns() - begun


def _started_by_us(engine: BoxCommandEngine, plan: CommandPlan) -> None:
    """Without a permit, which nothing but a recorded decision makes."""
    engine._run(plan, (), Io(keeps=True), lambda: None)  # noqa: SLF001 - as it says


def _bare(engine: BoxCommandEngine, plan: CommandPlan) -> int:
    with ExitStack() as ends:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        ends.callback(os.close, nothing)
        prepared = engine.prepared(plan, (), (nothing,) * 3, ends, has_terminal=False)
        ends.callback(prepared.signs.close)
        return _timed(lambda: _started(prepared.command))


def _started(command: Command) -> None:
    numbers = dict(enumerate(command.streams))
    numbers |= {GIVEN_FROM + number: each for number, each in enumerate(command.files)}
    first = max(numbers) + 1
    aside = {to: fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, first) for to, each in numbers.items()}
    try:
        pid = os.posix_spawn(
            command.words[0],
            command.words,
            {"PATH": "/usr/bin:/bin", **command.environment},
            file_actions=[(os.POSIX_SPAWN_DUP2, each, to) for to, each in aside.items()],
        )
    finally:
        for each in aside.values():
            os.close(each)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError(f"{command.words[0]} ended with {status}")


def _recorded(engine: str, project: Path) -> None:
    ended = consentry.exec([_TRUE], engine=engine, workspace=project, programs=["any"])
    if ended.exit_code != 0:
        raise RuntimeError(ended.stderr.decode(errors="replace"))
