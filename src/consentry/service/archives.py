"""Archives as files: read to their end, and held against what the ledger says of them.

An archive shows by itself that it was not cut or damaged since it was sealed. That it is the one
that was sealed, the ledger tells: the digest in its `ledger.archived` event, and the hash that each
archived event left behind.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import zip_longest

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem, UsageProblem, Where
from consentry.base.values import dataclass, replace
from consentry.record.archiveends import ArchiveFooter, ArchiveHeader
from consentry.record.archivefile import ArchiveReader, bounded_lines
from consentry.record.archiverecord import ArchivedPart, ArchiveRecord, parts_of
from consentry.record.chain import ChainHead, ChainRow, event_fields
from consentry.service.audit import require_sound
from consentry.service.userfiles import opened_for_reading
from consentry.store.archive import ArchivedRow, archived_rows
from consentry.store.archivecheck import recorded_archive
from consentry.store.history import History


@dataclass(frozen=True, slots=True)
class SealedArchive:
    """An archive that was read to its end: what it says it is, and what it turned out to hold."""

    name: str
    header: ArchiveHeader
    footer: ArchiveFooter
    digest: Digest
    parts: tuple[ArchivedPart, ...]


def read_sealed(name: str) -> SealedArchive:
    """Reads an archive to its end; raises when it is not as it was sealed."""
    content = hashlib.sha256()

    def counted(lines: Iterator[bytes]) -> Iterator[bytes]:
        for line in lines:
            content.update(line)
            yield line

    with opened_for_reading(name) as handle, _placed_in(name):
        reader = ArchiveReader(counted(bounded_lines(handle.readline)))
        parts = parts_of(map(_left_of, reader))
        if reader.footer is None:  # pragma: no cover - reading ends with a footer or raises
            raise BadInput(Code.ARCHIVE, "the archive has no last line")
    digest = Digest(f"sha256:{content.hexdigest()}")
    return SealedArchive(name, reader.header, reader.footer, digest, parts)


def require_sound_with(
    history: History | None, names: Sequence[str]
) -> tuple[list[ChainHead], list[SealedArchive]]:
    """The heads of all chains and the archives, once the ledger and they agree; raises otherwise.

    Where the ledger's list of archived events was changed, an archive knows which one it was.
    """
    try:
        heads = [] if history is None else require_sound(history)
    except LedgerProblem:
        for name in names:
            with suppress(BadInput, UsageProblem):
                require_recorded(history, name)
        raise
    return heads, [require_recorded(history, name) for name in names]


def require_recorded(history: History | None, name: str) -> SealedArchive:
    """The archive, if it is the one the ledger recorded, event for event; raises otherwise."""
    archive = read_sealed(name)
    record = _record_of(history, archive)
    if history is None or record is None:
        message = f"`{name}`: the ledger has no record of `{archive.header.archive_id}`"
        raise UsageProblem(Code.ARCHIVE_UNKNOWN, message)
    if archive.digest != record.digest:
        message = "this is not the file that was sealed: its digest is another"
        raise BadInput(Code.ARCHIVE, message, where=Where(file=name))
    _require_same_events(history, archive)
    return archive


def _record_of(history: History | None, archive: SealedArchive) -> ArchiveRecord | None:
    if history is None:
        return None
    if archive.header.store_id != history.store_id():
        message = f"`{archive.name}` is of another ledger, `{archive.header.store_id}`"
        raise UsageProblem(Code.ARCHIVE_UNKNOWN, message)
    with history.database.reading() as view:
        return recorded_archive(view, archive.header.archive_id)


def _require_same_events(history: History, archive: SealedArchive) -> None:
    """Event for event, because only that tells which one is another."""
    with (
        opened_for_reading(archive.name) as handle,
        _placed_in(archive.name),
        history.database.reading() as view,
    ):
        held = ArchiveReader(bounded_lines(handle.readline))
        listed = archived_rows(view, archive.header.archive_id)
        for row, left in zip_longest(map(_left_of, held), listed):
            if row != left:
                raise _differs(row, left)


def _left_of(row: ChainRow) -> ArchivedRow:
    """What an event leaves behind when it is archived."""
    event_id = str(event_fields(row.body).get("eventId"))
    return ArchivedRow(row.writer, row.seq, row.hash, event_id)


def _differs(held: ArchivedRow | None, listed: ArchivedRow | None) -> LedgerProblem:
    either = [row for row in (held, listed) if row is not None]
    first = min(either, key=lambda row: (row.writer, row.seq))
    if len(either) == 2 and either[0][:2] == either[1][:2]:  # noqa: PLR2004 - both
        why = "is not the one that was archived"
    elif first is listed:
        why = "was taken out without a record"
    else:
        why = "was archived and is not in the list of what was"
    message = f"event {first.seq} (`{first.event_id}`) of `{first.writer}` {why}"
    return LedgerProblem(Code.CHAIN_BROKEN, message)


@contextmanager
def _placed_in(name: str) -> Iterator[None]:
    """Says in which file a line is that is not as it should be."""
    try:
        yield
    except BadInput as problem:
        problem.at(replace(problem.where or Where(), file=name))
        raise
