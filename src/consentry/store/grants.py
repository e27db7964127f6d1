"""Grants in the store: given, revoked, and looked for when a module acts (MODULES §grants).

A grant that stands already is not given twice: its identity is host, module, version, package digest,
capability, scope (with its session), giver and version of the catalog, and the table has each at most
once unrevoked.

One content of a module at a time has grants: giving one to another version or digest voids the rest, in
the same transaction. Those who give at once are let in one after the other, or the later would not see
what the earlier gave. Every change counts up the revision of the module's registration, so that nobody
goes on with what was loaded before.

What is part of a larger change (an answer, an import, a removal) gets its drafts and its change from
here and puts them into its own transaction.
"""

from collections.abc import Sequence
from contextlib import suppress

from consentry.base.canonical import Digest
from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.ids import IdSource
from consentry.base.values import dataclass, replace
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
from consentry.store.database import Dialect, Transaction, Value
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Change, Ledger
from consentry.store.rows import Overtaken, Table, exists
from consentry.surface.catalog import CapabilityCatalog, capability_catalog

_TABLE = Table("capability_grant", FIELDS, frozenset[str](), Grant.from_json)
_STANDING = "revoked_at IS NULL"
_STANDING_OR_VOID = f"({_STANDING} OR revoked_by = '{SYSTEM}')"
_OF_MODULE = "host_id = ? AND module_id = ?"
_OTHERS = f"{_OF_MODULE} AND NOT (module_version = ? AND package_digest = ?) AND {_STANDING}"
_REVOKING = ("revokedBy", "revokedAt")
_ADVISORY_LOCK = 0x47726E74  # "Grnt": any number will do that nothing else here takes
_SESSION_GOES_ON = (
    "(scope <> 'session' OR EXISTS (SELECT 1 FROM session "
    "WHERE session.session_id = capability_grant.session_id AND session.ended_at IS NULL))"
)
_IN_ORDER = "ORDER BY given_at, grant_id"
_COUNT_UP = f"UPDATE module SET revision = revision + 1 WHERE {_OF_MODULE}"  # noqa: S608 - no value in it


