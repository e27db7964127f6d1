"""Which events may leave the ledger for an archive, and the one step in which they do.

An archived event leaves its place, hash and id in `archived_event`, so that the chain can still be
followed and checkpoints still hold. Some never leave: those that say what was archived or signed,
those that tables are filled from, because `rebuild` reads them from the ledger alone, and those that
a sign-off asks for however old they are: a violation does not become less of one in an archive.

Which ones go is said by conditions and not by a list, so that a million of them need no million
parameters. Between the writing of the archive and the step nothing is locked; the step itself
compares what it takes out with what the archive holds, and takes nothing out where they differ.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, cast

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, field, replace
from consentry.record.archiverecord import ArchivedPart, ArchiveRecord, parts_of
from consentry.record.chain import ChainRow
from consentry.record.events import EventType
from consentry.store.database import Dialect, Transaction, Value
from consentry.store.eventrows import chain_rows
from consentry.store.projections import PROJECTIONS

NEVER_ARCHIVED: Final = (
    EventType.LEDGER_ARCHIVED.value,
    EventType.LEDGER_CHECKPOINT.value,
    EventType.ESCALATION_APPROVED.value,
    EventType.CHECK_REJECTED.value,
    EventType.ROLLBACK_EXECUTED.value,
    EventType.ROLLBACK_FAILED.value,
    EventType.SIGNOFF_RESOLVED.value,
    *PROJECTIONS,
)
"""The types that stay."""

_EFFECT_EVENTS: Final = (EventType.EFFECT_DECIDED.value, EventType.EFFECT_SETTLED.value)
_PAGE: Final = 5000
_OWN_SPAN = {
    Dialect.SQLITE: "CAST(json_extract(body, '$.payload.tool.auditConfig.retainLogs') AS TEXT)",
    Dialect.POSTGRESQL: ("(consentry_json(body) #>> '{payload,tool,auditConfig,retainLogs}')"),
}
_LIMIT_OF = {
    Dialect.SQLITE: "SELECT value FROM json_each(?) WHERE key",
    Dialect.POSTGRESQL: "SELECT value FROM json_each_text(CAST(? AS json)) WHERE key",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which events are old enough to be archived.

    All are from before `before`. A `tool.audit` event of a tool with a span of its own (`retainLogs`
    of its `auditConfig`) is also from before the limit that `own` has for that span; every other one
    is from before `others`, and where that is None there is no other one. A span that `own` does not
    have counts as none. What became of an effect is said behind its run: such an event is also from
    before every limit, so that no entry that stays loses the event that says it was committed.
    """

    before: Instant
    others: Instant | None
    own: Mapping[str, Instant] = field(default_factory=dict)

    def where(self, dialect: Dialect) -> tuple[str, tuple[Value, ...]]:
        """The WHERE clause and its parameters."""
        marks = ", ".join("?" for _ in NEVER_ARCHIVED)
        clause = (
            f" WHERE at < ? AND type NOT IN ({marks}) AND at < CASE WHEN type = ? "
            f"THEN COALESCE(({_LIMIT_OF[dialect]} = {_OWN_SPAN[dialect]}), ?) "
            "WHEN type IN (?, ?) THEN ? ELSE ? END"
        )
        # Every time sorts behind the empty text.
        others = "" if self.others is None else str(self.others)
        effects = min([others, *map(str, self.own.values())])
        limits = json.dumps({span: str(limit) for span, limit in self.own.items()})
        tool = EventType.TOOL_AUDIT.value
        ends = (*_EFFECT_EVENTS, effects, others)
        return clause, (str(self.before), *NEVER_ARCHIVED, tool, limits, others, *ends)


class ChosenOf(NamedTuple):
    """How many events of one writer a selection has, and between which places and times."""

    writer: str
    events: int
    first_seq: int
    last_seq: int
    oldest: str
    newest: str


class ArchivedRow(NamedTuple):
    """What is left of an event in the ledger."""

    writer: str
    seq: int
    hash: str
    event_id: str


