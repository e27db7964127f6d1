"""A store with a host, a module and as many grants as a bench wants."""

import json
from collections.abc import Sequence
from typing import Final

from bench.drafts import WRITER
from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.base.values import replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilitycheck import CheckResult, Origin, Standing
from consentry.decide.grant import GrantScope, GrantTerms
from consentry.decide.identity import Identity, Role
from consentry.decide.lasting import Lasts
from consentry.decide.moduleregistration import ActionRun
from consentry.decide.question import Answer, Channel, Outcome
from consentry.decide.session import SessionKind
from consentry.record.envelope import Context
from consentry.service.approvals import Desk
from consentry.service.modulegate import ModuleGate, Wanted
from consentry.service.moduleimport import import_module
from consentry.store.database import Database, Value
from consentry.store.grants import StoredGrants
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.modulechecks import ModuleChecks
from consentry.store.sessions import StoredSessions
from tests.declare.modulesamples import HOST, package_document

MODULE: Final = "note-tools"
CAPABILITIES: Final = ("module.storage.local", "state.read", "export.user.file")
BY: Final = Identity("local:1000:bench@host")
_OTHERS: Final = 8
"""So many grants has each of the other modules."""

_GRANT: Final = (
    "INSERT INTO capability_grant (grant_id, host_id, module_id, module_version, package_digest, "
    "capability_id, scope, grant_version, given_by, given_role, given_at, revoked_by, revoked_at) "
    "VALUES (?, ?, ?, ?, ?, ?, 'persistent', '1.0.0', ?, 'owner', ?, ?, ?)"
)
_MODULE: Final = (
    "INSERT INTO module (host_id, module_id, module_version, package_digest, document, "
    "imported_by, imported_at, revision) SELECT host_id, ?, module_version, package_digest, "
    "document, imported_by, imported_at, 1 FROM module WHERE host_id = ? AND module_id = ?"
)


def typical(number: int) -> bytes:
    """A package of usual size: five entries, five bindings; another content for each number."""
    document = package_document() | {"description": f"Lists, exports and adds notes, {number}"}
    return json.dumps(document).encode()


class Ground:
    """One program of the host on one store."""

    def __init__(self, database: Database, host_id: str = HOST.host_id) -> None:
        self.host = replace(HOST, host_id=host_id)
        clock = SystemClock()
        parts = (Ledger(database, WRITER), Uuid7Ids(clock), clock)
        sessions = StoredSessions(*parts, Context(BY, WRITER), lambda _: True)
        session = sessions.start(BY, SessionKind.LIBRARY).session_id
        self.journal = Journal(*parts, Context(BY, WRITER, session))
        self.grants = StoredGrants(*parts, self.journal.context)
        self.desk = Desk(self.journal)
        self.checks, self.gate = self._new_gate()

    def _new_gate(self) -> tuple[ModuleChecks, ModuleGate]:
        checks = ModuleChecks(self.journal, self.host.host_id)
        return checks, ModuleGate(checks, self.desk)

    def import_module(self, package: bytes) -> None:
        """Imports it as a host does."""
        if not import_module(self.journal, self.host, package, BY)["ok"]:
            raise RuntimeError("the bench's package was refused")

    def standing(self) -> Standing:
        """What the module may do now."""
        return self.gate.standing(MODULE)

    def forget(self) -> None:
        """Nothing is loaded any more."""
        self.checks, self.gate = self._new_gate()

    def grant(self, capabilities: Sequence[str]) -> None:
        """Gives these to the module for good, one by one."""
        module = self.standing().identity
        for each in capabilities:
            terms = GrantTerms(
                *(module.host_id, module.module_id, module.module_version, module.package_digest),
                capability_id=each,
                scope=GrantScope.PERSISTENT,
                given_by=BY,
                given_role=Role.OWNER,
            )
            self.grants.give(terms)

    def revoke(self, grant_ids: Sequence[str]) -> None:
        """Takes them back."""
        for each in grant_ids:
            self.grants.revoke(each, BY)

    def fill(self, size: int) -> None:
        """The module with its grants, and beside them old ones of its own and those of other modules."""
        self.import_module(typical(0))
        self.grant(CAPABILITIES[:2])
        module, new = self.standing().identity, self.journal.ids.new
        others = [f"other-{number}" for number in range((size - 2) // 2 // _OTHERS + 1)]
        now = str(self.journal.clock.now())
        rows: list[tuple[Value, ...]] = []
        for number in range(size - 2):
            capability = CAPABILITIES[number % len(CAPABILITIES)]
            is_own = number % 2 == 0
            name = MODULE if is_own else others[number // 2 // _OTHERS]
            version = f"0.{number}.0" if is_own else module.module_version
            ended = ("system", now) if is_own else (None, None)
            content = (version, module.package_digest, capability)
            by = f"{BY}{number}"
            rows.append((new("grant"), module.host_id, name, *content, by, now, *ended))
        with self.journal.database.writing() as transaction:
            place = (module.host_id, MODULE)
            transaction.run_many(_MODULE, [(name, *place) for name in others])
            transaction.run_many(_GRANT, rows)

    def use(self, needed: tuple[str, ...]) -> None:
        """Records that an action begins which needs these."""
        wanted = self._wanted(needed)
        if not self.gate.begin(wanted, self.gate.check(wanted)).is_passed:
            raise RuntimeError("the bench may not use what it was granted")

    def ask(self, needed: tuple[str, ...]) -> ApprovalRequest:
        """Puts the question about what is missing."""
        wanted = self._wanted(needed)
        result: CheckResult = self.gate.check(wanted)
        return self.gate.escalate(wanted, result, None, waits=False).request

    def answer(self, request: ApprovalRequest) -> list[str]:
        """Says yes for good; the grants that gave."""
        yes = Answer(Outcome.APPROVED, BY, Role.OWNER, Channel.LIBRARY, lasts=Lasts.PERMANENT)
        self.desk.answer(request.request_id, yes)
        return [each.grant_id for each in self.standing().granted.values()][-1:]

    def _wanted(self, needed: tuple[str, ...]) -> Wanted:
        run = ActionRun(
            self.journal.ids.new("action"),
            self.standing().identity,
            "list",
            Origin.INTERACTIVE,
            ("notes.list",),
        )
        return Wanted(run, needed, "Note tools")
