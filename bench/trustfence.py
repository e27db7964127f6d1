"""How fast the capability fence reads CPython's `Lib/`, next to `ast.parse` alone on the same files.

All files are in memory. The yardstick makes a tree of each and drops it. The target is a share of its
speed: 0.4 times as many files in a second, with the tree made by the fence as well. Both run on one core
and wait for nothing, so that what is measured is the time of the processor.
"""

import ast
import sysconfig
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time

from bench.report import heading
from consentry.examine.fence.check import check_source
from consentry.examine.fence.findings import STRANGERS, Rule

ROUNDS = 5
TARGET = 0.4


def run() -> bool:
    """Prints files per second of both; true when the target is met."""
    heading("trust: the capability fence over CPython's Lib")
    files = _files()
    parsing, fencing = [], []
    for _ in range(ROUNDS):
        parsing.append(_seconds(files, _parse))
        fencing.append(_seconds(files, _fence))
    yardstick, fence = sorted(parsing)[ROUNDS // 2], sorted(fencing)[ROUNDS // 2]
    speed = yardstick / fence
    size = sum(map(len, files)) / 1_000_000
    print(f"{len(files):,} files, {size:.1f} MB, median of {ROUNDS} rounds")
    print(f"{'ast.parse alone':<44} {len(files) / yardstick:>9,.0f} files/s")
    print(f"{'fence':<44} {len(files) / fence:>9,.0f} files/s")
    verdict = "met" if speed >= TARGET else "MISSED"
    print(f"{'':<44} {speed:.2f} x its speed  target >= {TARGET} x: {verdict}")
    found = [each for file in files for each in check_source("x", file, STRANGERS)]
    unread = sum(each.rule is Rule.UNREADABLE for each in found)
    print(f"{len(found) - unread} findings; {unread} files are not Python of this version")
    return speed >= TARGET


def _files() -> list[bytes]:
    folder = Path(sysconfig.get_paths()["stdlib"])
    found = sorted(path for path in folder.rglob("*.py") if "site-packages" not in path.parts)
    return [path.read_bytes() for path in found]


def _seconds(files: list[bytes], subject: Callable[[bytes], None]) -> float:
    begun = process_time()
    for file in files:
        subject(file)
    return process_time() - begun


def _parse(source: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(source)
        except (SyntaxError, ValueError):
            return


def _fence(source: bytes) -> None:
    check_source("x", source, STRANGERS)
