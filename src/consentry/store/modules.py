"""Hosts and imported modules in the store: registered, replaced, removed; and the operator's mode.

An import is one transaction: the registration, the end of every grant that other content of the module
had, and the events. After a crash all of it is there or nothing is. A refused package leaves one event and
nothing else. What a removed module was granted is revoked, and what it stored is deleted, with it.
"""

import json
from collections.abc import Sequence
from typing import Final

from consentry.base.canonical import Digest, Json, canonical_json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.base.values import replace
from consentry.decide.capabilityask import subject_of
from consentry.decide.capabilitycheck import ModuleIdentity, RejectCode
from consentry.decide.identity import Identity
from consentry.decide.modulemode import ModeSetting, ModuleMode
from consentry.decide.moduleregistration import Registration, Removed
from consentry.declare.hostdescription import HostDescription
from consentry.declare.hostfile import read_host
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.capabilityevents import BY_SYSTEM, CapabilityFacts, capability_draft
from consentry.store.database import Row, Transaction, Value
from consentry.store.grants import StoredGrants
from consentry.store.journal import About, Journal
from consentry.store.ledger import Change
from consentry.store.modulestorage import StoredModuleStorage
from consentry.store.requests import StoredRequests
from consentry.store.rows import Overtaken
from consentry.surface.catalog import CapabilityCatalog, capability_catalog

_MOST_TRIES: Final = 16
_OUTDATED: Final = "the module was replaced by other content"
_REMOVED: Final = "the module was removed"
_COLUMNS: Final = (
    "host_id, module_id, module_version, package_digest, document, graph, imported_by, imported_at, "
    "revision"
)
_SELECT: Final = f"SELECT {_COLUMNS} FROM module"  # noqa: S608 - no value in it
_REGISTER: Final = (
    f"INSERT INTO module ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1 + coalesce("  # noqa: S608 - as above
    "(SELECT revision FROM module_removed WHERE host_id = ? AND module_id = ?), 0)) "
    "ON CONFLICT (host_id, module_id) DO UPDATE SET module_version = excluded.module_version, "
    "package_digest = excluded.package_digest, document = excluded.document, "
    "graph = excluded.graph, imported_by = excluded.imported_by, "
    "imported_at = excluded.imported_at, revision = module.revision + 1"
)
# Or it would count from the beginning when it comes back, and what was loaded look fresh.
_KEEP_REVISION: Final = (
    "INSERT INTO module_removed (host_id, module_id, revision) "
    "SELECT host_id, module_id, revision FROM module WHERE host_id = ? AND module_id = ? "
    "ON CONFLICT (host_id, module_id) DO UPDATE SET revision = excluded.revision"
)
_KEEP_HOST: Final = (
    "INSERT INTO module_host (host_id, app_version, digest, document, registered_at) "
    "VALUES (?, ?, ?, ?, ?) ON CONFLICT (host_id) DO UPDATE SET "
    "app_version = excluded.app_version, digest = excluded.digest, document = excluded.document, "
    "registered_at = excluded.registered_at"
)
_SET_MODE: Final = (
    "INSERT INTO module_mode (only_row, mode, changed_by, changed_at) VALUES (1, ?, ?, ?) "
    "ON CONFLICT (only_row) DO UPDATE SET mode = excluded.mode, "
    "changed_by = excluded.changed_by, changed_at = excluded.changed_at"
)


