"""Extraction of many files: from what was read before, on both cores, each content once.

A few small files are read here and now, without a look at what is kept: that look costs more. What a
worker process could not do, because the file killed it or kept it too long, is not known, and said so.
"""

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from consentry.base.canonical import digest_bytes
from consentry.base.values import replace
from consentry.examine.atoms import Extraction, Provenance, unclassified
from consentry.examine.filekinds import FileKind, extract_file
from consentry.examine.sides import Job

if TYPE_CHECKING:
    from consentry.service.extractioncache import ExtractionCache

WORTH_KEEPING: Final = 64 << 10
"""Bytes below which a batch is read without the cache."""

_FUNCTION: Final = "consentry.service.extracting:extract_job"
_WORKERS: Final = 8

Progress = Callable[[int, int], None]
"""Told how many files are done, and of how many."""


class Extractor:
    """Reads files for as long as it lives; what it read once it does not read again."""

    def __init__(
        self,
        cache: "Callable[[], ExtractionCache] | None" = None,
        *,
        workers: int | None = None,
        progress: Progress | None = None,
        tables: tuple[bytes, ...] = (),
    ) -> None:
        """`tables` are those that plugins add to ours, compiled."""
        self._make_cache = cache
        self._cache: ExtractionCache | None = None
        self._workers = min(os.cpu_count() or 1, _WORKERS) if workers is None else workers
        self._progress = progress
        self._tables = tables
        self._known: dict[tuple[FileKind, bytes], Extraction] = {}
        self.read = 0
        """How many files were really read, and not found."""

    def __call__(self, jobs: Iterable[Job]) -> list[Extraction]:
        """The extraction of each file, in their order."""
        wanted = list(jobs)
        fresh = list(dict.fromkeys(job for job in wanted if job not in self._known))
        size = sum(len(content) for _, content in fresh)
        if self._progress is not None:
            self._progress(len(wanted) - len(fresh), len(wanted))
        if size < WORTH_KEEPING:
            for kind, content in fresh:
                self._known[kind, content] = read_one(kind, content, self._tables)
            self.read += len(fresh)
        else:
            self._read_many(fresh, len(wanted) - len(fresh), len(wanted))
        return [self._known[job] for job in wanted]

    def _read_many(self, fresh: list[Job], done: int, total: int) -> None:
        from consentry.enforce.workerpool import JobFailed, run_in_workers  # noqa: PLC0415 - for many
        from consentry.service.extractioncodec import decode_extraction  # noqa: PLC0415 - as above

        if self._cache is None and self._make_cache is not None:
            self._cache = self._make_cache()
        cache = self._cache
        keys = {}
        left: list[Job] = []
        for job in fresh:
            kind, content = job
            if cache is not None:
                keys[job] = cache.key_of(kind.value, content)
                found = cache.find(keys[job])
                if found is not None:
                    self._known[job] = found
                    continue
            left.append(job)
        size = sum(len(content) for _, content in left)
        more = (self._tables,) if self._tables else ()
        answers = run_in_workers(
            _FUNCTION,
            ((kind.value, content, *more) for kind, content in left),
            workers=self._workers,
            total_size=size,
        )
        done += len(fresh) - len(left)
        self.read += len(left)
        for number, (job, answer) in enumerate(zip(left, answers, strict=True), done + 1):
            if isinstance(answer, JobFailed):
                self._known[job] = _not_done(job[1], answer.reason.value)
            else:
                extraction = decode_extraction(answer)
                if extraction is None:
                    extraction = _not_done(job[1], "unreadable answer")
                elif cache is not None:
                    cache.keep(keys[job], answer)
                self._known[job] = extraction
            if self._progress is not None:
                self._progress(number, total)
        if cache is not None:
            cache.flush()


def extract_job(kind: str, content: bytes, tables: tuple[bytes, ...] = ()) -> bytes:
    """What a worker does with one file."""
    from consentry.service.extractioncodec import encode_extraction  # noqa: PLC0415 - for many

    return encode_extraction(read_one(FileKind(kind), content, tables))


def read_one(kind: FileKind, content: bytes, tables: tuple[bytes, ...] = ()) -> Extraction:
    """What one file gives; a fault of an extractor is something that is not known, never nothing.

    With tables of plugins it is read twice: what our tables say stands, whatever others add to it,
    and what they add is marked as theirs.
    """
    ours = _read_one(kind, content)
    if not tables:
        return ours
    from consentry.examine.knowledge.added import extended_knowledge  # noqa: PLC0415 - plugins
    from consentry.examine.knowledge.reader import used  # noqa: PLC0415 - as above

    with used(extended_knowledge(tables)):
        added = _read_one(kind, content)
    known, doubts = frozenset(ours.found), frozenset(ours.unclassified)
    more = (replace(e, provenance=Provenance.PLUGIN) for e in added.found if e not in known)
    unclear = (replace(e, key=f"plugin {e.key}") for e in added.unclassified if e not in doubts)
    return replace(
        ours,
        found=tuple(dict.fromkeys((*ours.found, *more))),
        unclassified=tuple(dict.fromkeys((*ours.unclassified, *unclear))),
    )


def _read_one(kind: FileKind, content: bytes) -> Extraction:
    try:
        return extract_file(kind, content)
    except (RecursionError, MemoryError):
        return _not_done(content, "nested too deeply")
    except Exception as fault:  # noqa: BLE001 - whatever a hostile file brings about is not a PASS
        return _not_done(content, f"a fault of the reader, {type(fault).__name__}")


def _not_done(content: bytes, why: str) -> Extraction:
    return unclassified(f"unread {digest_bytes(content)}", 1, f"reading it was given up: {why}")
