"""A program of thousands of threads that all open files: each is answered, and each is noted."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.surface.lattice import Surface
from consentry.surface.modes import Reads
from consentry.surface.protected import protected_roots
from tests.enforce.attacks.attackers import PRELUDE
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of
from tests.enforce.manytasks import alone_with_tasks

THREADS, FILES = 2000, 200
OPENS = """
import threading
threading.stack_size(64 << 10)
count, files = map(int, sys.argv[1:])
begin, failed = threading.Event(), []
def opens(number):
    begin.wait()
    try:
        name = f"file{number % files}"
        if read(name) != name.encode():
            failed.append(number)
        try:
            read(f"/nowhere/{number}")
        except FileNotFoundError:
            pass
    except OSError as problem:
        failed.append(problem)
threads = [threading.Thread(target=opens, args=(n,), daemon=True) for n in range(count)]
for thread in threads: thread.start()
begin.set()
for thread in threads: thread.join()
print(len(threads), failed[:3])
"""


def _run(engine: NativeEngine, place: Path, reads: Reads, threads: int) -> Outcome:
    words = [PYTHON, "-I", "-S", "-c", PRELUDE + OPENS, str(threads), str(FILES)]
    surface = Surface.of(read=["./"])
    program = program_of(words, place)
    limits = Limits(processes=4 * THREADS)
    wanted = Confinement(surface, place, program, ENVIRONMENT, reads=reads, limits=limits)
    return engine._held_run(engine.compile(wanted), (), Io(keeps=True))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("reads", Reads)
def test_nothing_is_lost(tmp_path: Path, reads: Reads) -> None:
    """All of them read what they asked for, all files are listed, and the launcher is well."""
    for number in range(FILES):
        (tmp_path / f"file{number}").write_text(f"file{number}")
    with alone_with_tasks(), closing(NativeEngine(None, protected_roots())) as engine:
        # The second is to find the launcher as the first did.
        for threads in (THREADS, 10):
            outcome = _run(engine, tmp_path, reads, threads)
            assert outcome.stdout == f"{threads} []\n".encode(), outcome.stderr
            listed = {str(tmp_path / f"file{n}") for n in range(min(threads, FILES))}
            assert set(outcome.reads) == listed
            assert outcome.complete
        launcher = engine._launcher()._process.pid
        # Nothing of the threads is kept: what is open is what a launcher without a run has.
        assert len(os.listdir(f"/proc/{launcher}/fd")) < 30  # noqa: PTH208 - how many
