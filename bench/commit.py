"""What it costs to take over what a run wrote: read the layer, hash, journal, rename, sync.

A program in a box rewrites a thousand files; then the clock runs until they are the workspace's. Beside
it `cp -a` puts the same thousand files over the old ones, in a folder of its own, which neither
compares nor keeps anything and syncs nothing. The layer on the disk lies on the workspace's file
system, and its files are moved; those of a layer in memory are copied.
"""

import os
import shutil
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter_ns

from bench.report import Sample, heading, row
from consentry.enforce.commit import CommitResult, commit
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.layer import LayerRoot, file_clock_ns
from consentry.enforce.layerscan import scan
from consentry.enforce.native.disklayer import let_go_of
from consentry.enforce.programfiles import look_at_program
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import judge
from consentry.surface.lattice import Surface
from consentry.surface.modes import LayerPlace
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import protected_roots

FILES, BYTES, ROUNDS = 1_000, 4096, 21
TARGET = 1.2

_PYTHON = Path("/usr/bin/python3")
_PROGRAM = """
import os, sys
for folder, _, names in os.walk("."):
    for name in names:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(os.urandom(4096))
"""


def run() -> bool:
    """Prints the table; returns whether the target is met."""
    heading(f"commit ({FILES} changed files of {BYTES} bytes, {ROUNDS} rounds, in turns)")
    taken: dict[str, list[int]] = {"cp": [], "disk": [], "memory": []}
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        closing(NativeEngine(None, protected_roots())) as engine,
    ):
        place = Path(folder)
        place.chmod(0o755)
        for name in ("disk", "memory", "old", "new"):
            _fill(place / name)
        for number in range(ROUNDS + 1):
            copied = _copied(place)
            found = {each: _committed(engine, place, each, number) for each in LayerPlace}
            if number:  # the first one warms up
                taken["cp"].append(copied)
                taken["disk"].append(found[LayerPlace.DISK])
                taken["memory"].append(found[LayerPlace.MEMORY])
    samples = {name: Sample(name, tuple(each)) for name, each in taken.items()}
    row("cp -a over the same files", samples["cp"])
    is_met = row("layer on the workspace's disk", samples["disk"], samples["cp"], TARGET)
    row("layer in memory", samples["memory"], samples["cp"])
    return is_met


def _fill(folder: Path) -> None:
    for number in range(FILES):
        file = folder / f"d{number % 20}" / f"f{number}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(os.urandom(BYTES))


def _copied(place: Path) -> int:
    for number in range(FILES):
        (place / "new" / f"d{number % 20}" / f"f{number}").write_bytes(os.urandom(BYTES))
    os.sync()
    words = ["cp", "-a", f"{place}/new/.", f"{place}/old/"]
    begun = perf_counter_ns()
    subprocess.run(words, check=True)
    return perf_counter_ns() - begun


def _committed(engine: NativeEngine, place: Path, where: LayerPlace, number: int) -> int:
    workspace, state = place / where.value, place / "state"
    started = look_at_program(_PYTHON)
    words = ("python3", "-I", "-S", "-c", _PROGRAM)
    program = Program(started.program, words, workspace, startable=started.files)
    surface = Surface.of(read=["./"], write=["./"])
    wanted = Confinement(surface, workspace, program, {"PATH": "/usr/bin"}, layer=where)
    roots = [LayerRoot.over(0, workspace)]
    rules = WriteRules.bound(PatternScope.parse(["./"]), workspace=workspace)
    started_ns = file_clock_ns()
    done = engine._held_run(engine.compile(wanted), (), Io(keeps=True), state=state)  # noqa: SLF001
    if done.exit_code != 0 or done.layer is None:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    os.sync()
    begun = perf_counter_ns()
    verdicts = judge(scan(done.layer, roots, started_ns=started_ns), rules)
    outcome = commit(done.layer, verdicts, run=f"run-{where.value}-{number}", state=state)
    spent = perf_counter_ns() - begun
    if outcome.result is not CommitResult.COMMITTED or len(verdicts.accepted) != FILES:
        raise RuntimeError(f"{outcome.result}, {len(verdicts.accepted)} files")
    let_go_of(done.layer)
    shutil.rmtree(state, ignore_errors=True)
    return spent
