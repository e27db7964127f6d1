"""What the watcher sees: of real trees of processes, and of a listing with ten thousand of them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.enforce.watcher import INTERVAL_SECONDS, Watcher, can_watch

MIB = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = 1 / os.sysconf("SC_CLK_TCK")

needs_children = pytest.mark.skipif(
    not can_watch(), reason="this kernel does not list the children of a process"
)


@contextlib.contextmanager
def first_process(code: str) -> Iterator[int]:
    """A process that stands for the first of a box, with what it starts; ready when it says so."""
    started = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert started.stdout is not None
    try:
        assert started.stdout.readline() == "ready\n"
        yield started.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.stdout.close()
        started.wait()


@needs_children
def test_every_process_below_the_first_is_counted() -> None:
    """Children, their children, and those of threads; the first itself is not."""
    code = """if True:
        import os, threading, time
        def start():
            if os.fork() == 0:
                if os.fork() == 0:
                    time.sleep(60)
                time.sleep(60)
            time.sleep(60)
        for _ in range(3):
            threading.Thread(target=start, daemon=True).start()
        print("ready", flush=True)
        time.sleep(60)
    """
    with first_process(code) as pid:
        watcher = Watcher(pid)
        for _ in range(500):
            if watcher.sample().processes == 6:
                break
            time.sleep(0.01)
        assert watcher.sample().processes == 6


@needs_children
def test_memory_is_counted_once_for_all_who_share_it() -> None:
    """Five copies of 40 MiB that nobody changed are 40 MiB; each resident, they would be 200."""
    code = """if True:
        import os, time
        ready, told = os.pipe()
        if os.fork() == 0:
            held = bytearray(40 << 20)
            for _ in range(4):
                if os.fork() == 0:
                    time.sleep(60)
            os.write(told, b".")
            time.sleep(60)
        os.read(ready, 1)
        print("ready", flush=True)
        time.sleep(60)
    """
    with first_process(code) as pid:
        seen = _until(Watcher(pid, memory_bytes=30 * MIB), 40 * MIB)
        assert 40 * MIB <= seen < 90 * MIB


def _until(watcher: Watcher, size: int) -> int:
    for _ in range(200):
        seen = watcher.sample().memory_bytes
        if seen >= size:
            return seen
        time.sleep(0.01)
    return 0


@needs_children
def test_time_is_that_of_the_living_and_of_the_dead() -> None:
    """Of children that were waited for and of one that still runs."""
    code = """if True:
        import os, time
        for _ in range(2):
            if os.fork() == 0:
                while time.process_time() < 0.2:
                    pass
                os._exit(0)
            os.wait()
        ready, told = os.pipe()
        if os.fork() == 0:
            while time.process_time() < 0.2:
                pass
            os.write(told, b".")
            time.sleep(60)
        os.read(ready, 1)
        print("ready", flush=True)
        time.sleep(60)
    """
    with first_process(code) as pid:
        assert 0.55 <= Watcher(pid).sample().cpu_seconds < 5


@needs_children
def test_a_box_that_is_gone_leaves_its_last_figures() -> None:
    """Not an error, and not those of another process that got its number."""
    code = """if True:
        import os, time
        if os.fork() == 0:
            time.sleep(60)
        print("ready", flush=True)
        time.sleep(60)
    """
    with first_process(code) as pid:
        watcher = Watcher(pid)
        assert watcher.sample().processes == 1
    assert watcher.sample().processes == 1
    assert Watcher(pid).sample().processes == 0


class Listing:
    """A folder that lists processes as `/proc` does, written by the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(
        self,
        pid: int,
        parent: int,
        children: list[int],
        *,
        ticks: int = 0,
        of_children: int = 0,
        start: int = 7,
        pages: int = 10,
    ) -> None:
        """One process with one thread."""
        fields = ["S", str(parent), *["0"] * 9, str(ticks), "0", str(of_children), "0"]
        fields += ["20", "0", "1", "0", str(start), "0", str(pages), "0"]
        own = self.folder / str(pid)
        own.mkdir(exist_ok=True)
        listed = own / "task" / str(pid) / "children"
        if children or listed.exists():
            listed.parent.mkdir(parents=True, exist_ok=True)
            listed.write_text(" ".join(map(str, children)), encoding="ascii")
        text = f"{pid} (a ) name) {' '.join(fields)}\n"
        (own / "stat").write_text(text, encoding="ascii")

    def drop(self, pid: int) -> None:
        """It died and was taken off the list; that it was a child is still said."""
        (self.folder / str(pid) / "stat").unlink()

    def end(self, pid: int) -> None:
        """It died, and nobody has waited for it yet."""
        own = self.folder / str(pid)
        (own / "stat").write_text((own / "stat").read_text().replace(") S ", ") Z "))
        (own / "smaps_rollup").unlink()

    def exact(self, pid: int, kib: int) -> None:
        """What an exact count says."""
        text = f"0-1 ---p 00:00 0 [rollup]\nRss: 999 kB\nPss: 888 kB\nPss_Anon: {kib} kB\n"
        text += "Pss_File: 777 kB\nPss_Shmem: 0 kB\nSwapPss: 0 kB\n"
        (self.folder / str(pid) / "smaps_rollup").write_text(text, encoding="ascii")

    def watch(self, **limits: int) -> Watcher:
        """A watcher of process 1."""
        return Watcher(1, proc=str(self.folder), **limits)


