"""Grants in the store: given, revoked, and looked for when a module acts (MODULES §grants).

A grant that stands already is not given twice: its identity is module, version, capability, scope
(with its session), giver and version of the catalog, and the table has each at most once unrevoked.

One version of a module at a time has grants: giving one to another version voids the rest, in the
same transaction. Those who give at once are let in one after the other, or the later would not see
what the earlier gave.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.ids import IdSource
from consentry.base.values import replace
from consentry.decide.grant import (
    FIELDS,
    PREFIX,
    Grant,
    GrantLack,
    GrantNeed,
    GrantTerms,
    grant_for,
    granted,
)
from consentry.decide.identity import SYSTEM, Identity
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType
from consentry.store.database import Dialect, Transaction
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Ledger
from consentry.store.rows import Overtaken, Table, exists
from consentry.surface.catalog import CapabilityCatalog, capability_catalog

_TABLE = Table("capability_grant", FIELDS, frozenset[str](), Grant.from_json)
_STANDING = "revoked_at IS NULL"
_STANDING_OR_VOID = f"({_STANDING} OR revoked_by = '{SYSTEM}')"
_OTHER_VERSIONS = f"module_id = ? AND module_version <> ? AND {_STANDING}"
_REVOKING = ("revokedBy", "revokedAt")
_ADVISORY_LOCK = 0x4772616E74  # "Grant": any number will do that nothing else here takes
_SESSION_GOES_ON = (
    "(scope <> 'session' OR EXISTS (SELECT 1 FROM session "
    "WHERE session.session_id = capability_grant.session_id AND session.ended_at IS NULL))"
)


class StoredGrants:
    """The grants of one store, under one version of the catalog."""

    def __init__(
        self,
        ledger: Ledger,
        ids: IdSource,
        clock: Clock,
        context: Context,
        catalog: CapabilityCatalog | None = None,
    ) -> None:
        self._journal = Journal(ledger, ids, clock, context)
        self._catalog = catalog or capability_catalog()

    def give(self, terms: GrantTerms) -> Grant:
        """Records the yes; the same one that still stands is returned as it is.

        Grants of other versions of the module are void from then on.
        """
        journal = self._journal
        while True:
            now = journal.clock.now()
            grant = granted(terms, journal.ids.new(PREFIX), self._catalog, now)
            void = self._void(terms.module_id, terms.module_version, now)
            about = _about(grant, terms.given_by)
            draft = journal.draft(EventType.GRANT_GIVEN, about, grant.to_json(), now)
            endings = [self._ending(each, now) for each in void]
            with suppress(Overtaken):
                journal.record(*endings, draft, change=partial(_add, grant, void))
                return grant
            for standing in self._looked_up(terms.module_id, terms.capability_id):
                if _is_the_same(standing, grant):
                    return standing

    def void_other_versions(self, module_id: str, module_version: str) -> Sequence[Grant]:
        """Voids for good what other versions of the module were granted; those that it ended."""
        while True:
            now = self._journal.clock.now()
            void = self._void(module_id, module_version, now)
            if not void:
                return void
            endings = [self._ending(each, now) for each in void]
            with suppress(Overtaken):
                self._journal.record(*endings, change=partial(_end, void))
                return void

    def revoke(self, grant_id: str, by: Identity) -> Grant:
        """Takes it back; one that was revoked before stays as it was."""
        grant = self._required(grant_id)
        if grant.revoked_at is not None:
            return grant
        journal, now = self._journal, self._journal.clock.now()
        revoked = grant.revoked(by, now)
        with suppress(Overtaken):
            journal.record(self._ending(revoked, now), change=partial(_end, [revoked]))
        return self._required(grant_id)

    def active(self, need: GrantNeed) -> Grant | GrantLack:
        """The grant that holds for this need, or why none does."""
        looked_up = self._looked_up(need.module_id, need.capability_id)
        expired = self._looked_up(need.module_id, need.capability_id, f"NOT {_SESSION_GOES_ON}")
        return grant_for(looked_up, need, self._catalog, expired)

    def find(self, grant_id: str) -> Grant | None:
        """The grant with this id."""
        return _TABLE.find(self._journal.database, grant_id)

    def of_module(self, module_id: str) -> Sequence[Grant]:
        """All that were ever given to a module, oldest first."""
        rest = "ORDER BY given_at, grant_id"
        return _TABLE.select(self._journal.database, "module_id = ?", (module_id,), rest)

    def _looked_up(
        self, module_id: str, capability_id: str, session: str = _SESSION_GOES_ON
    ) -> list[Grant]:
        """Those that stand or are void, by what became of their session; a revoked one is none."""
        where = f"module_id = ? AND capability_id = ? AND {_STANDING_OR_VOID} AND {session}"
        values = (module_id, capability_id)
        return _TABLE.select(self._journal.database, where, values, "ORDER BY given_at, grant_id")

    def _void(self, module_id: str, module_version: str, now: Instant) -> list[Grant]:
        """What stands for other versions, as it is when void."""
        values = (module_id, module_version)
        standing = _TABLE.select(self._journal.database, _OTHER_VERSIONS, values)
        return [grant.voided(now) for grant in standing]

    def _ending(self, ended: Grant, now: Instant) -> Draft:
        payload = picked(ended.to_json(), "grantId", *_REVOKING)
        about = _about(ended, str(ended.revoked_by))
        return self._journal.draft(EventType.GRANT_REVOKED, about, payload, now)

    def _required(self, grant_id: str) -> Grant:
        grant = self.find(grant_id)
        if grant is None:
            raise UsageProblem(Code.ID_UNKNOWN, f"no grant has the id `{grant_id}`")
        return grant


def _is_the_same(standing: Grant, grant: Grant) -> bool:
    """Whether the table would hold only one of the two; the giver's role does not tell them apart."""
    same_role = replace(grant.terms, given_role=standing.terms.given_role)
    is_standing = standing.revoked_at is None
    return (
        is_standing
        and standing.terms == same_role
        and standing.grant_version == grant.grant_version
    )


def _add(grant: Grant, void: Sequence[Grant], transaction: Transaction) -> None:
    terms, session_id = grant.terms, grant.terms.session_id
    if transaction.dialect is Dialect.POSTGRESQL:
        transaction.run(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
    _end(void, transaction)
    others = f"SELECT 1 FROM capability_grant WHERE {_OTHER_VERSIONS}"  # noqa: S608 - no value in it
    if exists(transaction, others, (terms.module_id, terms.module_version)):
        raise Overtaken
    query = "SELECT 1 FROM session WHERE session_id = ? AND ended_at IS NULL"
    if session_id is not None and not exists(transaction, query, (session_id,)):
        raise Refused(Code.CONSENT_CLOSED, f"`{session_id}` is not a session that goes on")
    _TABLE.insert(transaction, grant)


def _end(ended: Sequence[Grant], transaction: Transaction) -> None:
    for grant in ended:
        _TABLE.update(transaction, grant, _REVOKING, _STANDING)


def _about(grant: Grant, actor: str) -> About:
    terms = grant.terms
    return About(f"module:{terms.module_id}", actor=actor, session_id=terms.session_id)
