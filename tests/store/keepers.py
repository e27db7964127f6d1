"""Everything that keeps the values of `decide`, on one ledger; also what other processes run.

python -m tests.store.keepers PLACE WAY WRITER   reads ids from standard input, one a line, tries that
way with each and prints `won` or the refusal's code
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from consentry.base.clock import Clock, ManualClock, SystemClock
from consentry.base.errors import ConsentryError
from consentry.base.ids import IdSource, Uuid7Ids
from consentry.base.units import Duration
from consentry.decide.budgets import UseKind
from consentry.decide.question import Outcome
from consentry.decide.session import Leader
from consentry.decide.tokens import FsReadWriteCapability
from consentry.record.envelope import Context
from consentry.store.acceptances import StoredAcceptances
from consentry.store.capabilities import CapabilityStore
from consentry.store.consents import StoredConsents
from consentry.store.database import Database, Row
from consentry.store.grants import StoredGrants
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.machines import StoredMachines
from consentry.store.permissionaudit import PermissionAuditStore
from consentry.store.permits import StoredPermits
from consentry.store.pluginversions import StoredPluginVersions
from consentry.store.postgres import PostgresDatabase
from consentry.store.requests import StoredRequests
from consentry.store.sessions import StoredSessions
from consentry.store.sqlite import SqliteDatabase
from consentry.store.tokens import StoredTokens
from tests.decide.samples import OWNER, answer
from tests.record.samples import WRITER


def pass_time(keepers: "Keepers", duration: Duration) -> None:
    """Moves the clock of a test on."""
    assert isinstance(keepers.clock, ManualClock)
    keepers.clock.advance(duration)


def events(ledger: Ledger) -> list[dict[str, Any]]:
    """What was recorded, oldest first."""
    return [json.loads(row.body) for row in ledger.history.events()]


def types(ledger: Ledger) -> list[str]:
    """The types of what was recorded."""
    return [event["type"] for event in events(ledger)]


def all_rows(database: Database, *tables: str) -> dict[str, list[Row]]:
    """Every row of these tables."""
    with database.reading() as view:
        query = "SELECT * FROM {} ORDER BY 1"
        return {table: list(view.rows(query.format(table))) for table in tables}


class Processes:
    """The processes of a machine: all live but those that were said to be gone."""

    def __init__(self) -> None:
        self.gone: set[Leader] = set()

    def __call__(self, leader: Leader) -> bool:
        """Whether that process still runs."""
        return leader not in self.gone


@dataclass
class Keepers:
    """One of each, as one program on one machine has them."""

    ledger: Ledger
    clock: Clock = field(default_factory=SystemClock)
    machine_id: str = WRITER
    processes: Processes = field(default_factory=Processes)

    def __post_init__(self) -> None:
        self.ids: IdSource = Uuid7Ids(self.clock)
        self.context = Context(actor=OWNER, machine_id=self.machine_id)
        parts = (self.ledger, self.ids, self.clock, self.context)
        self.requests = StoredRequests(*parts)
        self.consents = StoredConsents(*parts)
        self.acceptances = StoredAcceptances(*parts)
        self.plugin_versions = StoredPluginVersions(*parts)
        self.grants = StoredGrants(*parts)
        self.permits = StoredPermits(*parts)
        self.machines = StoredMachines(*parts)
        self.sessions = StoredSessions(*parts, self.processes)
        self.audit = PermissionAuditStore(*parts)
        self.capabilities = CapabilityStore(Journal(*parts))
        self.tokens = StoredTokens(Journal(*parts))

    def elsewhere(self, machine_id: str, database: Database) -> "Keepers":
        """The same on another machine."""
        ledger = Ledger(database, machine_id)
        return replace(self, ledger=ledger, machine_id=machine_id, processes=Processes())

    def ways(self) -> dict[str, Callable[[str], object]]:
        """What at most one may do, by name."""
        return {
            "answer": lambda request_id: self.requests.answer(request_id, answer()),
            "deny": lambda request_id: self.requests.answer(request_id, answer(Outcome.DENIED)),
            "spend": lambda permit_id: self.permits.spend(permit_id, "run"),
            "use": self.consents.use,
            "use-token": self._use_token,
        }

    def _use_token(self, text: str) -> None:
        """One write with the token that the text is."""
        token = FsReadWriteCapability.from_text(text)
        self.tokens.use(token.use(UseKind.FS_WRITE, "write", None))

    def tried(self, way: str, thing_id: str) -> str:
        """`won`, or the code of the refusal."""
        try:
            self.ways()[way](thing_id)
        except ConsentryError as refusal:
            return str(refusal.code)
        return "won"


def open_place(place: str) -> Database:
    """A database by its URL or path, its tables made before."""
    is_url = place.startswith("postgres")
    return PostgresDatabase(place) if is_url else SqliteDatabase(Path(place))


def main(place: str, way: str, writer: str) -> None:
    """Tries the way with every id that comes, and tells how it went."""
    database = open_place(place)
    keepers = Keepers(Ledger(database, writer), machine_id=WRITER)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(f"{keepers.tried(way, line.strip())}\n")
        sys.stdout.flush()
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
