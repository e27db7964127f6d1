"""The shape of the database, as steps forward and back.

Each step runs in one transaction together with the new version number, so that two processes that
start at once do it once, and a crash leaves the old shape or the new one. A database newer than the
program is refused and not touched.

Events are stored as the canonical bytes their hash is over, and once only: what queries look for is
computed from those bytes by the database itself, so that no second copy can tell another story.
"""

from dataclasses import dataclass

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.store.database import Database, Transaction


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: the version it leads to, and the statements both ways."""

    version: int
    forward: tuple[str, ...]
    back: tuple[str, ...]


MIGRATIONS = (
    Migration(
        1,
        forward=(
            """
            CREATE TABLE ledger_event (
                writer TEXT NOT NULL,
                seq INTEGER NOT NULL,
                hash TEXT NOT NULL,
                body TEXT NOT NULL,
                event_id TEXT GENERATED ALWAYS AS (json_extract(body, '$.eventId')) VIRTUAL,
                type TEXT GENERATED ALWAYS AS (json_extract(body, '$.type')) VIRTUAL,
                subject TEXT GENERATED ALWAYS AS (json_extract(body, '$.subject')) VIRTUAL,
                session_id TEXT GENERATED ALWAYS AS (json_extract(body, '$.sessionId')) VIRTUAL,
                at TEXT GENERATED ALWAYS AS (json_extract(body, '$.timestampUtc')) VIRTUAL,
                PRIMARY KEY (writer, seq)
            ) WITHOUT ROWID, STRICT
            """,
            "CREATE UNIQUE INDEX ledger_event_id ON ledger_event (event_id)",
            "CREATE INDEX ledger_event_subject ON ledger_event (subject, at)",
            "CREATE INDEX ledger_event_at ON ledger_event (at)",
            "CREATE TABLE store_identity (id TEXT NOT NULL) STRICT",
            "INSERT INTO store_identity VALUES ('store-' || lower(hex(randomblob(16))))",
            """
            CREATE TABLE ledger_head (
                writer TEXT PRIMARY KEY,
                seq INTEGER NOT NULL,
                hash TEXT NOT NULL
            ) STRICT
            """,
        ),
        back=(
            "DROP TABLE ledger_head",
            "DROP TABLE store_identity",
            "DROP TABLE ledger_event",
        ),
    ),
)
NEWEST = MIGRATIONS[-1].version


def migrate(database: Database, to: int = NEWEST) -> None:
    """Brings the database to a version, forward or back; safe to run twice and to race."""
    with database.reading() as view:
        if _has_versions(view) and version_of(view) == to:
            return
    with database.writing() as transaction:
        transaction.run("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
        at = version_of(transaction)
        if at > NEWEST:
            raise LedgerProblem(
                Code.LEDGER_NEWER, f"the database has version {at}, this program knows {NEWEST}"
            )
        for step in MIGRATIONS if to >= at else reversed(MIGRATIONS):
            if at < step.version <= to:
                _run_all(transaction, step.forward)
            elif to < step.version <= at:
                _run_all(transaction, step.back)
        transaction.run("DELETE FROM schema_version")
        transaction.run("INSERT INTO schema_version VALUES (?)", (to,))


def version_of(transaction: Transaction) -> int:
    """The version the database has; 0 before the first step."""
    found = [row[0] for row in transaction.rows("SELECT version FROM schema_version")]
    return int(found[0]) if found and found[0] is not None else 0


def _has_versions(view: Transaction) -> bool:
    query = "SELECT count(*) FROM sqlite_master WHERE name = 'schema_version'"
    return next(view.rows(query))[0] == 1


def _run_all(transaction: Transaction, statements: tuple[str, ...]) -> None:
    for statement in statements:
        transaction.run(statement)
