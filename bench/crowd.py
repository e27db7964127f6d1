"""A hundred runs at once: how near the time comes to what the processors allow, and what waiting costs.

The ideal is the processor time of as many runs in a row, of this process, the launchers and every
box, divided by the processors. It leaves out what the kernel does in its own threads, such as taking
namespaces apart; so it is the lower bound that it should be.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from threading import Barrier

import consentry
from bench.processes import cpu_seconds, descendants, memory_bytes, name_of
from bench.report import shown
from bench.sheet import Sheet, Target

RUNS = 100
TARGET = Target(0.8, is_least=True)
_SECONDS_TO_GATHER = 60
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
    _waiting(
        sheet,
        "`sleep`",
        lambda: consentry.exec(["/usr/bin/sleep", "600"], workspace=project),
        lambda pid: name_of(pid) == "sleep",
    )
    _waiting(
        sheet,
        "snippet",
        lambda: consentry.run_code("import time\ntime.sleep(600)", workspace=project),
        None,
    )


def _at_once(sheet: Sheet, name: str, run: Run, rounds: int, cores: int) -> None:
    run()
    ideals: list[float] = []
    walls: list[float] = []
    used: list[float] = []
    with _crowd() as begin:
        for _ in range(rounds):
            with _processor_time() as in_a_row:
                for _ in range(RUNS):
                    run()
            ideals.append(in_a_row[0] / cores)
            with _processor_time() as at_once:
                walls.append(_wall(begin, run))
            used.append(at_once[0])
    ideal, wall = median(ideals), median(walls)
    sheet.figure(f"{name}, processor time of one run", shown(ideal * cores / RUNS * 1e9))
    sheet.figure(f"{name}, the same in a crowd", shown(median(used) / RUNS * 1e9))
    sheet.figure(f"{name}, ideal for {RUNS} runs", shown(ideal * 1e9))
    ratios = [one / other for one, other in zip(ideals, walls, strict=True)]
    sheet.figure(
        f"{name}, {RUNS} runs at once",
        shown(wall * 1e9),
        ratio=median(ratios),
        beside="the ideal",
        target=TARGET,
    )


def _wall(begin: Callable[[Run], list[Future[float]]], run: Run) -> float:
    futures = begin(run)
    return max(each.result() for each in futures)


@contextmanager
def _crowd() -> Iterator[Callable[[Run], list[Future[float]]]]:
    """Threads that wait for each other before they begin; each returns when it was over."""
    barrier = Barrier(RUNS)
    with ThreadPoolExecutor(RUNS) as pool:

        def one(run: Run) -> float:
            barrier.wait()
            begun = time.perf_counter()
            run()
            return time.perf_counter() - begun

        yield lambda run: [pool.submit(one, run) for _ in range(RUNS)]


@contextmanager
def _processor_time() -> Iterator[list[float]]:
    """What this process and all below it have used meanwhile."""
    taken: list[float] = []
    before, own = cpu_seconds(descendants(os.getpid())), time.process_time()
    yield taken
    own = time.process_time() - own
    taken.append(own + cpu_seconds(descendants(os.getpid())) - before)


def _waiting(sheet: Sheet, name: str, run: Run, is_waiting: Callable[[int], bool] | None) -> None:
    """Memory of the launchers' trees while all runs sleep, less what they have at rest."""
    us = os.getpid()
    at_rest = set(descendants(us))
    before, own_before = memory_bytes(list(at_rest)), memory_bytes([us])
    with ThreadPoolExecutor(RUNS) as pool:
        futures = [pool.submit(_unless_ended, run) for _ in range(RUNS)]
        try:
            late = time.monotonic() + _SECONDS_TO_GATHER
            while not _are_all_there(us, at_rest, is_waiting):
                if time.monotonic() > late or any(each.done() for each in futures):
                    sheet.note(f"memory of a waiting {name}: not all {RUNS} came to wait")
                    return
                time.sleep(0.1)
            now = descendants(us)
            each = (memory_bytes(now) - before) / RUNS / _MIB
            own = (memory_bytes([us]) - own_before) / RUNS / _MIB
        finally:
            _end_all(us, at_rest, futures)
    sheet.figure(f"{name}, memory of a waiting run", f"{each:.2f} MiB")
    sheet.figure(f"{name}, of this process for it", f"{own:.2f} MiB")


def _are_all_there(us: int, at_rest: set[int], is_waiting: Callable[[int], bool] | None) -> bool:
    new = [pid for pid in descendants(us) if pid not in at_rest]
    if is_waiting is not None:
        return sum(map(is_waiting, new)) >= RUNS
    # Nothing tells a snippet that waits from one that begins but that it sleeps and uses no time.
    if len(new) < RUNS:
        return False
    used = cpu_seconds(new)
    time.sleep(0.5)
    return cpu_seconds(new) == used


def _end_all(us: int, at_rest: set[int], futures: list[Future[None]]) -> None:
    while not all(each.done() for each in futures):
        for pid in descendants(us):
            if pid not in at_rest:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


def _unless_ended(run: Run) -> None:
    with suppress(consentry.base.errors.ConsentryError):
        run()
