"""Brings the shape of the database forward or back, step by step.

All steps run in one transaction together with the new version number, so that two processes that
start at once do it once, and a crash leaves the old shape or the new one. A database newer than the
program is refused and not touched. Going back loses what only the newer shape can hold, so it is
refused where that would be an event.
"""

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.store.database import Database, Dialect, Transaction
from consentry.store.schema.acceptances import ACCEPTANCES
from consentry.store.schema.capabilities import CAPABILITIES
from consentry.store.schema.escalation import ESCALATION
from consentry.store.schema.keeping import KEEPING
from consentry.store.schema.ledger import ARCHIVES, EVENTS
from consentry.store.schema.lookups import LOOKUPS
from consentry.store.schema.modules import MODULES
from consentry.store.schema.modulestorage import MODULE_STORAGE
from consentry.store.schema.pluginversions import PLUGIN_VERSIONS
from consentry.store.schema.tokens import TOKENS
from consentry.store.schema.transactions import TRANSACTIONS

MIGRATIONS = (
    EVENTS,
    ARCHIVES,
    KEEPING,
    ESCALATION,
    ACCEPTANCES,
    LOOKUPS,
    CAPABILITIES,
    TOKENS,
    PLUGIN_VERSIONS,
    MODULES,
    MODULE_STORAGE,
    TRANSACTIONS,
)
NEWEST = MIGRATIONS[-1].version

_ADVISORY_LOCK = 0x436F6E73656E74  # "Consent": any number will do that other programs do not take
_HAS_VERSIONS = {
    Dialect.SQLITE: "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'",
    Dialect.POSTGRESQL: "SELECT count(to_regclass('schema_version'))",
}


def migrate(database: Database, to: int = NEWEST) -> None:
    """Brings the database to a version, forward or back; safe to run twice and to race."""
    with database.reading() as view:
        if version_of(view) == to:
            return
    with database.writing() as transaction:
        if transaction.dialect is Dialect.POSTGRESQL:
            transaction.run(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        at = version_of(transaction)
        if at > NEWEST:
            raise LedgerProblem(
                Code.LEDGER_NEWER, f"the database has version {at}, this program knows {NEWEST}"
            )
        transaction.run("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
        for step in MIGRATIONS if to >= at else reversed(MIGRATIONS):
            if at < step.version <= to:
                _run_all(transaction, step.forward[transaction.dialect])
            elif to < step.version <= at:
                _require_nothing_lost(transaction, step.version)
                _run_all(transaction, step.back[transaction.dialect])
        transaction.run("DELETE FROM schema_version")
        transaction.run("INSERT INTO schema_version VALUES (?)", (to,))


def version_of(view: Transaction) -> int:
    """The version the database has; 0 before the first step."""
    if next(iter(view.rows(_HAS_VERSIONS[view.dialect])))[0] == 0:
        return 0
    found = [row[0] for row in view.rows("SELECT version FROM schema_version")]
    return int(found[0]) if found and found[0] is not None else 0


_EVENTS_LOST = {
    EVENTS.version: (
        "ledger_event",
        "events were recorded, which a database of version 0 cannot hold",
    ),
    # A history that was archived cannot be followed without the list of what was.
    ARCHIVES.version: (
        "archived_event",
        "events were archived, which a database of version 1 cannot follow",
    ),
}


def _require_nothing_lost(transaction: Transaction, version: int) -> None:
    table, message = _EVENTS_LOST.get(version, (None, ""))
    if table is None:
        return
    if any(True for _ in transaction.rows(f"SELECT 1 FROM {table} LIMIT 1")):  # noqa: S608 - ours
        raise LedgerProblem(Code.LEDGER_NEWER, message)


def _run_all(transaction: Transaction, statements: tuple[str, ...]) -> None:
    for statement in statements:
        transaction.run(statement)