class StoredModules:
    """The modules of one store, as one program imports and removes them."""

    def __init__(self, journal: Journal, catalog: CapabilityCatalog | None = None) -> None:
        self._journal = journal
        self._catalog = catalog or capability_catalog()
        parts = (journal.ledger, journal.ids, journal.clock, journal.context)
        self._grants = StoredGrants(*parts, self._catalog)
        self._requests = StoredRequests(*parts)

    def register_host(self, host: HostDescription) -> bool:
        """Keeps what the host says of itself; recorded where that is new. Whether it was."""
        journal, now = self._journal, self._journal.clock.now()
        digest = host.digest
        known = "SELECT 1 FROM module_host WHERE host_id = ? AND digest = ?"
        with journal.database.reading() as view:
            if any(True for _ in view.rows(known, (host.host_id, digest))):
                return False
        document = host.to_json()
        text = canonical_json(document).decode()
        payload: dict[str, Json] = {
            "hostId": host.host_id,
            "appVersion": host.app_version,
            "digest": digest,
            "document": document,
            "registeredAt": str(now),
        }
        draft = journal.draft(
            EventType.HOST_REGISTERED, About(f"host:{host.host_id}"), payload, now
        )
        row = (host.host_id, host.app_version, digest, text, str(now))
        journal.record(draft, change=lambda transaction: _run(transaction, _KEEP_HOST, row))
        return True

    def hosts(self) -> Sequence[HostDescription]:
        """Every host that is registered here, by its id."""
        with self._journal.database.reading() as view:
            rows = list(view.rows("SELECT host_id, document FROM module_host ORDER BY host_id"))
        return [_as_host(row) for row in rows]

    def host(self, host_id: str) -> HostDescription | None:
        """The host with this id."""
        query = "SELECT host_id, document FROM module_host WHERE host_id = ?"
        with self._journal.database.reading() as view:
            rows = list(view.rows(query, (host_id,)))
        return _as_host(rows[0]) if rows else None

    def register(self, wanted: Registration, capabilities: Sequence[str]) -> Registration | None:
        """Registers it in place of whatever was there, which is returned; all of it or nothing."""
        identity = wanted.identity
        for _ in range(_MOST_TRIES):
            now = self._journal.clock.now()
            before = self.find(identity.host_id, identity.module_id)
            voiding = self._grants.voiding(
                identity.host_id, identity.module_id, wanted.content, now
            )
            draft = self._imported(wanted, capabilities, before, now)
            # Made before the transaction, which others wait for.
            row = (*_row(replace(wanted, imported_at=now)), identity.host_id, identity.module_id)

            def change(
                transaction: Transaction,
                before: Registration | None = before,
                end_grants: Change = voiding.change,
                row: tuple[Value, ...] = row,
            ) -> None:
                end_grants(transaction)
                _require_unchanged(transaction, identity, before)
                _run(transaction, _REGISTER, row)
                _unblock(transaction, identity.host_id, identity.module_id)

            try:
                self._journal.record(*voiding.drafts, draft, change=change)
            except Overtaken:
                continue
            if before is None or before.content != wanted.content:
                self._requests.outdate_module(identity.host_id, identity.module_id, _OUTDATED)
            return before
        raise LedgerProblem(Code.LEDGER_BUSY, "others keep changing this module at once")

    def record_rejected(
        self, host_id: str, module_id: str | None, code: str, path: str, content: Digest
    ) -> None:
        """Records that a package was refused; nothing else is kept of it."""
        self._journal.record(
            self._rejected(host_id, module_id, code, path, content, self._journal.clock.now()),
            change=lambda _: None,
        )

    def record_unknown_capability(
        self, module: ModuleIdentity, capability_id: str, path: str, content: Digest
    ) -> None:
        """Records that a package asks for what the catalog does not have (MODULES §stage-import)."""
        journal, now = self._journal, self._journal.clock.now()
        code = RejectCode.UNKNOWN_ID.value
        facts = CapabilityFacts(module, capability_id, code, self._catalog.version)
        about = About(subject_of(module.module_id))
        journal.record(
            capability_draft(journal, EventType.CHECK_REJECTED, facts, BY_SYSTEM, about, now),
            self._rejected(module.host_id, module.module_id, code, path, content, now),
            change=lambda _: None,
        )

    def remove(self, host_id: str, module_id: str, by: Identity) -> Removed | None:
        """Removes it with its grants and what it stored; None where it is not there."""
        for _ in range(_MOST_TRIES):
            now = self._journal.clock.now()
            found = self.find(host_id, module_id)
            if found is None:
                return None
            revoking = self._grants.revoking_all(host_id, module_id, by, now)
            journal = self._journal
            storage = StoredModuleStorage(journal.database, journal.clock, host_id, module_id)
            removed = Removed(found, len(revoking.grants), storage.usage().used_keys)
            emptying = storage.remove_all_change()

            def change(
                transaction: Transaction,
                found: Registration = found,
                end_grants: Change = revoking.change,
                empty_storage: Change = emptying,
            ) -> None:
                end_grants(transaction)
                _require_unchanged(transaction, found.identity, found)
                empty_storage(transaction)
                _unblock(transaction, host_id, module_id)
                where = "host_id = ? AND module_id = ?"
                _run(transaction, _KEEP_REVISION, (host_id, module_id))
                _run(transaction, f"DELETE FROM module WHERE {where}", (host_id, module_id))  # noqa: S608 - no value in it

            try:
                draft = self._removed(removed, by, now)
                self._journal.record(*revoking.drafts, draft, change=change)
            except Overtaken:
                continue
            self._requests.outdate_module(host_id, module_id, _REMOVED)
            return removed
        raise LedgerProblem(Code.LEDGER_BUSY, "others keep changing this module at once")

    def find(self, host_id: str, module_id: str) -> Registration | None:
        """The module as it is registered in that host."""
        found = self._selected("WHERE host_id = ? AND module_id = ?", (host_id, module_id))
        return found[0] if found else None

    def all(self, host_id: str | None = None) -> Sequence[Registration]:
        """Every registered module, of one host where it is named."""
        order = "ORDER BY host_id, module_id"
        if host_id is None:
            return self._selected(order, ())
        return self._selected(f"WHERE host_id = ? {order}", (host_id,))

    def revisions(self, host_id: str) -> Sequence[tuple[str, int]]:
        """Every module of a host with its revision; the documents are not read."""
        query = "SELECT module_id, revision FROM module WHERE host_id = ? ORDER BY module_id"
        with self._journal.database.reading() as view:
            return [(str(name), int(count or 0)) for name, count in view.rows(query, (host_id,))]

    def mode(self) -> ModeSetting:
        """The mode that holds, and who set it."""
        with self._journal.database.reading() as view:
            rows = list(view.rows("SELECT mode, changed_by, changed_at FROM module_mode"))
        if not rows:
            return ModeSetting()
        names = ("mode", "changedBy", "changedAt")
        return ModeSetting.from_json(dict(zip(names, rows[0], strict=True)))

    def set_mode(
        self,
        mode: ModuleMode,
        by: Identity,
        reason: str | None = None,
        *,
        after: ModuleMode | None = None,
    ) -> ModeSetting:
        """Sets it for every module of this store; what was blocked is free again. The one before.

        With `after`, only if that is the mode which holds: whoever was allowed to loosen one mode was
        not asked about another.
        """
        before, now = self.mode(), self._journal.clock.now()
        payload: dict[str, Json] = {
            "mode": mode.value,
            "previous": before.mode.value,
            "reason": reason,
            "changedBy": by,
            "changedAt": str(now),
        }
        about = About("modules", actor=by)
        draft = self._journal.draft(EventType.MODULE_MODE_CHANGED, about, payload, now)

        def change(transaction: Transaction) -> None:
            held = [str(row[0]) for row in transaction.rows("SELECT mode FROM module_mode")]
            if after is not None and (held or [ModuleMode.NORMAL]) != [after]:
                raise LedgerProblem(Code.LEDGER_BUSY, "somebody else changed the mode meanwhile")
            _run(transaction, _SET_MODE, (mode.value, by, str(now)))
            _run(transaction, "DELETE FROM module_block", ())
            # There and back again between two looks would leave what was loaded looking fresh.
            _run(transaction, "UPDATE module SET revision = revision + 1", ())

        self._journal.record(draft, change=change)
        return before

    def _selected(self, rest: str, values: Sequence[Value]) -> list[Registration]:
        with self._journal.database.reading() as view:
            return [_as_registration(row) for row in view.rows(f"{_SELECT} {rest}", values)]

    def _imported(
        self,
        wanted: Registration,
        capabilities: Sequence[str],
        before: Registration | None,
        now: Instant,
    ) -> Draft:
        payload: dict[str, Json] = {
            **wanted.identity.to_json(),
            "capabilities": list(capabilities),
            "catalogVersion": self._catalog.version,
            "hasGraph": wanted.graph is not None,
            "replacedVersion": None if before is None else before.identity.module_version,
            "replacedDigest": None if before is None else before.identity.package_digest,
            "importedBy": wanted.imported_by,
            "importedAt": str(now),
        }
        about = About(subject_of(wanted.identity.module_id), actor=wanted.imported_by)
        return self._journal.draft(EventType.MODULE_IMPORTED, about, payload, now)

    def _rejected(
        self,
        host_id: str,
        module_id: str | None,
        code: str,
        path: str,
        content: Digest,
        now: Instant,
    ) -> Draft:
        payload: dict[str, Json] = {
            "hostId": host_id,
            "moduleId": module_id,
            "code": code,
            "path": path,
            "contentDigest": content,
        }
        subject = f"host:{host_id}" if module_id is None else subject_of(module_id)
        return self._journal.draft(EventType.MODULE_IMPORT_REJECTED, About(subject), payload, now)

    def _removed(self, removed: Removed, by: Identity, now: Instant) -> Draft:
        identity = removed.registration.identity
        payload: dict[str, Json] = {
            **identity.to_json(),
            "removedBy": by,
            "removedAt": str(now),
            "grants": removed.grants,
            "storedKeys": removed.stored_keys,
        }
        about = About(subject_of(identity.module_id), actor=by)
        return self._journal.draft(EventType.MODULE_REMOVED, about, payload, now)


