"""What the store knows of a module when it acts: loaded once, held fresh by one row, spent with its use.

A loaded `Standing` costs a check nothing. Whether it is still the truth is one read of one row, however
many grants there are: the registration's revision, the operator's mode, and whether the session goes on.
A use is recorded in a transaction that looks at that row once more and holds it, so that no use is ever
recorded under a grant that was revoked, a version that was replaced or a session that was over before it;
whoever comes too late is told to look again.
"""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.decide.capabilityask import subject_of
from consentry.decide.capabilitycheck import (
    HeldGrant,
    ModuleIdentity,
    RejectCode,
    Rejection,
    Standing,
)
from consentry.decide.modulemode import ModuleMode
from consentry.decide.moduleregistration import ActionRun
from consentry.declare.modulecapabilities import read_capabilities
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.capabilityevents import BY_SYSTEM, CapabilityFacts, capability_draft
from consentry.store.database import Transaction
from consentry.store.journal import About, Journal
from consentry.store.ledger import Change
from consentry.store.rows import Overtaken
from consentry.surface.catalog import CapabilityCatalog, capability_catalog

_FRESHNESS: Final = (
    "SELECT module.revision, (SELECT mode FROM module_mode), "
    "(SELECT count(*) FROM session WHERE session_id = ? AND ended_at IS NULL) "
    "FROM module WHERE host_id = ? AND module_id = ?"
)
_CONTENT: Final = (
    "SELECT module_version, package_digest, document FROM module "
    "WHERE host_id = ? AND module_id = ?"
)
_GRANTS: Final = (
    "SELECT capability_id, grant_id, grant_version FROM capability_grant "
    "WHERE host_id = ? AND module_id = ? AND scope = 'persistent' AND revoked_at IS NULL "
    "AND module_version = ? AND package_digest = ? ORDER BY given_at, grant_id"
)
_SESSION_GRANTS: Final = (
    "SELECT capability_id, grant_id, grant_version FROM capability_grant "
    "WHERE session_id = ? AND host_id = ? AND module_id = ? AND scope = 'session' "
    "AND revoked_at IS NULL AND module_version = ? AND package_digest = ? "
    "ORDER BY given_at, grant_id"
)
# What is for another session that goes on was never given to this one, also when it is void.
_STALE: Final = (
    "SELECT 1 FROM capability_grant WHERE host_id = ? AND module_id = ? AND capability_id = ? "
    "AND (revoked_at IS NULL OR revoked_by = 'system') AND (scope = 'persistent' "
    "OR session_id = ? OR NOT EXISTS (SELECT 1 FROM session "
    "WHERE session.session_id = capability_grant.session_id AND session.ended_at IS NULL)) LIMIT 1"
)
_BLOCKS: Final = (
    "SELECT action_id, code, capability_id FROM module_block WHERE host_id = ? AND module_id = ?"
)
# Changes nothing, and holds the row until the transaction ends.
_HOLD: Final = (
    "UPDATE module SET revision = revision WHERE host_id = ? AND module_id = ? AND revision = ?"
)
# Only while the module is the one that was refused, and the mode still says so.
_BLOCK: Final = (
    "INSERT INTO module_block (host_id, module_id, action_id, code, capability_id, blocked_at) "
    "SELECT host_id, module_id, ?, ?, ?, ? FROM module WHERE host_id = ? AND module_id = ? "
    "AND module_version = ? AND package_digest = ? "
    "AND (SELECT mode FROM module_mode) = 'block-rejected' ON CONFLICT DO NOTHING"
)
_SPEND: Final = (
    "INSERT INTO module_action (request_id, action_run_id, begun_at) VALUES (?, ?, ?) "
    "ON CONFLICT DO NOTHING"
)
_COUNT_UP: Final = "UPDATE module SET revision = revision + 1 WHERE host_id = ? AND module_id = ?"


class Freshness(NamedTuple):
    """All that a loaded standing can be outdated by."""

    revision: int
    mode: ModuleMode
    has_session: bool


