"""Ledgers to be tampered with, and single changes made to them behind their back.

A change is a list of statements, and the places of which one must be named as the first bad one.
The indexes are dropped before, and what is computed from a body takes any body: whoever owns a
database can do that, and then change what its constraints would refuse.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import strategies as st

from consentry.record.chain import ChainRow
from consentry.record.events import EventType
from consentry.store.database import Database, Dialect, Transaction, Value
from consentry.store.ledger import Ledger
from tests.record.samples import WRITER, Drafts
from tests.store.archiving import OTHER, all_before, draft_of, taken_out

LAST = "machine-" + "f" * 32
WRITERS = (WRITER, OTHER, LAST)
KINDS = tuple(kind for kind in EventType if kind is not EventType.LEDGER_ARCHIVED)

Statement: TypeAlias = tuple[str, tuple[Value, ...]]
Place: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Change:
    """What is done, and where the first bad event may be said to be."""

    what: str
    statements: tuple[Statement, ...]
    places: frozenset[Place]


def fill(database: Database, *, archived: bool) -> None:
    """Every kind of event by three writers in turn; the oldest archived, if that is asked for."""
    drafts = Drafts()
    ledgers = [Ledger(database, writer) for writer in WRITERS]
    for number, kind in enumerate(KINDS):
        ledgers[number % 3].append(draft_of(drafts, kind))
    if archived:
        taken_out(ledgers[0], drafts, all_before(13))


def lay_open(transaction: Transaction) -> None:
    """Takes away what would refuse a change."""
    for index in ("id", "subject", "at", "session"):
        transaction.run(f"DROP INDEX ledger_event_{index}")
    if transaction.dialect is Dialect.SQLITE:
        transaction.run("PRAGMA writable_schema = ON")
        transaction.run(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, 'body TEXT NOT NULL', 'body TEXT'), "
            "'json_extract(body,', 'json_extract(CASE WHEN json_valid(body) THEN body END,')"
        )
        transaction.run("PRAGMA writable_schema = OFF")
    else:
        transaction.run("ALTER TABLE ledger_event ALTER COLUMN body DROP NOT NULL")
        for column in ("event_id", "type", "subject", "session_id", "at", "decision"):
            transaction.run(f"ALTER TABLE ledger_event ALTER COLUMN {column} DROP EXPRESSION")


def body_value(dialect: Dialect, body: bytes) -> tuple[str, Value]:
    """How a body is written as a value: in SQLite also one that is not text any more."""
    return ("CAST(? AS TEXT)", body) if dialect is Dialect.SQLITE else ("?", body.decode())


def is_storable(dialect: Dialect, body: bytes) -> bool:
    """Whether the database can hold it as a text at all."""
    if dialect is Dialect.SQLITE:
        return True
    try:
        return "\0" not in body.decode()
    except UnicodeDecodeError:
        return False


@st.composite
def changes(draw: st.DrawFn, dialect: Dialect, rows: Sequence[ChainRow]) -> Change:
    """One single change of a ledger with these rows."""
    made = _Changes(dialect, rows, draw)
    ways = (
        *(made.body, made.body_gone, made.hash, made.writer, made.seq, made.dropped),
        *(made.repeated, made.swapped, made.head, made.head_gone, made.head_added),
    )
    return draw(st.sampled_from(ways))()


@dataclass(frozen=True, slots=True)
class _Changes:
    """One method for each way to change a ledger."""

    dialect: Dialect
    rows: Sequence[ChainRow]
    draw: st.DrawFn

    def _row(self) -> ChainRow:
        return self.draw(st.sampled_from(self.rows))

    def _last(self, writer: str) -> int:
        return max(row.seq for row in self.rows if row.writer == writer)

    def _set(self, row: ChainRow, clause: str, *values: Value) -> Statement:
        where = "WHERE writer = ? AND seq = ?"
        statement = f"UPDATE ledger_event SET {clause} {where}"  # noqa: S608 - of ours
        return statement, (*values, row.writer, row.seq)

    def _insert(self, writer: str, seq: int, row: ChainRow) -> Statement:
        mark, value = body_value(self.dialect, row.body)
        columns = "INSERT INTO ledger_event (writer, seq, hash, body)"
        return f"{columns} VALUES (?, ?, ?, {mark})", (writer, seq, row.hash, value)

    def body(self) -> Change:
        row = self._row()
        usable = other_bytes(row.body).filter(lambda body: is_storable(self.dialect, body))
        mark, value = body_value(self.dialect, self.draw(usable))
        return Change("body", (self._set(row, f"body = {mark}", value),), at(row))

    def body_gone(self) -> Change:
        row = self._row()
        return Change("body gone", (self._set(row, "body = NULL"),), at(row))

    def hash(self) -> Change:
        row = self._row()
        others = st.sampled_from([each.hash for each in self.rows if each.hash != row.hash])
        found = self.draw(others | other_text(row.hash))
        return Change("hash", (self._set(row, "hash = ?", found),), at(row))

    def writer(self) -> Change:
        row = self._row()
        other = self.draw(other_text(row.writer).filter(lambda name: name not in WRITERS))
        places = at(row) | {(other, row.seq), (other, 1)}
        return Change("writer", (self._set(row, "writer = ?", other),), places)

    def seq(self) -> Change:
        row = self._row()
        free = st.integers(-3, 0) | st.integers(1, 1 << 40).map(self._last(row.writer).__add__)
        seq = self.draw(free)
        return Change("seq", (self._set(row, "seq = ?", seq),), at(row) | {(row.writer, seq)})

    def dropped(self) -> Change:
        row = self._row()
        statement = "DELETE FROM ledger_event WHERE writer = ? AND seq = ?"
        return Change("dropped", ((statement, (row.writer, row.seq)),), at(row))

    def repeated(self) -> Change:
        row, writer = self._row(), self.draw(st.sampled_from((*WRITERS, "machine-other")))
        known = writer in WRITERS
        seq = self.draw(st.sampled_from((0, -1, self._last(writer) + 1 if known else 1)))
        return Change("repeated", (self._insert(writer, seq, row),), frozenset({(writer, seq)}))

    def swapped(self) -> Change:
        first, second = self.draw(
            st.lists(st.sampled_from(self.rows), min_size=2, max_size=2, unique=True).map(sorted)
        )
        statements = []
        for place, row in ((first, second), (second, first)):
            mark, value = body_value(self.dialect, row.body)
            statements.append(self._set(place, f"hash = ?, body = {mark}", row.hash, value))
        return Change("swapped", tuple(statements), at(first))

    def head(self) -> Change:
        writer = self.draw(st.sampled_from(WRITERS))
        last = self._last(writer)
        clause, value = self.draw(
            st.one_of(
                st.tuples(st.just("hash = ?"), st.sampled_from([r.hash for r in self.rows])),
                st.tuples(st.just("seq = ?"), st.integers(0, 2 * last)),
                st.tuples(st.just("writer = ?"), other_text(writer)),
            ).filter(lambda pair: pair[1] not in (last, self._hash_at(writer, last), *WRITERS))
        )
        statement = f"UPDATE ledger_head SET {clause} WHERE writer = ?"  # noqa: S608 - of ours
        places = {(writer, seq) for seq in range(2 * last + 2)} | {(str(value), 1)}
        return Change("head", ((statement, (value, writer)),), frozenset(places))

    def _hash_at(self, writer: str, seq: int) -> str:
        return next(row.hash for row in self.rows if (row.writer, row.seq) == (writer, seq))

    def head_gone(self) -> Change:
        writer = self.draw(st.sampled_from(WRITERS))
        statement = "DELETE FROM ledger_head WHERE writer = ?"
        return Change("head gone", ((statement, (writer,)),), frozenset({(writer, 1)}))

    def head_added(self) -> Change:
        writer = self.draw(other_text(WRITER).filter(lambda name: name not in WRITERS))
        row = self._row()
        statement = "INSERT INTO ledger_head (writer, seq, hash) VALUES (?, ?, ?)"
        values = (writer, row.seq, row.hash)
        return Change("head added", ((statement, values),), frozenset({(writer, 1)}))


def at(row: ChainRow) -> frozenset[Place]:
    """The row's own place."""
    return frozenset({(row.writer, row.seq)})


