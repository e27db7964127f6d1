"""What the ledger records of an archive: enough to hold the archive, and the list of what left, to it.

A `ledger.archived` event names the archive, the digest of its file, and for each writer how many
events it holds, from which to which, and the Merkle root over their hashes and ids in the order of
`seq`. The event stays in the chain, and with it what it says.

Hashes are taken in one by one, so memory does not grow with their number.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.values import dataclass
from consentry.record.events import EventType
from consentry.record.fields import check_digest
from consentry.record.merkle import Frontier, leaf_hash
from consentry.record.payload import check_payload

BY_THEIR_OWN: Final = "retainLogs"
"""Stands in `olderThan` where no span was named and each event's own decided."""


@dataclass(frozen=True, slots=True)
class ArchivedPart:
    """What an archive holds of one writer; between the first and the last, events may have stayed."""

    writer: str
    events: int
    first_seq: int
    last_seq: int
    root: str


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """One archive as the ledger knows it.

    `before` is the moment from which on nothing was archived; `older_than` the span that was asked
    for, or `retainLogs` where each event's own decided.
    """

    archive_id: str
    digest: Digest
    before: Instant
    older_than: str
    parts: tuple[ArchivedPart, ...]

    @property
    def events(self) -> int:
        """How many events the archive holds."""
        return sum(part.events for part in self.parts)

    def payload(self) -> dict[str, Json]:
        """The payload of its `ledger.archived` event."""
        return {
            "archiveId": self.archive_id,
            "digest": self.digest,
            "events": self.events,
            "writers": [
                {
                    "writer": part.writer,
                    "events": part.events,
                    "firstSeq": part.first_seq,
                    "lastSeq": part.last_seq,
                    "root": part.root,
                }
                for part in self.parts
            ],
            "before": str(self.before),
            "olderThan": self.older_than,
        }


def record_in(payload: Mapping[str, Any]) -> ArchiveRecord:
    """Reads what `payload` writes; raises where a field is missing or has the wrong thing in it."""
    check_payload(EventType.LEDGER_ARCHIVED, payload)
    parts = tuple(
        ArchivedPart(
            each["writer"], each["events"], each["firstSeq"], each["lastSeq"], each["root"]
        )
        for each in payload["writers"]
    )
    before = Instant.parse(payload["before"])
    digest = Digest(payload["digest"])
    return ArchiveRecord(payload["archiveId"], digest, before, payload["olderThan"], parts)


class PartTally:
    """Grows into what an archive holds of one writer, as its hashes come in the order of `seq`."""

    def __init__(self, writer: str) -> None:
        self.last_seq = 0
        self._writer = writer
        self._first_seq = 0
        self._frontier = Frontier()

    def take(self, placed: Iterable[tuple[int, str, str]]) -> None:
        """Takes in places, hashes and ids; raises where a hash is none, and `last_seq` is its place."""
        self._frontier = self._frontier.extended(map(self._leaf, placed))

    def _leaf(self, placed: tuple[int, str, str]) -> bytes:
        self.last_seq, found, event_id = placed
        self._first_seq = self._first_seq or self.last_seq
        check_digest("hash", found, Code.ARCHIVE)
        # All that the list of archived events keeps of one, so that none of it can be changed.
        return leaf_hash(
            bytes.fromhex(found.partition(":")[2]) + event_id.encode("utf-8", "replace")
        )

    def part(self) -> ArchivedPart:
        """What came in so far."""
        frontier = self._frontier
        root = frontier.root().hex()
        return ArchivedPart(self._writer, frontier.size, self._first_seq, self.last_seq, root)


def parts_of(rows: Iterable[tuple[str, int, str, str]]) -> tuple[ArchivedPart, ...]:
    """The parts of one archive: writer, `seq`, hash and id, ordered by writer, then by `seq`."""
    parts = []
    for writer, group in groupby(rows, key=itemgetter(0)):
        tally = PartTally(writer)
        tally.take((seq, found, event_id) for _, seq, found, event_id in group)
        parts.append(tally.part())
    return tuple(parts)