@dataclass(frozen=True, slots=True)
class Use:
    """One capability that an action is about to use, and for which operation where that is known."""

    capability_id: str
    operation: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """Events that are not recorded yet, and the change that goes with them."""

    drafts: tuple[Draft, ...]
    change: Change


class ModuleChecks:
    """The standing of the modules of one host, in one session."""

    def __init__(
        self, journal: Journal, host_id: str, catalog: CapabilityCatalog | None = None
    ) -> None:
        self._journal = journal
        self._host_id = host_id
        self._session_id = journal.context.session_id
        self.catalog = catalog or capability_catalog()
        self._loaded: dict[str, Standing] = {}

    def standing(self, module_id: str) -> Standing | None:
        """What the module may do now; None where it is not registered."""
        with self._journal.database.reading() as view:
            fresh = self._fresh(view, module_id)
            if fresh is None:
                self._loaded.pop(module_id, None)
                return None
            loaded = self._loaded.get(module_id)
            if loaded is not None and _is_current(loaded, fresh, self._session_id):
                return loaded
            loaded = self._load(view, module_id, fresh)
        self._loaded[module_id] = loaded
        return loaded

    def record_uses(
        self,
        standing: Standing,
        run: ActionRun,
        uses: Sequence[Use],
        change: Change | None = None,
    ) -> None:
        """Records that these are used, and changes what comes with it; durable when it returns.

        Raises `Overtaken` where what was loaded does not hold any more: nothing is recorded then.
        """
        using = self.using(standing, run, uses)

        def hold_and_change(transaction: Transaction) -> None:
            using.change(transaction)
            if change is not None:
                change(transaction)

        self._journal.record(*using.drafts, change=hold_and_change)

    def using(self, standing: Standing, run: ActionRun, uses: Sequence[Use]) -> Recording:
        """The events of these uses, and what must hold in the transaction that records them."""
        journal, now = self._journal, self._journal.clock.now()
        about = About(subject_of(run.module.module_id))
        drafts = [
            journal.draft(
                EventType.MODULE_CAPABILITY_USED,
                about,
                {
                    **run.to_json(),
                    "capabilityId": use.capability_id,
                    "grantId": standing.granted[use.capability_id].grant_id,
                    "grantVersion": standing.granted[use.capability_id].grant_version,
                    "commands": list(run.commands),
                    "transactionId": run.transaction_id,
                    "operation": use.operation,
                },
                now,
            )
            for use in uses
        ]
        return Recording(tuple(drafts), lambda transaction: self._hold(transaction, standing))

    def record_rejected(self, rejection: Rejection, run: ActionRun) -> None:
        """Records that the action was refused, and blocks it where the mode says so.

        It is about the very module that acted, whatever became of its registration since.
        """
        rejecting = self.rejecting(rejection, run)
        self._journal.record(*rejecting.drafts, change=rejecting.change)

    def rejecting(self, rejection: Rejection, run: ActionRun) -> Recording:
        """The event of a refusal, and what changes with it."""
        journal, now = self._journal, self._journal.clock.now()
        identity = run.module
        facts = CapabilityFacts(
            identity,
            rejection.capability_id,
            rejection.code.value,
            self.catalog.version,
            run.action_id,
            run.transaction_id,
        )
        about = About(subject_of(identity.module_id))
        draft = capability_draft(journal, EventType.CHECK_REJECTED, facts, BY_SYSTEM, about, now)

        def change(transaction: Transaction) -> None:
            # What only shows something calls nothing, and is not blocked beyond its own check.
            if run.action_id is None or not run.commands:
                return
            place = (identity.host_id, identity.module_id)
            content = (identity.module_version, identity.package_digest)
            blocked = (run.action_id, rejection.code.value, rejection.capability_id, str(now))
            if transaction.run(_BLOCK, (*blocked, *place, *content)) == 1:
                transaction.run(_COUNT_UP, place)

        return Recording((draft,), change)

    def record_ended(
        self, run: ActionRun, outcome: str, code: str | None, detail: Mapping[str, Json] | None
    ) -> None:
        """Records how an action that was begun came to its end."""
        payload: dict[str, Json] = {
            **run.to_json(),
            "outcome": outcome,
            "code": code,
            "detail": detail,
        }
        about, now = About(subject_of(run.module.module_id)), self._journal.clock.now()
        draft = self._journal.draft(EventType.MODULE_ACTION_ENDED, about, payload, now)
        self._journal.record(draft, change=lambda _: None)

    def _hold(self, transaction: Transaction, standing: Standing) -> None:
        """Raises unless all that the standing rests on is as it was; its row is held from then on."""
        identity = standing.identity
        values = (identity.host_id, identity.module_id, standing.revision)
        if transaction.run(_HOLD, values) != 1:
            raise Overtaken
        fresh = self._fresh(transaction, identity.module_id)
        if fresh is None or not _is_current(standing, fresh, self._session_id):
            raise Overtaken

    def _fresh(self, view: Transaction, module_id: str) -> Freshness | None:
        values = (self._session_id, self._host_id, module_id)
        for revision, mode, sessions in view.rows(_FRESHNESS, values):
            known = ModuleMode.NORMAL if mode is None else ModuleMode(str(mode))
            return Freshness(int(revision or 0), known, bool(sessions))
        return None

    def _load(self, view: Transaction, module_id: str, fresh: Freshness) -> Standing:
        place = (self._host_id, module_id)
        ((version, digest, document),) = view.rows(_CONTENT, place)
        content = (str(version), str(digest))
        requested = frozenset(read_capabilities(json.loads(str(document))))
        identity = ModuleIdentity(self._host_id, module_id, content[0], Digest(content[1]))
        rows = list(view.rows(_GRANTS, (*place, *content)))
        if fresh.has_session:
            rows += view.rows(_SESSION_GRANTS, (self._session_id, *place, *content))
        granted: dict[str, HeldGrant] = {}
        for capability_id, grant_id, grant_version in rows:
            held = HeldGrant(str(grant_id), str(grant_version))
            usable = str(capability_id) in requested and self.catalog.find(str(capability_id))
            if usable and not self.catalog.voids_grants_of(held.grant_version):
                granted.setdefault(str(capability_id), held)
        stale = frozenset(
            each
            for each in requested - granted.keys()
            if any(True for _ in view.rows(_STALE, (*place, each, self._session_id)))
        )
        return Standing(
            identity=identity,
            revision=fresh.revision,
            requested=requested,
            granted=MappingProxyType(granted),
            stale=stale,
            mode=fresh.mode,
            session_id=self._session_id if fresh.has_session else None,
            blocked=_blocked(view, place),
        )


def spent_approval(request_id: str, run: ActionRun, now: Instant) -> Change:
    """Uses up the one yes that this run is carried out on; refused where it was used before."""

    def change(transaction: Transaction) -> None:
        if transaction.run(_SPEND, (request_id, run.action_run_id, str(now))) != 1:
            raise Refused(Code.REQUEST_SETTLED, f"`{request_id}` was carried out before")

    return change


def _blocked(view: Transaction, place: tuple[str, str]) -> Mapping[str, Rejection]:
    blocked: dict[str, Rejection] = {}
    for action_id, code, capability_id in view.rows(_BLOCKS, place):
        why = "an earlier rejection blocks this action until the mode is changed"
        blocked[str(action_id)] = Rejection(RejectCode(str(code)), str(capability_id), why)
    return MappingProxyType(blocked)


def _is_current(standing: Standing, fresh: Freshness, session_id: str | None) -> bool:
    """Whether what was loaded is what would be loaded now."""
    return (
        standing.revision == fresh.revision
        and standing.mode is fresh.mode
        and standing.session_id == (session_id if fresh.has_session else None)
    )
