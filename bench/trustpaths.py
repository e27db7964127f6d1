"""Opening a file through `SandboxedPath`, beside `os.open` of the same path (TRUST §path).

Both open and close; the path is one and five names below the jail. `os.open` is given what our code has
in its place, a `Path`, and, which is less work, the text of the path made before; the target is the same for
both. The walk is what kernels without `openat2` get.
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns

from bench.report import Sample, heading, row
from consentry.base import openat2
from consentry.base.paths import FilesystemRaceDetected, SandboxedPath

_TARGET = 3.0
_DEPTHS = {1: "file", 5: "a/b/c/d/file"}
_ROUNDS = 300
_CALLS = 200


def run() -> bool:
    """Prints the tables; true if every target is met."""
    with TemporaryDirectory(prefix="consentry-bench-") as place:
        jail = Path(place)
        met = [_at_depth(jail, depth, relative) for depth, relative in _DEPTHS.items()]
        return all(met)


def _at_depth(jail: Path, depth: int, relative: str) -> bool:
    file = jail / relative
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    path = SandboxedPath.create(jail, relative).unwrap()
    text = str(file)
    heading(f"SandboxedPath.open, {depth} below the jail")
    taken = _in_turns(
        {
            "os.open of a Path": lambda: os.close(os.open(file, os.O_RDONLY)),
            "os.open of its text": lambda: os.close(os.open(text, os.O_RDONLY)),
            "SandboxedPath.open": lambda: os.close(path.open(on_race=_unexpected)),
            "SandboxedPath.open without openat2": lambda: _walked(path),
            "create and open": lambda: _made_and_opened(jail, relative),
        }
    )
    base, text_base, opened, walked, made = taken.values()
    row("os.open of a Path", base)
    row("os.open of its text", text_base)
    is_met = row("SandboxedPath.open", opened, base, _TARGET)
    is_met &= row("  beside os.open of its text", opened, text_base, _TARGET)
    row("SandboxedPath.open without openat2", walked, base)
    row("SandboxedPath.create and open", made, base)
    return is_met


def _in_turns(subjects: dict[str, Callable[[], object]]) -> dict[str, Sample]:
    """Some hundred calls of each in turn, so that a busy moment hits all of them alike."""
    taken: dict[str, list[int]] = {name: [] for name in subjects}
    for _ in range(_ROUNDS):
        for name, subject in subjects.items():
            begun = perf_counter_ns()
            for _ in range(_CALLS):
                subject()
            taken[name].append((perf_counter_ns() - begun) // _CALLS)
    return {name: Sample(name, tuple(values)) for name, values in taken.items()}


def _walked(path: SandboxedPath) -> None:
    kept = openat2.beneath
    openat2.beneath = _missing
    try:
        os.close(path.open(on_race=_unexpected))
    finally:
        openat2.beneath = kept


def _missing(folder: int, path: bytes, flags: int, mode: int) -> int:  # noqa: ARG001 - its shape
    return -errno.ENOSYS


def _made_and_opened(jail: Path, relative: str) -> None:
    os.close(SandboxedPath.create(jail, relative).unwrap().open(on_race=_unexpected))


def _unexpected(race: FilesystemRaceDetected) -> None:
    raise AssertionError(race)
