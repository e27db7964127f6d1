"""Extraction of many files: in their order, each content once, and what fails is never nothing."""

from pathlib import Path

import pytest

from consentry.examine.atoms import Extraction, connecting
from consentry.examine.filekinds import FileKind
from consentry.service import extracting
from consentry.service.extracting import WORTH_KEEPING, Extractor, extract_job, read_one
from consentry.service.extractioncache import ExtractionCache
from consentry.service.extractioncodec import decode_extraction

CODE = b"import socket\n"
QUIET = b"x = 1\n"


def large(code: bytes, number: int = 0) -> bytes:
    """The same code in a file that is worth the cache."""
    return code + b"# %d\n" % number + b"#" * WORTH_KEEPING


def is_found(extraction: Extraction) -> bool:
    """Whether the one power of the code was found."""
    return connecting() in {each.atom for each in extraction.found}


@pytest.fixture
def cache(tmp_path: Path) -> ExtractionCache:
    """A cache of its own."""
    key = tmp_path / "key"
    return ExtractionCache(tmp_path / "cache", key, "tables")


def test_answers_have_the_order_of_the_files() -> None:
    """GUARD §deterministic: few or many."""
    extractor = Extractor(workers=1)
    jobs = [(FileKind.PYTHON, each) for each in (CODE, QUIET, CODE)]
    assert [is_found(each) for each in extractor(jobs)] == [True, False, True]
    heavy = [(FileKind.PYTHON, large(each)) for each in (QUIET, CODE)]
    assert [is_found(each) for each in extractor(heavy)] == [False, True]


def test_each_content_is_read_once() -> None:
    """Both sides of a change have most files in common."""
    extractor = Extractor(workers=1)
    jobs = [(FileKind.PYTHON, CODE), (FileKind.PYTHON, CODE)]
    extractor(jobs)
    extractor(jobs)
    assert extractor.read == 1
    extractor([(FileKind.OTHER, CODE)])
    assert extractor.read == 2


def test_nothing_to_read() -> None:
    """No file, no answer."""
    assert Extractor()([]) == []


def test_small_batches_do_not_ask_the_cache() -> None:
    """Looking would cost more than reading."""

    def no_cache() -> ExtractionCache:
        raise AssertionError

    assert is_found(Extractor(no_cache)([(FileKind.PYTHON, CODE)])[0])


def test_what_was_kept_is_found_again(cache: ExtractionCache) -> None:
    """By another extractor, without a reading; the answer is the same."""
    job = (FileKind.PYTHON, large(CODE))
    first = Extractor(lambda: cache, workers=1)
    second = Extractor(lambda: cache, workers=1)
    assert first([job]) == second([job])
    assert (first.read, second.read) == (1, 0)


def test_many_files_in_several_processes_come_out_the_same() -> None:
    """GUARD §deterministic: how many cores there are does not count."""
    jobs = [(FileKind.PYTHON, large(CODE if number % 2 else QUIET, number)) for number in range(6)]
    assert Extractor(workers=2)(jobs) == Extractor(workers=1)(jobs)


def test_progress_is_told_up_to_the_end() -> None:
    """How many are done, and of how many; what was known before is done at once."""
    told: list[tuple[int, int]] = []
    extractor = Extractor(workers=1, progress=lambda done, total: told.append((done, total)))
    jobs = [(FileKind.PYTHON, large(CODE, number)) for number in range(3)]
    extractor(jobs[:1])
    told.clear()
    extractor(jobs)
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_worker_gives_the_same_as_reading_here() -> None:
    """There and back through bytes."""
    answer = extract_job(FileKind.PYTHON.value, CODE)
    assert decode_extraction(answer) == read_one(FileKind.PYTHON, CODE)


@pytest.mark.parametrize(
    "fault", [RecursionError, MemoryError, ValueError, KeyError, AssertionError]
)
def test_a_fault_of_a_reader_is_not_known_and_never_nothing(
    monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    """GUARD §extract-closed: whatever a hostile file brings about is no PASS, and no traceback."""

    def broken(kind: FileKind, content: bytes) -> Extraction:
        raise fault(kind, content)

    monkeypatch.setattr(extracting, "extract_file", broken)
    found = read_one(FileKind.PYTHON, CODE)
    assert found.found == ()
    assert [each.key.startswith("unread sha256:") for each in found.unclassified] == [True]


def test_an_answer_that_cannot_be_read_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """GUARD §extract-closed: a worker that answers nonsense has not read the file."""
    monkeypatch.setattr(extracting, "_FUNCTION", "tests.service.test_extracting:nonsense")
    [found] = Extractor(workers=1)([(FileKind.PYTHON, large(CODE))])
    assert [each.reason for each in found.unclassified] == [
        "reading it was given up: unreadable answer"
    ]


def nonsense(kind: str, content: bytes) -> bytes:
    """An answer that no extraction has."""
    return kind.encode() + content[:1]
