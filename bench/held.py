"""What holding an operation costs besides the person: asked, answered at once, carried out, handed in.

A program in a box opens files that it was not granted; the keeper says yes the moment it is asked. The
first one of a run has the read-only copy of the host's tree made, the others find it there. Beside each
stands the time of an open that was granted, in the same program.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bench.report import Sample, heading, shown
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.held import HeldAnswer, HeldOperation, Reply
from consentry.enforce.programfiles import look_at_program
from consentry.surface.lattice import Surface
from consentry.surface.modes import View
from consentry.surface.protected import protected_roots

RUNS, FILES = 25, 60
KEPT_MS, FIRST_MS = 1.0, 4.0

_CODE = """
import json, os, sys, time
out, count = sys.argv[1], int(sys.argv[2])
def took(name, does):
    begun = time.perf_counter_ns()
    made = does()
    times.setdefault(name, []).append(time.perf_counter_ns() - begun)
    if made is not None:
        os.close(made)
times = {}
reads, writes = os.O_RDONLY, os.O_WRONLY
made = os.O_WRONLY | os.O_CREAT | os.O_EXCL
for n in range(count):
    took("granted", lambda: os.open("granted", reads))
took("first", lambda: os.open(f"{out}/0", reads))
for n in range(1, count):
    took("granted", lambda: os.open("granted", reads))
    took("read", lambda: os.open(f"{out}/{n}", reads))
    took("again", lambda: os.open(f"{out}/{n}", reads))
    took("write", lambda: os.open(f"{out}/{n}", writes))
    took("create", lambda: os.open(f"{out}/new{n}", made))
    took("mkdir", lambda: os.mkdir(f"{out}/folder{n}"))
print(json.dumps(times))
"""
_LINES = (
    ("first", "the first of a run", FIRST_MS),
    ("read", "a file to be read", KEPT_MS),
    ("again", "the same again, remembered", KEPT_MS),
    ("write", "a file to be written", KEPT_MS),
    ("create", "a file to be made", KEPT_MS),
    ("mkdir", "a folder to be made", KEPT_MS),
)


class _Yes:
    """Says so at once."""

    allows_direct = True

    def asked(self, held: HeldOperation, answer: Reply) -> None:  # noqa: ARG002 - whatever it is
        answer(HeldAnswer.GRANTED)

    def gone(self, number: int) -> None:
        """Nothing was kept."""


def run() -> bool:
    """Prints the table; returns whether the targets are met."""
    heading(f"held operations, answered at once ({RUNS} runs of {FILES} each)")
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        closing(NativeEngine(None, protected_roots())) as engine,
    ):
        place = Path(folder)
        place.chmod(0o755)
        times: dict[str, list[int]] = {}
        for _ in range(RUNS):
            for name, taken in _measured(engine, place).items():
                times.setdefault(name, []).extend(taken)
        return all([*_table({name: Sample(name, tuple(each)) for name, each in times.items()})])


def _measured(engine: NativeEngine, place: Path) -> dict[str, list[int]]:
    workspace, out = place / "ws", place / "out"
    shutil.rmtree(out, ignore_errors=True)
    for each in (workspace, out):
        each.mkdir(exist_ok=True)
    (workspace / "granted").write_text("content\n")
    for number in range(FILES):
        (out / str(number)).write_text("content\n")
    python = Path(shutil.which("python3", path="/usr/bin:/bin") or "/usr/bin/python3")
    words = (str(python), "-I", "-S", "-c", _CODE, str(out), str(FILES))
    program = Program(python, words, workspace, startable=look_at_program(python).files)
    surface = Surface.of(read=["./"])
    wanted = Confinement(surface, workspace, program, {}, view=View.VISIBLE, holds=True)
    done = engine._held_run(engine.compile(wanted), (), Io(keeps=True, holds=_Yes()))  # noqa: SLF001
    if done.exit_code != 0:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    taken: dict[str, list[int]] = json.loads(done.stdout)
    return taken


def _table(samples: dict[str, Sample]) -> Iterator[bool]:
    granted = samples["granted"]
    print(f"{'an open that was granted':<32} p50 {shown(granted.p50):>9}")
    for name, text, most in _LINES:
        sample = samples[name]
        is_met = sample.p50 <= most * 1e6
        print(
            f"{text:<32} p50 {shown(sample.p50):>9}  p95 {shown(sample.p95):>9}"
            f"  {sample.p50 / granted.p50:7.2f} x  target <= {most} ms:"
            f" {'met' if is_met else 'NOT MET'}"
        )
        yield is_met
