"""A program that runs many others through the library and counts what is there before and after.

Run as a process of its own, so that every process below it and every descriptor in it is the
library's; it prints what it counted as JSON. Boxes that are built ahead come and go, so the counts
before are the most that was seen while only a few runs were made.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import consentry
from consentry.service.library import library_of_this_process

_FIRST_RUNS = 15
_LOOKS = 10
_PAUSE = 0.05
_SECONDS = 60


def main(kind: str, runs: int, project: Path, state: Path) -> None:
    """Counts at the start, in use, after all runs, and when the library was closed."""
    said: dict[str, Any] = {"start": counts(project, state)}
    said["during"], said["then"] = during(project, state)
    before: dict[str, int] = {}
    for _ in range(_FIRST_RUNS):
        run(kind, project)
        before = most(before, counts(project, state))
    for _ in range(_LOOKS):
        time.sleep(_PAUSE)
        before = most(before, counts(project, state))
    said["before"] = before
    said["files before"] = files(state)
    launchers = children(os.getpid())
    folders = box_folders()
    for _ in range(runs):
        run(kind, project)
    said["after"] = settled(before, project, state)
    said["files after"] = files(state)
    library_of_this_process().close()
    said["closed"] = counts(project, state)
    said["launchers"] = len(launchers)
    said["living"] = [pid for pid in launchers if Path(f"/proc/{pid}").exists()]
    said["folders"] = len(folders)
    said["left"] = [each for each in folders if Path(each).exists()]
    sys.stdout.write(json.dumps(said))


def run(kind: str, project: Path) -> None:
    """One run of that kind, which must succeed."""
    if kind == "exec":
        result: Any = consentry.exec(["/usr/bin/true"], workspace=project)
    else:
        result = consentry.run_code("1 + 1", workspace=project)
    if result.status != "success":
        raise RuntimeError(f"a run ended as {result.status}")


def during(project: Path, state: Path) -> tuple[dict[str, int], dict[str, int]]:
    """What is there while a program runs and then, to show that it would be seen if it stayed."""
    thread = Thread(
        target=consentry.exec,
        args=[["/usr/bin/sleep", "600"]],
        kwargs={"workspace": project, "timeout": _SECONDS},
    )
    thread.start()
    while not (sleeping := [pid for pid in descendants(os.getpid()) if name_of(pid) == "sleep"]):
        time.sleep(_PAUSE)
    seen = counts(project, state)
    seen["mounts"] += sum(mounts(pid, project, state) for pid in sleeping)
    os.kill(sleeping[0], signal.SIGKILL)
    thread.join()
    return seen, settled({"descriptors": seen["descriptors"] - 1}, project, state)


def counts(project: Path, state: Path) -> dict[str, int]:
    """What is there at this moment."""
    us = os.getpid()
    below = list(descendants(us))
    return {
        "processes": len(below),
        "descriptors": len(links(us)),
        "descriptors of launchers": sum(len(links(pid)) for pid in children(us)),
        "mounts": sum(mounts(pid, project, state) for pid in (us, *children(us))),
        "groups": groups(us),
        "box folders": len(box_folders()),
    }


def most(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    """The larger of each."""
    return {name: max(one.get(name, 0), count) for name, count in other.items()}


def settled(limit: dict[str, int], project: Path, state: Path) -> dict[str, int]:
    """What is there when it is no more than before; else what there is after a long wait."""
    late = time.monotonic() + _SECONDS
    while True:
        now = counts(project, state)
        if time.monotonic() > late or all(now[name] <= limit[name] for name in limit):
            return now
        time.sleep(_PAUSE)


def files(state: Path) -> list[str]:
    """Everything in the state folder, by name."""
    return sorted(str(each.relative_to(state)) for each in state.rglob("*"))


def children(pid: int) -> list[int]:
    """Processes that one has started and not buried, whichever of its threads did."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> Iterator[int]:
    """Every process below one."""
    for child in children(pid):
        yield child
        yield from descendants(child)


def name_of(pid: int) -> str:
    """The program in it, as the kernel has it."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def links(pid: int) -> list[Path]:
    """The descriptors of a process."""
    try:
        return list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return []


def mounts(pid: int, project: Path, state: Path) -> int:
    """Those that a process sees and that are about us; others come and go on a host."""
    try:
        lines = Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
    except OSError:
        return 0
    ours = (str(project), str(state), "consentry-box")
    return sum(any(word in line for word in ours) for line in lines)


def groups(pid: int) -> int:
    """Control groups that bear our number."""
    return sum(
        name.startswith("consentry-") and f"-{pid}-" in name
        for _, names, _ in os.walk("/sys/fs/cgroup")
        for name in names
    )


def box_folders() -> list[str]:
    """Folders that this process holds to build boxes on."""
    found = []
    for link in links(os.getpid()):
        with suppress(OSError):
            found.append(str(link.readlink()))
    return [each for each in found if "/consentry-box-" in each]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
