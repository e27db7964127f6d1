"""The extractors on code that nobody wrote for them: Python's own library, and the most used wheels.

Every file of every kind is read by worker processes, twice, each time by processes of their own with
another hash seed. Nothing may raise, die, or need more than the limits of a worker, and both readings
are the same to the byte. `make prove` reads all of it and fetches the wheels; `make test` reads every
tenth file of the library, and of what is installed beside the tests.
"""

import os
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from consentry.enforce.workerpool import JobFailed, run_in_workers
from consentry.examine.filekinds import kind_of
from consentry.service.extractioncodec import decode_extraction
from tests.examine.registrypackages import MOST_FILE, Unreachable, files_in, wheel_of

IS_FULL = os.environ.get("CONSENTRY_PROOF") == "full"
LIBRARY = Path(sysconfig.get_path("stdlib"))
INSTALLED = Path(sysconfig.get_path("purelib"))
RANKING = Path("src/consentry/examine/knowledge/ranking.txt")
EVERY = 10
WHEELS = 100
TOGETHER = 16 << 20
"""So many bytes are held at a time."""

Named = tuple[str, bytes]


def most_used() -> list[str]:
    """The projects at the head of the ranking."""
    lines = RANKING.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")][:WHEELS]


def files_below(folder: Path, first: int = 0) -> Iterator[Named]:
    """Every tenth file of a folder; what is installed below the library is not of it."""
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not {"site-packages", "__pycache__"} & {*path.relative_to(folder).parts}
    )
    for path in paths[first::EVERY]:
        if path.stat().st_size <= MOST_FILE:
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def batches(files: Iterable[Named]) -> Iterator[list[Named]]:
    """The files, some at a time."""
    batch: list[Named] = []
    for each in files:
        batch.append(each)
        if sum(len(content) for _, content in batch) > TOGETHER:
            yield batch
            batch = []
    if batch:
        yield batch


def answers(batch: list[Named]) -> list[bytes | JobFailed]:
    """What workers say of each file."""
    jobs = ((kind_of(path, content).value, content) for path, content in batch)
    function = "consentry.service.extracting:extract_job"
    # However little it is, workers read it: their limits are part of what is proven.
    return list(run_in_workers(function, jobs, workers=2, total_size=TOGETHER))


def faults_in(files: Iterable[Named]) -> tuple[int, list[str]]:
    """How many files were read, and what is wrong with the reading of some."""
    faults: list[str] = []
    count = 0
    for batch in batches(files):
        count += len(batch)
        for (path, _), first, second in zip(batch, answers(batch), answers(batch), strict=True):
            if isinstance(first, JobFailed):
                faults.append(f"{path}: {first.reason} {first.detail}".strip())
            elif decode_extraction(first) is None:
                faults.append(f"{path}: the answer cannot be read")
            elif first != second:
                faults.append(f"{path}: read twice, it differs")
    return count, faults


def test_the_library_of_python_is_read_in_part() -> None:
    """GUARD §deterministic: every tenth file, whatever it is, the same both times."""
    count, faults = faults_in(files_below(LIBRARY))
    assert faults == []
    assert count > 100


def test_what_is_installed_is_read_in_part() -> None:
    """GUARD §deterministic: every tenth file of the wheels that the tests themselves need."""
    count, faults = faults_in(files_below(INSTALLED))
    assert faults == []
    assert count > 100


@pytest.mark.prove
@pytest.mark.skipif(not IS_FULL, reason="the full size of the proof")
@pytest.mark.parametrize("part", range(EVERY))
def test_every_part_of_the_library_of_python_is_read(part: int) -> None:
    """GUARD §extract-closed: no file of it, tests of the parser included, is too much."""
    count, faults = faults_in(files_below(LIBRARY, part))
    assert faults == []
    assert count > 100


@pytest.mark.prove
@pytest.mark.skipif(not IS_FULL, reason="the full size of the proof")
@pytest.mark.parametrize("name", most_used())
def test_a_wheel_that_many_use_is_read(name: str, tmp_path: Path) -> None:
    """GUARD §extract-closed: code in every style there is, compiled and generated parts with it."""
    try:
        wheel = wheel_of(name, tmp_path)
    except Unreachable as reason:
        pytest.skip(f"{name}: {reason}")
    count, faults = faults_in(files_in(wheel))
    assert faults == []
    assert count > 0
