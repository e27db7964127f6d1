"""Keeping the observer busy: one launcher watches many runs, and none can stop it for the others."""

import os
import select
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.engine import Ending, Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.surface.lattice import Surface
from consentry.surface.modes import Reads
from consentry.surface.protected import protected_roots
from tests.enforce.attacks.attackers import PRELUDE
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of

# The memory that the observer must look into is kept locked, in large pieces, while calls come in.
HOSTILE = """
import mmap, threading
size = 64 << 20
memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for page in range(0, size, 4096):
    memory[page] = 1
def lock():
    while True:
        libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(size), 1)
        libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(size), 3)
def copy():
    while True:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
def call():
    while True:
        os.close(os.open("file", os.O_RDONLY))
for does in (lock, copy, call, call, call):
    threading.Thread(target=does, daemon=True).start()
print("begun", flush=True)
os.read(0, 1)
os._exit(0)
"""
QUIET = """
for _ in range(1000):
    os.close(os.open("file", os.O_RDONLY))
print("done")
"""


def hostile_begins(run: Future[Outcome], begun: int) -> bool:
    """Waits until it says so, or is over without a word."""
    while not run.done():
        if select.select([begun], [], [], 0.1)[0]:
            return os.read(begun, 6) == b"begun\n"
    return False


@pytest.mark.parametrize("reads", Reads)
def test_a_hostile_run_does_not_keep_the_observer_from_others(tmp_path: Path, reads: Reads) -> None:
    """The others' calls are all answered and noted while it goes on."""
    (tmp_path / "file").touch()
    input_end, keeps_going = os.pipe()
    begun, output_end = os.pipe()
    with closing(NativeEngine(None, protected_roots())) as engine, ThreadPoolExecutor(1) as pool:

        def run(code: str, io: Io) -> Outcome:
            program = program_of([PYTHON, "-I", "-S", "-c", PRELUDE + code], tmp_path)
            limits = Limits(wall_seconds=120.0)
            surface = Surface.of(read=["./"])
            wanted = Confinement(
                surface, tmp_path, program, ENVIRONMENT, reads=reads, limits=limits
            )
            return engine._held_run(engine.compile(wanted), (), io)

        hostile = pool.submit(run, HOSTILE, Io(stdin=input_end, stdout=output_end))
        assert hostile_begins(hostile, begun)
        quiet = run(QUIET, Io(keeps=True))
        was_going = not hostile.done()
        os.close(keeps_going)
        assert hostile.result().ending is Ending.SUCCESS
    for descriptor in (input_end, begun, output_end):
        os.close(descriptor)
    assert (quiet.stdout, quiet.complete, was_going) == (b"done\n", True, True)
    assert quiet.reads == (str(tmp_path / "file"),)