@dataclass(frozen=True, slots=True)
class GrantChange:
    """Grants that a transaction is about to give or end: its events, and what it changes."""

    grants: tuple[Grant, ...]
    drafts: tuple[Draft, ...]
    change: Change


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

        Grants of other versions and contents of the module are void from then on.
        """
        while True:
            giving = self.giving([terms], self._journal.clock.now())
            if not giving.drafts:
                return giving.grants[0]
            with suppress(Overtaken):
                self._journal.record(*giving.drafts, change=giving.change)
                return giving.grants[0]

    def giving(self, wanted: Sequence[GrantTerms], now: Instant) -> GrantChange:
        """What giving these, all to one content of one module, writes; those that stand stay.

        The change raises `Overtaken` where somebody else gave or ended one of them meanwhile, and
        refuses a session that is over.
        """
        first = wanted[0]
        void = self._others(first.host_id, first.module_id, _content(first), now)
        new = [granted(each, self._journal.ids.new(PREFIX), self._catalog, now) for each in wanted]
        kept = {grant.grant_id: self._same_as(grant) for grant in new}
        grants = [kept[grant.grant_id] or grant for grant in new]
        new = [grant for grant in new if kept[grant.grant_id] is None]
        drafts = [self._ending(each, now) for each in void]
        drafts += [self._beginning(each, now) for each in new]

        def change(transaction: Transaction) -> None:
            _enter(transaction, first.host_id, first.module_id)
            _end(void, transaction)
            _require_no_others(transaction, first)
            for grant in filter(None, kept.values()):
                _require_standing(transaction, grant)
            for grant in new:
                _require_session(transaction, grant.terms.session_id)
                _TABLE.insert(transaction, grant)

        return GrantChange(tuple(grants), tuple(drafts), change)

    def voiding(
        self, host_id: str, module_id: str, content: tuple[str, Digest], now: Instant
    ) -> GrantChange:
        """What the coming of this version and digest ends for good: the grants of every other one."""
        void = self._others(host_id, module_id, content, now)

        def change(transaction: Transaction) -> None:
            _enter(transaction, host_id, module_id)
            _end(void, transaction)
            if _has_others(transaction, host_id, module_id, content):
                raise Overtaken

        return GrantChange(tuple(void), tuple(self._ending(each, now) for each in void), change)

    def revoking_all(self, host_id: str, module_id: str, by: Identity, now: Instant) -> GrantChange:
        """What taking back everything that a module was granted writes."""
        standing = _TABLE.select(
            self._journal.database, f"{_OF_MODULE} AND {_STANDING}", (host_id, module_id)
        )
        revoked = [each.revoked(by, now) for each in standing]

        def change(transaction: Transaction) -> None:
            _enter(transaction, host_id, module_id)
            _end(revoked, transaction)
            query = f"SELECT 1 FROM capability_grant WHERE {_OF_MODULE} AND {_STANDING}"  # noqa: S608 - as above
            if exists(transaction, query, (host_id, module_id)):
                raise Overtaken

        drafts = tuple(self._ending(each, now) for each in revoked)
        return GrantChange(tuple(revoked), drafts, change)

    def revoke(self, grant_id: str, by: Identity) -> Grant:
        """Takes it back; one that was revoked before stays as it was."""
        grant = self._required(grant_id)
        if grant.revoked_at is not None:
            return grant
        journal, now = self._journal, self._journal.clock.now()
        revoked = grant.revoked(by, now)

        def change(transaction: Transaction) -> None:
            _enter(transaction, grant.terms.host_id, grant.terms.module_id)
            _end([revoked], transaction)

        with suppress(Overtaken):
            journal.record(self._ending(revoked, now), change=change)
        return self._required(grant_id)

    def active(self, need: GrantNeed) -> Grant | GrantLack:
        """The grant that holds for this need, or why none does."""
        expired = self.of_content(need, f"NOT {_SESSION_GOES_ON}")
        return grant_for(self.of_content(need), need, self._catalog, expired)

    def of_content(self, need: GrantNeed, session: str = _SESSION_GOES_ON) -> list[Grant]:
        """Those that stand or are void, by what became of their session; a revoked one is none."""
        where = f"{_OF_MODULE} AND capability_id = ? AND {_STANDING_OR_VOID} AND {session}"
        values = (need.host_id, need.module_id, need.capability_id)
        return _TABLE.select(self._journal.database, where, values, _IN_ORDER)

    def find(self, grant_id: str) -> Grant | None:
        """The grant with this id."""
        return _TABLE.find(self._journal.database, grant_id)

    def of_module(self, host_id: str, module_id: str) -> Sequence[Grant]:
        """All that were ever given to a module in a host, oldest first."""
        values = (host_id, module_id)
        return _TABLE.select(self._journal.database, _OF_MODULE, values, _IN_ORDER)

    def _others(
        self, host_id: str, module_id: str, content: tuple[str, Digest], now: Instant
    ) -> list[Grant]:
        """What stands for other contents, as it is when void."""
        values = (host_id, module_id, *content)
        standing = _TABLE.select(self._journal.database, _OTHERS, values)
        return [grant.voided(now) for grant in standing]

    def _same_as(self, grant: Grant) -> Grant | None:
        """The one that stands already, where the table would hold only one of the two."""
        terms = grant.terms
        where = f"{_OF_MODULE} AND capability_id = ? AND {_STANDING} AND {_SESSION_GOES_ON}"
        values = (terms.host_id, terms.module_id, terms.capability_id)
        for standing in _TABLE.select(self._journal.database, where, values):
            # The giver's role and the question do not tell them apart.
            alike = replace(
                terms,
                given_role=standing.terms.given_role,
                request_id=standing.terms.request_id,
            )
            if standing.terms == alike and standing.grant_version == grant.grant_version:
                return standing
        return None

    def _beginning(self, grant: Grant, now: Instant) -> Draft:
        about = _about(grant, grant.terms.given_by)
        return self._journal.draft(EventType.GRANT_GIVEN, about, grant.to_json(), now)

    def _ending(self, ended: Grant, now: Instant) -> Draft:
        payload = picked(ended.to_json(), "grantId", *_REVOKING)
        about = _about(ended, str(ended.revoked_by))
        return self._journal.draft(EventType.GRANT_REVOKED, about, payload, now)

    def _required(self, grant_id: str) -> Grant:
        grant = self.find(grant_id)
        if grant is None:
            raise UsageProblem(Code.ID_UNKNOWN, f"no grant has the id `{grant_id}`")
        return grant


def grants_where(
    journal: Journal, where: str, values: Sequence[Value], most: int | None = None
) -> list[Grant]:
    """The grants that fit, oldest first."""
    rest = _IN_ORDER if most is None else f"{_IN_ORDER} LIMIT {int(most)}"
    return _TABLE.select(journal.database, where, values, rest)


def last_grant_where(journal: Journal, where: str, values: Sequence[Value]) -> Grant | None:
    """The youngest of the grants that fit."""
    rest = "ORDER BY given_at DESC, grant_id DESC LIMIT 1"
    found = _TABLE.select(journal.database, where, values, rest)
    return found[0] if found else None


def _content(terms: GrantTerms) -> tuple[str, Digest]:
    return terms.module_version, terms.package_digest


def _enter(transaction: Transaction, host_id: str, module_id: str) -> None:
    """Lets in one at a time who changes what this module was granted, and counts its revision up."""
    if transaction.dialect is Dialect.POSTGRESQL:
        lock = f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK}, hashtext(?))"
        transaction.run(lock, (module_id,))
    transaction.run(_COUNT_UP, (host_id, module_id))


def _has_others(
    transaction: Transaction, host_id: str, module_id: str, content: tuple[str, Digest]
) -> bool:
    others = f"SELECT 1 FROM capability_grant WHERE {_OTHERS}"  # noqa: S608 - no value in it
    return exists(transaction, others, (host_id, module_id, *content))


def _require_no_others(transaction: Transaction, terms: GrantTerms) -> None:
    if _has_others(transaction, terms.host_id, terms.module_id, _content(terms)):
        raise Overtaken


def _require_standing(transaction: Transaction, grant: Grant) -> None:
    query = f"SELECT 1 FROM capability_grant WHERE grant_id = ? AND {_STANDING}"  # noqa: S608 - as above
    if not exists(transaction, query, (grant.grant_id,)):
        raise Overtaken


def _require_session(transaction: Transaction, session_id: str | None) -> None:
    query = "SELECT 1 FROM session WHERE session_id = ? AND ended_at IS NULL"
    if session_id is not None and not exists(transaction, query, (session_id,)):
        raise Refused(Code.CONSENT_CLOSED, f"`{session_id}` is not a session that goes on")


def _end(ended: Sequence[Grant], transaction: Transaction) -> None:
    for grant in ended:
        _TABLE.update(transaction, grant, _REVOKING, _STANDING)


def _about(grant: Grant, actor: str) -> About:
    terms = grant.terms
    return About(f"module:{terms.module_id}", actor=actor, session_id=terms.session_id)
