"""Grants in the store: given, revoked, and looked for when a module acts (MODULES §grants).

A grant that stands already is not given twice: its identity is module, version, capability, scope
(with its session), giver and version of the catalog, and the table has each at most once unrevoked.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.ids import IdSource
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
from consentry.decide.identity import Identity
from consentry.record.envelope import Context
from consentry.record.events import EventType
from consentry.store.database import Transaction
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Ledger
from consentry.store.rows import Overtaken, Table, exists
from consentry.surface.catalog import CapabilityCatalog, capability_catalog

_TABLE = Table("capability_grant", FIELDS, frozenset[str](), Grant.from_json)
_STANDING = "revoked_at IS NULL"
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
        """Records the yes; the same one that still stands is returned as it is."""
        journal = self._journal
        while True:
            now = journal.clock.now()
            grant = granted(terms, journal.ids.new(PREFIX), self._catalog, now)
            about = _about(grant, terms.given_by)
            draft = journal.draft(EventType.GRANT_GIVEN, about, grant.to_json(), now)
            with suppress(Overtaken):
                journal.record(draft, change=partial(_add, grant))
                return grant
            for standing in self._standing(terms.module_id, terms.capability_id):
                if _is_the_same(standing, grant):
                    return standing

    def revoke(self, grant_id: str, by: Identity) -> Grant:
        """Takes it back; one that was revoked before stays as it was."""
        grant = self._required(grant_id)
        if grant.revoked_at is not None:
            return grant
        journal, now = self._journal, self._journal.clock.now()
        revoked = grant.revoked(by, now)
        names = ("revokedBy", "revokedAt")
        payload = picked(revoked.to_json(), "grantId", *names)
        draft = journal.draft(EventType.GRANT_REVOKED, _about(revoked, by), payload, now)
        with suppress(Overtaken):
            journal.record(
                draft,
                change=lambda transaction: _TABLE.update(transaction, revoked, names, _STANDING),
            )
        return self._required(grant_id)

    def active(self, need: GrantNeed) -> Grant | GrantLack:
        """The grant that holds for this need, or why none does."""
        standing = self._standing(need.module_id, need.capability_id)
        return grant_for(standing, need, self._catalog)

    def find(self, grant_id: str) -> Grant | None:
        """The grant with this id."""
        return _TABLE.find(self._journal.database, grant_id)

    def of_module(self, module_id: str) -> Sequence[Grant]:
        """All that were ever given to a module, oldest first."""
        rest = "ORDER BY given_at, grant_id"
        return _TABLE.select(self._journal.database, "module_id = ?", (module_id,), rest)

    def _standing(self, module_id: str, capability_id: str) -> list[Grant]:
        where = f"module_id = ? AND capability_id = ? AND {_STANDING} AND {_SESSION_GOES_ON}"
        values = (module_id, capability_id)
        return _TABLE.select(self._journal.database, where, values, "ORDER BY given_at, grant_id")

    def _required(self, grant_id: str) -> Grant:
        grant = self.find(grant_id)
        if grant is None:
            raise UsageProblem(Code.ID_UNKNOWN, f"no grant has the id `{grant_id}`")
        return grant


def _is_the_same(standing: Grant, grant: Grant) -> bool:
    """Whether the table would hold only one of the two; the giver's role does not tell them apart."""
    same_role = replace(grant.terms, given_role=standing.terms.given_role)
    return standing.terms == same_role and standing.grant_version == grant.grant_version


def _add(grant: Grant, transaction: Transaction) -> None:
    session_id = grant.terms.session_id
    query = "SELECT 1 FROM session WHERE session_id = ? AND ended_at IS NULL"
    if session_id is not None and not exists(transaction, query, (session_id,)):
        raise Refused(Code.CONSENT_CLOSED, f"`{session_id}` is not a session that goes on")
    _TABLE.insert(transaction, grant)


def _about(grant: Grant, actor: str) -> About:
    terms = grant.terms
    return About(f"module:{terms.module_id}", actor=actor, session_id=terms.session_id)