@pytest.fixture
def listing(tmp_path: Path) -> Listing:
    """An empty one."""
    return Listing(tmp_path)


def test_ten_thousand_processes_are_counted(listing: Listing) -> None:
    """All of them without a limit, and with one no more than show that it is passed."""
    parents = range(2, 102)
    listing.put(1, 0, list(parents))
    for pid in parents:
        children = list(range(100 * pid, 100 * pid + 99))
        listing.put(pid, 1, children)
        for child in children:
            listing.put(child, pid, [])
    watcher = listing.watch()
    assert watcher.sample().processes == 10_000
    assert watcher.pause > INTERVAL_SECONDS, "so many are looked at less often"
    assert listing.watch(most_processes=100).sample().processes == 101


def test_processes_that_vanish_while_they_are_looked_at_do_no_harm(listing: Listing) -> None:
    """A child that is listed and gone, a list that is gone, a file that is half written."""
    listing.put(1, 0, [2, 3, 4, 5])
    listing.put(2, 1, [99])
    listing.put(3, 1, [])
    listing.put(4, 1, [])
    (listing.folder / "4/stat").write_text("4 (cut off", encoding="ascii")
    assert listing.watch().sample().processes == 2


def test_a_number_that_another_process_got_is_not_watched(listing: Listing) -> None:
    """The first process is known by when it started."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [])
    watcher = listing.watch()
    assert watcher.sample().processes == 1
    listing.put(1, 0, [2, 3, 4], start=8)
    listing.put(3, 1, [])
    assert watcher.sample().processes == 1


def test_a_child_that_a_list_left_out_is_not_taken_for_dead(listing: Listing) -> None:
    """A list that changes while it is read is incomplete; the process is there all the same."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [], ticks=500)
    watcher = listing.watch()
    watcher.sample()
    listing.put(1, 0, [])
    listing.put(2, 1, [], ticks=600)
    assert watcher.sample().cpu_seconds == pytest.approx(600 * TICK)


def test_time_of_a_child_is_counted_once_when_it_was_waited_for(listing: Listing) -> None:
    """It goes over to the parent, with what it used since it was last seen."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [3], ticks=10)
    listing.put(3, 2, [], ticks=100)
    watcher = listing.watch()
    assert watcher.sample().cpu_seconds == pytest.approx(110 * TICK)
    listing.drop(3)
    listing.put(2, 1, [], ticks=10, of_children=130)
    assert watcher.sample().cpu_seconds == pytest.approx(140 * TICK)


def test_time_of_a_child_is_kept_when_nobody_waited_for_it(listing: Listing) -> None:
    """The parent ignores its death and takes nothing over, so what was seen is kept."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [3], ticks=10)
    listing.put(3, 2, [], ticks=100)
    watcher = listing.watch()
    watcher.sample()
    listing.drop(3)
    listing.put(2, 1, [], ticks=10)
    assert watcher.sample().cpu_seconds == pytest.approx(110 * TICK)


