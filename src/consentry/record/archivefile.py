"""The form of a sealed archive: JSON Lines, of which the last says what the ones before must be.

    {"archive_id": "archive-…", "kind": "consentry-archive", "made_at": "…Z",
     "schema_version": 1, "store_id": "…"}
    one line for each event (`record.eventline`), ordered by writer, then by `seq`
    {"events": 2, "kind": "consentry-archive-end", "schema_version": 1, "sha256": "sha256:…",
     "writers": [{"events": 2, "first_prev": "sha256:…", "first_seq": 1, "last_hash": "sha256:…",
                  "last_seq": 2, "writer": "…"}]}

Every line is canonical JSON and ends with a line feed. `sha256` is the digest of all bytes before
the last line. Each writer's events are of one chain and in its order, so that they can be put back
between what comes before `first_prev` and behind `last_hash`; where an event stayed in the ledger
there is a gap between them.

Reading and writing take one event at a time. What a reader refuses: a file that was cut, and any
byte, line or order that is not as it was written; the line is named. What it cannot see: a file
that somebody wrote anew as a whole. The ledger keeps the hashes of what it archived, and those tell.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem, Where
from consentry.record.archiveends import (
    ArchivedRange,
    ArchiveFooter,
    ArchiveHeader,
    footer_line,
    header_line,
    read_footer,
    read_header,
)
from consentry.record.chain import ChainRow
from consentry.record.eventline import event_in, line_of, row_of

MOST_LINE: Final = 64 << 20
"""The longest line that is read, in bytes; an event is far shorter."""

# The first key of an event is `actor`, which sorts before this one.
_END_START = b'{"events":'


class _Stretches:
    """Follows the events of an archive, and says why one does not belong where it stands."""

    def __init__(self) -> None:
        self.events = 0
        self._done: list[ArchivedRange] = []
        self._open: ArchivedRange | None = None

    def ranges(self) -> tuple[ArchivedRange, ...]:
        """One stretch for each writer so far."""
        return tuple(self._done) if self._open is None else (*self._done, self._open)

    def why_not(self, row: ChainRow) -> str | None:
        """Takes the event in, or says why it cannot be the next."""
        event = event_in(row)
        if event is None or "actor" not in event:
            return "is damaged"
        if digest_bytes(row.body) != row.hash:
            return "was changed: its bytes do not have its hash"
        prev, last = Digest(str(event.get("prev"))), self._open
        if last is not None and row.writer == last.writer:
            why = _why_not_behind(last, row, prev)
            first_seq, first_prev, events = last.first_seq, last.first_prev, last.events + 1
        else:
            why = _why_not_after(last, row)
            first_seq, first_prev, events = row.seq, prev, 1
            self._done = list(self.ranges())
        if why is not None:
            return why
        try:
            self._open = ArchivedRange(
                row.writer, first_seq, row.seq, first_prev, Digest(row.hash), events
            )
        except BadInput as problem:
            return f"cannot be archived: {problem}"
        self.events += 1
        return None


def _why_not_behind(last: ArchivedRange, row: ChainRow, prev: Digest) -> str | None:
    if row.seq <= last.last_seq:
        return f"stands behind event {last.last_seq}: repeated or moved"
    if row.seq == last.last_seq + 1 and prev != last.last_hash:
        return f"does not follow event {last.last_seq}"
    return None


def _why_not_after(last: ArchivedRange | None, row: ChainRow) -> str | None:
    if last is not None and row.writer < last.writer:
        return f"stands behind events of `{last.writer}`: repeated or moved"
    return None


def write_archive(
    header: ArchiveHeader, rows: Iterable[ChainRow], write: Callable[[bytes], object]
) -> ArchiveFooter:
    """Writes an archive piece by piece; the rows come by writer, then by `seq`.

    An event that is not as it was recorded is refused, and what was written by then is no archive.
    """
    sealed = hashlib.sha256()
    stretches = _Stretches()

    def put(line: bytes) -> None:
        sealed.update(line)
        write(line)

    put(header_line(header))
    for row in rows:
        why = stretches.why_not(row)
        if why is not None:
            message = f"event {row.seq} of `{row.writer}` {why}"
            raise LedgerProblem(Code.CHAIN_BROKEN, message)
        put(line_of(row) + b"\n")
    digest = Digest(f"sha256:{sealed.hexdigest()}")
    footer = ArchiveFooter(stretches.events, stretches.ranges(), digest)
    write(footer_line(footer))
    return footer


class ArchiveReader:
    """Reads an archive line by line, as an open binary file gives them.

    The header is read at once. Iterating gives the events; only when it ended without an error is
    the archive what it was, and `footer` there. Nothing taken from it is to be kept before.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._number = 0
        self._sealed = hashlib.sha256()
        self.footer: ArchiveFooter | None = None
        first = self._next_line()
        with self._at_this_line():
            self.header = read_header(first)
        self._sealed.update(first)

    def __iter__(self) -> Iterator[ChainRow]:
        """The events, each checked to follow the one before it."""
        stretches = _Stretches()
        line = self._next_line()
        while not line.startswith(_END_START):
            row = row_of(line[:-1], self._number)
            why = stretches.why_not(row)
            if why is not None:
                raise self._refused(f"event {row.seq} of `{row.writer}` {why}")
            self._sealed.update(line)
            yield row
            line = self._next_line()
        with self._at_this_line():
            footer = read_footer(line)
        self._check_seal(footer, stretches)
        if next(self._lines, b""):
            self._number += 1
            raise self._refused("something stands behind the end of the archive")
        self.footer = footer

    def _check_seal(self, footer: ArchiveFooter, stretches: _Stretches) -> None:
        if footer.events != stretches.events or footer.writers != stretches.ranges():
            raise self._refused("the events above are not the ones that this line names")
        if footer.sha256 != f"sha256:{self._sealed.hexdigest()}":
            raise self._refused("the bytes above do not have the digest that this line names")

    def _next_line(self) -> bytes:
        self._number += 1
        line = next(self._lines, b"")
        if not line:
            raise self._refused("the archive ends here, without its last line")
        if not line.endswith(b"\n"):
            raise self._refused("the line is cut off")
        return line

    @contextmanager
    def _at_this_line(self) -> Iterator[None]:
        try:
            yield
        except BadInput as problem:
            inner = problem.where or Where()
            problem.at(Where(line=self._number, field=inner.field))
            raise

    def _refused(self, message: str) -> BadInput:
        return BadInput(Code.ARCHIVE, message, where=Where(line=self._number))


def check_archive(lines: Iterable[bytes]) -> tuple[ArchiveHeader, ArchiveFooter]:
    """Reads an archive to its end and gives what it says it is; raises when that is not so."""
    reader = ArchiveReader(lines)
    for _row in reader:
        pass
    if reader.footer is None:  # pragma: no cover - iterating ends with a footer or raises
        raise BadInput(Code.ARCHIVE, "the archive has no last line")
    return reader.header, reader.footer


def bounded_lines(readline: Callable[[int], bytes]) -> Iterator[bytes]:
    """The lines of an open file, none longer than `MOST_LINE`: a longer one comes cut, and is refused."""
    while line := readline(MOST_LINE):
        yield line