def own_spans(view: Transaction, before: Instant) -> list[str]:
    """Every `retainLogs` that a `tool.audit` event from before that moment has, as it is written."""
    span = _OWN_SPAN[view.dialect]
    query = f"SELECT DISTINCT {span} FROM ledger_event WHERE at < ? AND type = ?"  # noqa: S608 - no value in it
    found = view.rows(query, (str(before), EventType.TOOL_AUDIT.value))
    return [str(row[0]) for row in found if row[0] is not None]


def chosen(view: Transaction, selection: Selection) -> list[ChosenOf]:
    """What the selection has, writer by writer."""
    where, values = selection.where(view.dialect)
    query = (
        "SELECT writer, COUNT(*), MIN(seq), MAX(seq), MIN(at), MAX(at) "  # noqa: S608 - as above
        "FROM ledger_event"
        f"{where} GROUP BY writer ORDER BY writer"
    )
    return [ChosenOf._make(cast("ChosenOf", row)) for row in view.rows(query, values)]


def at_most(view: Transaction, selection: Selection, most: int) -> Selection:
    """The oldest of the selection, not more than `most` unless they are of one moment."""
    where, values = selection.where(view.dialect)
    query = f"SELECT at FROM ledger_event{where} ORDER BY at LIMIT 1 OFFSET ?"  # noqa: S608 - as above
    beyond = next((str(row[0]) for row in view.rows(query, (*values, most))), None)
    if beyond is None:
        return selection
    earlier = replace(selection, before=Instant.parse(beyond))
    return earlier if chosen(view, earlier) else selection


def chosen_events(view: Transaction, selection: Selection) -> Iterator[ChainRow]:
    """The events of the selection, ordered by writer, then by `seq`, one by one."""
    where, values = selection.where(view.dialect)
    return chain_rows(view, f"{where} ORDER BY writer, seq", values)


def take_out(transaction: Transaction, selection: Selection, record: ArchiveRecord) -> None:
    """Leaves of each event of the selection its hash; raises unless they are those of the record."""
    where, values = selection.where(transaction.dialect)
    # Another machine that archives the same events at this moment is waited for, and found out.
    taken = transaction.run(
        "INSERT INTO archived_event (writer, seq, hash, event_id, archive_id) "  # noqa: S608 - as above
        f"SELECT writer, seq, hash, event_id, ? FROM ledger_event{where} "
        "ORDER BY writer, seq ON CONFLICT DO NOTHING",
        (record.archive_id, *values),
    )
    if taken != record.events or _parts_left(transaction, record.archive_id) != record.parts:
        raise _changed_meanwhile()
    removed = transaction.run(
        "DELETE FROM ledger_event WHERE (writer, seq) IN "
        "(SELECT writer, seq FROM archived_event WHERE archive_id = ?)",
        (record.archive_id,),
    )
    if removed != record.events:
        raise _changed_meanwhile()


def archived_rows(view: Transaction, archive_id: str) -> Iterator[ArchivedRow]:
    """What is left of the events of an archive, ordered by writer, then by `seq`; page by page."""
    query = (
        "SELECT writer, seq, hash, event_id FROM archived_event "
        "WHERE archive_id = ? AND (writer, seq) > (?, ?) ORDER BY writer, seq LIMIT ?"
    )
    writer, seq = "", 0
    while True:
        # In a transaction that writes, a whole answer is held in memory.
        page = list(view.rows(query, (archive_id, writer, seq, _PAGE)))
        for row in page:
            yield ArchivedRow._make(cast("ArchivedRow", row))
        if len(page) < _PAGE:
            return
        writer, seq = cast("tuple[str, int]", page[-1][:2])


def _parts_left(transaction: Transaction, archive_id: str) -> tuple[ArchivedPart, ...]:
    return parts_of(
        (row.writer, row.seq, row.hash, row.event_id)
        for row in archived_rows(transaction, archive_id)
    )


def _changed_meanwhile() -> Refused:
    message = "the old events changed while they were being archived; none was taken out"
    return Refused(Code.RETAIN_RACED, message)