def test_a_family_that_goes_at_once_is_counted_once(listing: Listing) -> None:
    """Parent and child died, and the grandparent took over the time of both."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [3], ticks=10)
    listing.put(3, 2, [4], ticks=20)
    listing.put(4, 3, [], ticks=40)
    watcher = listing.watch()
    watcher.sample()
    listing.drop(3)
    listing.drop(4)
    listing.put(2, 1, [], ticks=10, of_children=60)
    assert watcher.sample().cpu_seconds == pytest.approx(70 * TICK)


def test_memory_is_counted_exactly_when_it_seems_over_the_limit(listing: Listing) -> None:
    """Files on disk are not part of it, though they are resident."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [], pages=64 * MIB // PAGE)
    listing.exact(2, 5 << 10)
    assert _until(listing.watch(memory_bytes=32 * MIB), 1) == 5 * MIB


def test_what_may_not_be_counted_counts_in_full(listing: Listing) -> None:
    """A process that nobody may read has all that is resident."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [], pages=64 * MIB // PAGE)
    assert _until(listing.watch(memory_bytes=32 * MIB), 1) == 64 * MIB


def test_a_count_that_is_kept_waiting_keeps_nobody_waiting(listing: Listing) -> None:
    """A process that holds the lock is sampled on, and is taken at its full size in the end."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [], pages=64 * MIB // PAGE)
    held = listing.folder / "2/smaps_rollup"
    os.mkfifo(held)
    times = iter(range(100))
    watcher = Watcher(
        1, proc=str(listing.folder), memory_bytes=32 * MIB, clock=lambda: next(times) * 0.05
    )
    try:
        assert [watcher.sample().memory_bytes for _ in range(10)] == [0] * 10
        assert [watcher.sample().memory_bytes for _ in range(3)][-1] == 64 * MIB
    finally:
        os.close(os.open(held, os.O_WRONLY))


def test_on_a_host_that_is_too_busy_to_count_nobody_is_blamed(listing: Listing) -> None:
    """Time alone is no sign of being kept waiting: the count may not have had its turn."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [], pages=64 * MIB // PAGE)
    held = listing.folder / "2/smaps_rollup"
    os.mkfifo(held)
    times = iter(range(100))
    watcher = Watcher(
        1, proc=str(listing.folder), memory_bytes=32 * MIB, clock=lambda: float(next(times))
    )
    try:
        assert [watcher.sample().memory_bytes for _ in range(5)] == [0] * 5
    finally:
        os.close(os.open(held, os.O_WRONLY))


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_a_count_during_which_a_process_ended_is_made_again(
    listing: Listing, *, is_waited_for: bool
) -> None:
    """What the dead had shared is counted for those who are left; but no tree avoids it for ever."""
    listing.put(1, 0, [2, 3])
    for pid in (2, 3):
        listing.put(pid, 1, [], pages=64 * MIB // PAGE)
        listing.exact(pid, 40 << 10)
    counted = listing.folder / "3/smaps_rollup"
    counted.unlink()
    os.mkfifo(counted)
    watcher = listing.watch(memory_bytes=32 * MIB)
    assert watcher.sample().memory_bytes == 0
    if is_waited_for:
        listing.drop(2)
    else:
        listing.end(2)
    writer = os.open(counted, os.O_WRONLY)
    os.write(writer, b"0-1 ---p 00:00 0 [rollup]\nPss_Anon: 40960 kB\n")
    os.close(writer)
    counted.unlink()
    listing.exact(3, 40 << 10)
    assert _until(watcher, 1) == 40 * MIB


def test_files_that_are_kept_in_memory_are_memory(listing: Listing, tmp_path: Path) -> None:
    """What a file system holds is added to what processes have."""
    listing.put(1, 0, [2])
    listing.put(2, 1, [])
    listing.exact(2, 1 << 10)
    told = os.statvfs(tmp_path)
    used = (told.f_blocks - told.f_bfree) * told.f_frsize
    if used < MIB:
        pytest.skip("nothing is stored where this test keeps its files")
    watcher = listing.watch(memory_bytes=1)
    opened = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        watcher.count_files(opened)
        assert _until(watcher, 2 * MIB) > MIB
    finally:
        os.close(opened)