def other_text(text: str) -> st.SearchStrategy[str]:
    """Another one: a character changed, some cut off, some put behind."""
    plain = st.sampled_from("0123456789abcdefghijklmnopqrstuvwxyzABC -_.:é\u202e")
    places = st.integers(0, len(text) - 1)
    changed = st.builds(lambda at, new: text[:at] + new + text[at + 1 :], places, plain)
    shorter = places.map(lambda end: text[:end])
    longer = plain.map(text.__add__)
    return (changed | shorter | longer).filter(lambda other: other != text)


def other_bytes(body: bytes) -> st.SearchStrategy[bytes]:
    """Another body: a bit, a byte, a cut, a piece more, a NUL, bytes that are no text."""
    places = st.integers(0, len(body) - 1)
    flipped = st.builds(
        lambda at, bit: body[:at] + bytes([body[at] ^ (1 << bit)]) + body[at + 1 :],
        places,
        st.integers(0, 7),
    )
    inserted = st.builds(
        lambda at, new: body[:at] + new + body[at:],
        places,
        st.sampled_from([b"\0", b"\xff", b"\xed\xa0\x80", b" ", b"0", b'"', b"\xc3\xa9"]),
    )
    cut = places.map(lambda end: body[:end])
    more = st.sampled_from([b"\0", b" ", b"\n", b"}"]).map(body.__add__)
    return (flipped | inserted | cut | more).filter(lambda other: other != body)
