"""A hundred runs at once: how near the time comes to what the processors allow, and what waiting costs.

The ideal is the processor time of as many runs in a row, of this process, the launchers and every
box, divided by the processors. It leaves out what the kernel does in its own threads, such as taking
namespaces apart; so it is the lower bound that it should be.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from statistics import median
from threading import Barrier

import consentry
from bench.processes import cpu_seconds, descendants, memory_bytes
from bench.report import shown
from bench.sheet import Sheet, Target

RUNS = 100
TARGET = Target(0.8, is_least=True)
_SECONDS_AT_MOST = 60
_SECONDS_WAITING = 30
_SECONDS_LOOKED_AT = 1.0
_MIB = 1 << 20

Run = Callable[[], object]


def measure(sheet: Sheet, project: Path, rounds: int) -> None:
    """Adds the table."""
    cores = len(os.sched_getaffinity(0))
    sheet.section(
        f"{RUNS} runs at once",
        f"{RUNS} threads of one process, each one run through the library, begun together. The ratio "
        f"is the ideal to the time until the last is over; the ideal is the processor time of {RUNS} "
        f"runs in a row, of this process, launchers and boxes, divided by {cores} cores.",
    )
    subjects: dict[str, Run] = {
        "`true`": lambda: consentry.exec(["/usr/bin/true"], workspace=project),
        "snippet": lambda: consentry.run_code("1", workspace=project),
    }
    for name, run in subjects.items():
        _at_once(sheet, name, run, rounds, cores)
    sleeping = partial(
        consentry.exec, ["/usr/bin/sleep", "600"], workspace=project, timeout=_SECONDS_WAITING
    )
    _waiting(sheet, "`sleep`", sleeping)
    asleep = partial(
        consentry.run_code,
        "import time\ntime.sleep(600)",
        workspace=project,
        timeout=_SECONDS_WAITING,
    )
    _waiting(sheet, "snippet", asleep)


def _at_once(sheet: Sheet, name: str, run: Run, rounds: int, cores: int) -> None:
    run()
    ideals: list[float] = []
    walls: list[float] = []
    used: list[float] = []
    for _ in range(rounds):
        with _processor_time() as in_a_row:
            for _ in range(RUNS):
                run()
        ideals.append(in_a_row[0] / cores)
        with _processor_time() as at_once:
            wall = _wall(run)
        if wall is None:
            sheet.missing(f"{name}, {RUNS} runs at once", "some never ended, and were killed")
            return
        walls.append(wall)
        used.append(at_once[0])
    sheet.figure(f"{name}, processor time of one run", shown(median(ideals) * cores / RUNS * 1e9))
    sheet.figure(f"{name}, the same in a crowd", shown(median(used) / RUNS * 1e9))
    sheet.figure(f"{name}, ideal for {RUNS} runs", shown(median(ideals) * 1e9))
    ratios = [one / other for one, other in zip(ideals, walls, strict=True)]
    sheet.figure(
        f"{name}, {RUNS} runs at once",
        shown(median(walls) * 1e9),
        ratio=median(ratios),
        beside="the ideal",
        target=TARGET,
    )


def _wall(run: Run) -> float | None:
    """From the moment at which all threads begin until the last is over; None if one hangs."""
    barrier = Barrier(RUNS + 1)
    at_rest = set(descendants(os.getpid()))

    def one() -> None:
        barrier.wait()
        run()

    with ThreadPoolExecutor(RUNS) as pool:
        futures = [pool.submit(one) for _ in range(RUNS)]
        try:
            barrier.wait()
            begun = time.perf_counter()
            _, hanging = wait(futures, _SECONDS_AT_MOST)
            taken = time.perf_counter() - begun
        finally:
            _end_all(at_rest, futures)
    return None if hanging else taken


def _end_all(at_rest: set[int], futures: list[Future[None]]) -> None:
    """Kills what keeps a run from ending, so that an interrupt does not wait for it."""
    while not all(each.done() for each in futures):
        for pid in descendants(os.getpid()):
            if pid not in at_rest:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


@contextmanager
def _processor_time() -> Iterator[list[float]]:
    """What this process and all below it have used meanwhile."""
    taken: list[float] = []
    before, own = cpu_seconds(descendants(os.getpid())), time.process_time()
    yield taken
    own = time.process_time() - own
    taken.append(own + cpu_seconds(descendants(os.getpid())) - before)


def _waiting(sheet: Sheet, name: str, run: Run) -> None:
    """Memory of the launchers' trees while all runs sleep, less what they have at rest."""
    us = os.getpid()
    before, own_before = memory_bytes(descendants(us)), memory_bytes([us])
    with ThreadPoolExecutor(RUNS) as pool:
        futures = [pool.submit(run) for _ in range(RUNS)]
        while not _are_all_asleep():
            if any(each.done() for each in futures):
                sheet.missing(f"{name}, memory of a waiting run", f"not all {RUNS} came to wait")
                return
        all_of_it, own = memory_bytes(descendants(us)), memory_bytes([us])
        used = cpu_seconds([us, *descendants(us)])
        begun = time.perf_counter()
        time.sleep(_SECONDS_LOOKED_AT)
        used = cpu_seconds([us, *descendants(us)]) - used
        share = used / (time.perf_counter() - begun)
    each = (all_of_it - before) / RUNS / _MIB
    sheet.figure(f"{name}, memory of a waiting run", f"{each:.2f} MiB")
    own_each = (own - own_before) / RUNS / _MIB
    sheet.figure(f"{name}, memory of the caller for it", f"{own_each:.2f} MiB")
    sheet.figure(f"{name}, processors that all {RUNS} keep busy", f"{share:.2f}")


def _are_all_asleep() -> bool:
    """Whether there are as many processes as runs, and none of them does anything.

    Some of them may have been there before: what was prepared ahead is used first.
    """
    there = descendants(os.getpid())
    used = cpu_seconds(there)
    time.sleep(_SECONDS_LOOKED_AT)
    return len(there) > RUNS and cpu_seconds(there) == used
