"""What a run may have on the disk in all: every way to take more ends the run, or is refused.

Each attack in three: it fails; the same with less works; without the watcher it succeeds.
"""

import os
from pathlib import Path

import pytest

from consentry.enforce.confinement import Limits
from consentry.enforce.holding import HeldLimits
from consentry.enforce.usage import Control
from consentry.surface.modes import LayerPlace
from tests.enforce.boxes import PYTHON, BoxRun, limits_here, run_in_box

MIB = 1 << 20
LIMIT = 16 * MIB
MUCH, LITTLE = 320, 8

# Each takes about so many MiB (the second word), a MiB at a time, and says so when it is done.
ATTACKS = {
    "one-file": """
f = os.open('f', os.O_WRONLY | os.O_CREAT)
for n in range(much):
    if n and n % 12 == 0:
        f = os.open(f'f{n}', os.O_WRONLY | os.O_CREAT)
    os.write(f, block)
""",
    "deleted-and-open": """
held = []
for n in range(much):
    if n % 12 == 0:
        f = os.open('f', os.O_WRONLY | os.O_CREAT); os.unlink('f'); held.append(f)
    os.write(f, block)
""",
    "deleted-by-many-processes": """
import time
left = []
for n in range(0, much, 4):
    pid = os.fork()
    if pid == 0:
        f = os.open('f%d' % n, os.O_WRONLY | os.O_CREAT); os.unlink('f%d' % n)
        for _ in range(4): os.write(f, block)
        time.sleep(3)
        os._exit(0)
    left.append(pid)
for pid in left: os.waitpid(pid, 0)
""",
    "mapped": """
import mmap
for n in range(0, much, 4):
    f = os.open('m%d' % n, os.O_RDWR | os.O_CREAT)
    os.ftruncate(f, 4 * MIB)
    with mmap.mmap(f, 4 * MIB) as m:
        for at in range(0, 4 * MIB, 4096): m[at] = 1
""",
    "tiny-files": """
for n in range(much * 256):
    os.close(os.open('t%d' % n, os.O_WRONLY | os.O_CREAT))
""",
    "behind-a-closed-folder": """
os.mkdir('d')
files = [os.open('d/%d' % n, os.O_WRONLY | os.O_CREAT) for n in range(much // 4)]
os.chmod('d', 0)
for f in files:
    for _ in range(4): os.write(f, block)
""",
}
_PROGRAM = """
import os, sys
MIB = 1 << 20
block, much = bytes(MIB), int(sys.argv[1])
{attack}
print('done')
"""


def _tried(place: Path, attack: str, much: int, held: HeldLimits) -> BoxRun:
    workspace = place / "ws"
    workspace.mkdir(exist_ok=True)
    words = [PYTHON, "-I", "-S", "-c", _PROGRAM.format(attack=attack), str(much)]
    try:
        return run_in_box(words, workspace=workspace, held=held, state=place / "state")
    finally:
        assert list((place / "state" / "layers").iterdir()) == []


def _held(*without: Control) -> HeldLimits:
    plan = limits_here(Limits(written_bytes=LIMIT), LayerPlace.DISK)
    return HeldLimits(plan.unsafe_without(*without), f"test-{os.urandom(8).hex()}")


@pytest.mark.parametrize("name", ATTACKS)
def test_a_run_that_takes_more_of_the_disk_is_ended(name: str, tmp_path: Path) -> None:
    """It does not get to its end, the limit is named, and nothing of it is left on the disk."""
    held = _held()
    try:
        run = _tried(tmp_path, ATTACKS[name], MUCH, held)
        found = held.outcome(run.ended.status, 0.0).exceeded
    finally:
        held.close()
    assert run.stdout == b"", run.stderr
    assert found is not None
    assert found.control is Control.WRITTEN
    assert found.seen > LIMIT


@pytest.mark.parametrize("name", ATTACKS)
def test_the_same_with_less_works(name: str, tmp_path: Path) -> None:
    """Within the limit nothing is noticed."""
    held = _held()
    try:
        run = _tried(tmp_path, ATTACKS[name], LITTLE, held)
        found = held.outcome(run.ended.status, 0.0).exceeded
    finally:
        held.close()
    assert run.stdout == b"done\n", run.stderr
    assert found is None


@pytest.mark.parametrize("name", ["one-file", "deleted-and-open", "tiny-files"])
def test_without_the_watcher_it_succeeds(name: str, tmp_path: Path) -> None:
    """Nothing else holds it: an overlay on a disk has no size."""
    held = _held(Control.WRITTEN)
    try:
        run = _tried(tmp_path, ATTACKS[name], 3 * LIMIT // MIB, held)
    finally:
        held.close()
    assert run.stdout == b"done\n", run.stderr


def test_space_cannot_be_taken_without_writing(tmp_path: Path) -> None:
    """`fallocate` is refused as by a file system that does not know it, and programs write then."""
    attack = """
import ctypes
f = os.open('f', os.O_WRONLY | os.O_CREAT)
libc = ctypes.CDLL(None, use_errno=True)
print(libc.fallocate(f, 0, ctypes.c_long(0), ctypes.c_long(8 * MIB)), ctypes.get_errno())
os.posix_fallocate(f, 0, 2 * MIB)
print(os.fstat(f).st_size)
"""
    held = _held()
    try:
        run = _tried(tmp_path, attack, 0, held)
    finally:
        held.close()
    assert run.stdout.split() == [b"-1", b"95", b"%d" % (2 * MIB), b"done"], run.stderr


def test_one_file_is_no_longer_than_all_may_be(tmp_path: Path) -> None:
    """A file of more is refused by the kernel, also one of holes; one of less has its holes."""
    attack = """
f = os.open('f', os.O_WRONLY | os.O_CREAT)
os.ftruncate(f, 15 * MIB)
print(os.fstat(f).st_blocks)
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    os.ftruncate(f, 17 * MIB)
except OSError as problem:
    print(problem.errno)
"""
    held = _held()
    try:
        run = _tried(tmp_path, attack, 0, held)
    finally:
        held.close()
    assert run.stdout.split() == [b"0", b"27", b"done"], run.stderr


def test_several_names_of_a_file_count_once(tmp_path: Path) -> None:
    """Ten names of a file of 4 MiB are no more than the file."""
    attack = """
import time
f = os.open('f', os.O_WRONLY | os.O_CREAT)
for _ in range(4): os.write(f, block)
for n in range(10): os.link('f', 'g%d' % n)
time.sleep(0.7)
"""
    held = _held()
    try:
        run = _tried(tmp_path, attack, 0, held)
        found = held.outcome(run.ended.status, 0.0).exceeded
    finally:
        held.close()
    assert run.stdout == b"done\n", run.stderr
    assert found is None
