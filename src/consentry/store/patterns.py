"""Rows of `workflow_pattern`: read as capabilities, added once, and held as they were.

A row is written by its event (`store.projections`) and by nothing else, with one exception: the
first save of a name adds the row before its event does, so that of two that save one name at once
the second is told so before anything of its own is recorded.

Every change of a capability has a moment of its own, later than the last: version and moment
together say which change a row is of, whichever machine's clock it was.
"""

import json
from collections.abc import Sequence
from typing import Final, TypeVar

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.decide.capabilities import FIELDS, HEAD_FIELDS, Capability, CapabilityHead
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.database import Database, Row, Transaction, Value
from consentry.store.journal import About, Journal
from consentry.store.projections import pattern_row
from consentry.store.rows import Overtaken

SURE: Final = 1.0
"""How confident a set is that a person approved or gave; it holds until the code changes."""

_COLUMNS: Final = (
    "id, name, language, code, code_hash, version, permission_set, permission_confidence, "
    "permission_source, detected_patterns, created_at, updated_at"
)
_HEAD_COLUMNS: Final = _COLUMNS.replace(" code,", "")
_INSERT: Final = (
    f"INSERT INTO workflow_pattern ({_COLUMNS}) "  # noqa: S608 - no value in it
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
# Changes nothing, and holds the row until the transaction ends.
_HOLD: Final = (
    "UPDATE workflow_pattern SET updated_at = updated_at "
    "WHERE id = ? AND version = ? AND updated_at = ? AND permission_set = ? AND code_hash = ?"
)
_STRUCTURED: Final = "detectedPatterns"

Told = TypeVar("Told", bound=CapabilityHead)


def saved_capabilities(
    database: Database, where: str, parameters: Sequence[Value] = (), rest: str = ""
) -> list[Capability]:
    """The capabilities whose rows fit, as they are now."""
    query = f"SELECT {_COLUMNS} FROM workflow_pattern WHERE {where} {rest}"  # noqa: S608 - no value in it
    with database.reading() as view:
        return [_believed(row, FIELDS, Capability) for row in view.rows(query, parameters)]


def saved_heads(database: Database) -> list[CapabilityHead]:
    """All of them without their code, by name."""
    query = f"SELECT {_HEAD_COLUMNS} FROM workflow_pattern ORDER BY name"  # noqa: S608 - no value in it
    with database.reading() as view:
        return [_believed(row, HEAD_FIELDS, CapabilityHead) for row in view.rows(query)]


def names_by_id(database: Database) -> dict[str, str]:
    """The names that are taken, by whose they are, in their order."""
    query = "SELECT id, name FROM workflow_pattern ORDER BY name"
    with database.reading() as view:
        return {str(found): str(name) for found, name in view.rows(query)}


def add_first(transaction: Transaction, capability: Capability) -> None:
    """Takes the name for it; raises `Overtaken` where somebody else has taken it."""
    if transaction.run(_INSERT, pattern_row(capability.to_json())) != 1:
        raise Overtaken


def hold_as_it_was(transaction: Transaction, capability: Capability) -> None:
    """Lets nobody change it until the transaction ends; raises `Overtaken` where somebody has."""
    values = (
        capability.capability_id,
        capability.version,
        str(capability.updated_at),
        capability.permission_set.value,
        capability.code_hash,
    )
    if transaction.run(_HOLD, values) != 1:
        raise Overtaken


def moment_after(capability: Capability, now: Instant) -> Instant:
    """Now, or just behind its last change where another clock was ahead."""
    return max(now, Instant(capability.updated_at.unix_ms + 1))


def saved_draft(journal: Journal, capability: Capability, about: About, now: Instant) -> Draft:
    """The event that tells all of a capability, and makes its row."""
    return journal.draft(EventType.WORKFLOW_PATTERN_SAVED, about, capability.to_json(), now)


def _believed(row: Row, fields: Sequence[str], kind: type[Told]) -> Told:
    try:
        document: dict[str, object] = dict(zip(fields, row, strict=True))
        document[_STRUCTURED] = json.loads(str(document[_STRUCTURED]))
        return kind.from_json(document)
    except (BadInput, ValueError, RecursionError) as problem:
        named = f"the row `{row[0]!s}` of `workflow_pattern`"
        raise LedgerProblem(
            Code.LEDGER_CORRUPT,
            f"{named} cannot be believed: {problem}",
            help_line="`consentry audit rebuild` fills the table anew",
        ) from problem