def _run(transaction: Transaction, statement: str, values: Sequence[Value]) -> None:
    transaction.run(statement, values)


def _unblock(transaction: Transaction, host_id: str, module_id: str) -> None:
    where = "host_id = ? AND module_id = ?"
    transaction.run(f"DELETE FROM module_block WHERE {where}", (host_id, module_id))  # noqa: S608 - as above


def _require_unchanged(
    transaction: Transaction, identity: ModuleIdentity, before: Registration | None
) -> None:
    """Raises where somebody else registered or removed the module since it was looked at."""
    query = "SELECT module_version, package_digest FROM module WHERE host_id = ? AND module_id = ?"
    rows = list(transaction.rows(query, (identity.host_id, identity.module_id)))
    now = (str(rows[0][0]), str(rows[0][1])) if rows else None
    if now != (None if before is None else before.content):
        raise Overtaken


def _row(registration: Registration) -> tuple[Value, ...]:
    identity, graph = registration.identity, registration.graph
    return (
        identity.host_id,
        identity.module_id,
        identity.module_version,
        identity.package_digest,
        canonical_json(registration.document).decode(),
        None if graph is None else canonical_json(graph).decode(),
        registration.imported_by,
        str(registration.imported_at),
    )


def _as_registration(row: Row) -> Registration:
    host_id, module_id, version, digest, document, graph, by, at, revision = row
    identity = ModuleIdentity(str(host_id), str(module_id), str(version), Digest(str(digest)))
    try:
        return Registration(
            identity=identity,
            document=json.loads(str(document)),
            graph=None if graph is None else json.loads(str(graph)),
            imported_by=str(by),
            imported_at=Instant.parse(str(at)),
            revision=int(revision or 0),
        )
    except (BadInput, ValueError) as problem:
        message = f"the row `{module_id!s}` of `module` cannot be believed: {problem}"
        raise LedgerProblem(Code.LEDGER_CORRUPT, message) from problem


def _as_host(row: Row) -> HostDescription:
    try:
        return read_host(str(row[1]).encode(), f"{row[0]!s}.json")
    except BadInput as problem:
        message = f"the row `{row[0]!s}` of `module_host` cannot be believed: {problem}"
        raise LedgerProblem(Code.LEDGER_CORRUPT, message) from problem
