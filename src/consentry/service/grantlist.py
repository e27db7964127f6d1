"""What is told of grants: which there are, whether each still holds, which one is meant, and its end.

Reads alone, but for `revoke_grants`. Whether a grant holds is said by what the check looks at: the content
that is registered now, the catalog, and whether its session goes on.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.decide.grant import PREFIX, Grant, GrantScope
from consentry.decide.identity import Identity
from consentry.decide.moduleregistration import Registration
from consentry.service.modulelist import open_sessions
from consentry.store.database import Value
from consentry.store.grants import StoredGrants, grants_where
from consentry.store.journal import Journal
from consentry.store.modules import StoredModules
from consentry.surface.catalog import capability_catalog

_LEAST_PREFIX: Final = 8
_STANDING: Final = "revoked_at IS NULL"


class GrantState(StrEnum):
    """Whether a grant holds, or what ended it."""

    HOLDS = "holds"
    REVOKED = "revoked"
    VOID = "void"
    """Other content of the module came."""
    SESSION_OVER = "session-over"
    OTHER_CATALOG = "other-catalog"
    NO_MODULE = "no-module"
    """No module is registered with the content that it was given for."""


@dataclass(frozen=True, slots=True)
class ListedGrant:
    """A grant, and how it stands."""

    grant: Grant
    state: GrantState

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {**self.grant.to_json(), "state": self.state.value}


@dataclass(frozen=True, slots=True)
class GrantChoice:
    """Which grants are meant; what is not named does not narrow."""

    host_id: str | None = None
    module_id: str | None = None
    capability_id: str | None = None

    def condition(self) -> tuple[str, tuple[Value, ...]]:
        """The condition of a query, and its values."""
        wanted = (
            ("host_id = ?", self.host_id),
            ("module_id = ?", self.module_id),
            ("capability_id = ?", self.capability_id),
        )
        given = [(clause, value) for clause, value in wanted if value is not None]
        clauses = [clause for clause, _ in given] or ["1 = 1"]
        return " AND ".join(clauses), tuple(value for _, value in given)


class GrantEyes:
    """Sees how grants stand in one moment: what is registered, and which sessions go on."""

    def __init__(self, journal: Journal) -> None:
        self._modules = StoredModules(journal)
        self._sessions = open_sessions(journal)
        self._catalog = capability_catalog()
        self._known: dict[tuple[str, str], Registration | None] = {}

    def state_of(self, grant: Grant) -> GrantState:
        """Whether it holds, or why not: what somebody did comes before what happened."""
        terms = grant.terms
        if grant.revoked_at is not None:
            return GrantState.VOID if grant.is_void else GrantState.REVOKED
        if terms.scope is GrantScope.SESSION and terms.session_id not in self._sessions:
            return GrantState.SESSION_OVER
        if self._catalog.voids_grants_of(grant.grant_version):
            return GrantState.OTHER_CATALOG
        registered = self._registered(terms.host_id, terms.module_id)
        content = (terms.module_version, terms.package_digest)
        if registered is None or registered.content != content:
            return GrantState.NO_MODULE
        return GrantState.HOLDS

    def _registered(self, host_id: str, module_id: str) -> Registration | None:
        key = (host_id, module_id)
        if key not in self._known:
            self._known[key] = self._modules.find(host_id, module_id)
        return self._known[key]


def listed_grants(journal: Journal, choice: GrantChoice, *, over_too: bool) -> list[ListedGrant]:
    """Those that hold, or all that were ever given, the oldest first."""
    where, values = choice.condition()
    eyes = GrantEyes(journal)
    found = grants_where(journal, where if over_too else f"{where} AND {_STANDING}", values)
    listed = (ListedGrant(each, eyes.state_of(each)) for each in found)
    return [each for each in listed if over_too or each.state is GrantState.HOLDS]


def standing_grants(
    journal: Journal, host_id: str, module_id: str, capability_id: str | None = None
) -> list[Grant]:
    """Those of a module that nobody has ended, also where their session is over, the oldest first."""
    where, values = GrantChoice(host_id, module_id, capability_id).condition()
    return grants_where(journal, f"{where} AND {_STANDING}", values)


def found_grant(journal: Journal | None, named: str) -> Grant:
    """The grant with this id, or the only one whose id begins so."""
    bare = named.removeprefix(f"{PREFIX}-")
    alike: Sequence[Grant] = ()
    if journal is not None and len(bare) >= _LEAST_PREFIX:
        prefix = f"{PREFIX}-{bare}"
        # Behind every letter that an id is made of.
        alike = grants_where(journal, "grant_id >= ? AND grant_id < ?", (prefix, f"{prefix}~"), 2)
    if len(alike) > 1:
        raise UsageProblem(Code.ID_AMBIGUOUS, f"several grants have an id like `{named}`")
    if not alike:
        raise UsageProblem(Code.ID_UNKNOWN, f"no grant has the id `{named}`")
    return alike[0]


def revoke_grants(journal: Journal, grants: Sequence[Grant], by: Identity) -> list[Grant]:
    """Takes them back; one that was ended before stays as it was."""
    stored = StoredGrants(journal.ledger, journal.ids, journal.clock, journal.context)
    return [stored.revoke(each.grant_id, by) for each in grants]
