"""Why a module may use a capability, or may not: the four conditions, the code, and the events behind it.

The conditions are those of MODULES (§use), each with its present answer; the code is what the check itself
answers now, in the session that it was granted for where it is granted for one. Nothing is recorded by
looking.
"""

from typing import Final

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass, replace
from consentry.decide.capabilitycheck import ModuleIdentity, Rejection, Standing, check
from consentry.decide.grant import Grant, GrantScope
from consentry.decide.modulemode import ModeSetting
from consentry.record.chain import event_fields
from consentry.record.events import EventType
from consentry.service.grantlist import GrantEyes, GrantState, found_grant
from consentry.service.granttrail import SORTS, Trail, Wanted, trail_of
from consentry.service.modulelist import host_named, session_grants, several_hosts
from consentry.store.grants import grants_where, last_grant_where
from consentry.store.history import History
from consentry.store.journal import Journal
from consentry.store.modulechecks import ModuleChecks
from consentry.store.modules import StoredModules
from consentry.surface.catalog import CapabilityCatalog, capability_catalog

MOST_EVENTS: Final = 20
_RENDERS: Final = "ui.slot.render"
_OF_CAPABILITY: Final = "host_id = ? AND module_id = ? AND capability_id = ?"


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the four, and its present answer in words."""

    name: str
    holds: bool
    said: str

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {"condition": self.name, "holds": self.holds, "said": self.said}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one capability of one module, as it stands now.

    `code` is None where the capability can be used, else one of the seven, or `module-unknown` where no
    module of that id is registered; `only_in` are the sessions it can be used in, where it is so in no
    other. `hosts` are those that have a module of this id.
    """

    wanted: Wanted
    identity: ModuleIdentity | None
    conditions: tuple[Condition, ...]
    code: str | None
    why: str
    mode: ModeSetting
    only_in: tuple[str, ...]
    trail: Trail
    hosts: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        identity = self.identity
        return {
            "hostId": self.wanted.host_id,
            "moduleId": self.wanted.module_id,
            "moduleVersion": None if identity is None else identity.module_version,
            "packageDigest": None if identity is None else identity.package_digest,
            "capabilityId": self.wanted.capability_id,
            "usable": self.code is None,
            "code": self.code,
            "why": self.why,
            "onlyInSessions": list(self.only_in),
            "mode": self.mode.mode.value,
            "conditions": [each.to_json() for each in self.conditions],
            "counts": {sort.value: count for sort, count in self.trail.counts.items()},
            "events": [each.to_json() for each in self.trail.events],
            "hostsWithThatModule": list(self.hosts),
        }


def wanted_by_name(
    journal: Journal, module_id: str, capability_id: str, host: str | None
) -> Wanted:
    """What is asked about; of several hosts that have the module one has to be named."""
    modules = StoredModules(journal)
    if host is not None:
        return Wanted(host_named(modules, host).host_id, module_id, capability_id)
    known = list(modules.hosts())
    having = [each for each in known if modules.find(each.host_id, module_id) is not None]
    if len(having) > 1:
        raise several_hosts(f"{len(having)} hosts have a module `{module_id}`", having)
    # One that was refused or removed has left events, and is asked about all the same.
    meant = having[0] if having else host_named(modules, None)
    return Wanted(meant.host_id, module_id, capability_id)


def wanted_by_grant(journal: Journal | None, named: str) -> Wanted:
    """The capability that a grant is for."""
    terms = found_grant(journal, named).terms
    return Wanted(terms.host_id, terms.module_id, terms.capability_id)


def wanted_by_event(journal: Journal | None, event_id: str, host: str | None) -> Wanted:
    """The capability that an event is about; raises where there is none, or it is about none."""
    row = None if journal is None else History(journal.database).find(event_id)
    if journal is None or row is None:
        raise UsageProblem(Code.EVENT_UNKNOWN, f"no event has the id `{event_id}`")
    event = event_fields(row.body)
    payload = event.get("payload")
    if event.get("type") not in SORTS or not isinstance(payload, dict):
        message = f"`{event_id}` ({event.get('type')}) is not about a capability of a module"
        raise UsageProblem(Code.USAGE, message, help_line="`consentry audit show` tells all of it")
    if event.get("type") == EventType.GRANT_REVOKED.value:
        return replace(wanted_by_grant(journal, str(payload["grantId"])), event_id=event_id)
    named = payload.get("hostId")
    found = wanted_by_name(
        journal,
        str(payload["moduleId"]),
        str(payload["capabilityId"]),
        str(named) if named is not None else host,
    )
    return replace(found, event_id=event_id)


def explained(journal: Journal, wanted: Wanted, most: int = MOST_EVENTS) -> Explanation:
    """Why it can be used or not; raises where nothing at all is known of such a module."""
    modules = StoredModules(journal)
    trail = trail_of(journal, wanted, most)
    registered = modules.find(wanted.host_id, wanted.module_id)
    if registered is None and not trail.events:
        message = f"no module `{wanted.module_id}` is registered in `{wanted.host_id}`"
        raise UsageProblem(Code.MODULE_UNKNOWN, message)
    hosts = tuple(
        each.host_id
        for each in modules.hosts()
        if modules.find(each.host_id, wanted.module_id) is not None
    )
    catalog = capability_catalog()
    identity = None if registered is None else registered.identity
    session_id = None if identity is None else _session_of(journal, identity, wanted)
    standing = None if identity is None else _standing(journal, identity, session_id)
    conditions = _conditions(journal, wanted, standing, catalog)
    code: str | None = Code.MODULE_UNKNOWN.value
    why = f"no module `{wanted.module_id}` is registered in `{wanted.host_id}`"
    if standing is not None:
        rejection = _rejection(standing, wanted.capability_id, catalog)
        code = None if rejection is None else rejection.code.value
        why = "all four conditions hold" if rejection is None else rejection.why
    only_in = (session_id,) if session_id is not None and code is None else ()
    return Explanation(
        wanted, identity, conditions, code, why, modules.mode(), only_in, trail, hosts
    )


def _session_of(journal: Journal, identity: ModuleIdentity, wanted: Wanted) -> str | None:
    """The session that it was granted for last, where it is not granted for all of them."""
    standing = _standing(journal, identity, None)
    if standing is None or wanted.capability_id in standing.granted:
        return None
    for grant in reversed(session_grants(journal, identity)):
        if grant.terms.capability_id == wanted.capability_id:
            return grant.terms.session_id
    return None


def _standing(
    journal: Journal, identity: ModuleIdentity, session_id: str | None
) -> Standing | None:
    inside = replace(journal, context=replace(journal.context, session_id=session_id))
    return ModuleChecks(inside, identity.host_id).standing(identity.module_id)


def _rejection(
    standing: Standing, capability_id: str, catalog: CapabilityCatalog
) -> Rejection | None:
    acts = capability_id != _RENDERS
    return check(standing, (capability_id,), catalog, acts=acts).rejection


def _conditions(
    journal: Journal, wanted: Wanted, standing: Standing | None, catalog: CapabilityCatalog
) -> tuple[Condition, ...]:
    capability_id = wanted.capability_id
    is_asked = standing is not None and capability_id in standing.requested
    asked = "the package asks for it" if is_asked else "the package does not ask for it"
    if standing is None:
        asked = "no package is registered that could ask for it"
    is_known = catalog.find(capability_id) is not None
    known = f"{'in' if is_known else 'not in'} the catalog, version {catalog.version}"
    return (
        Condition("requested", is_asked, asked),
        Condition("in the catalog", is_known, known),
        *_grant_conditions(journal, wanted, standing),
    )


def _grant_conditions(
    journal: Journal, wanted: Wanted, standing: Standing | None
) -> tuple[Condition, Condition]:
    grant = _grant_meant(journal, wanted, standing)
    if grant is None:
        nobody = Condition("granted", holds=False, said="nobody has granted it")
        return nobody, Condition("still valid", holds=False, said="there is no grant")
    state = GrantEyes(journal).state_of(grant)
    terms = grant.terms
    given = (
        f"{grant.grant_id}: {terms.scope}, by {terms.given_by} ({terms.given_role}) at "
        f"{grant.given_at.shown()}, for {terms.module_version} {terms.package_digest}"
    )
    if state is GrantState.REVOKED and grant.revoked_at is not None:
        taken = f"{given}; taken back by {grant.revoked_by} at {grant.revoked_at.shown()}"
        revoked = Condition("granted", holds=False, said=taken)
        return revoked, Condition("still valid", holds=False, said="there is no grant any more")
    is_valid = state is GrantState.HOLDS
    return (
        Condition("granted", holds=True, said=given),
        Condition("still valid", holds=is_valid, said=_validity(grant, state)),
    )


def _grant_meant(journal: Journal, wanted: Wanted, standing: Standing | None) -> Grant | None:
    """The one that it is used under, or else the youngest that was ever given for it."""
    held = None if standing is None else standing.granted.get(wanted.capability_id)
    if held is not None:
        return grants_where(journal, "grant_id = ?", (held.grant_id,))[0]
    place = (wanted.host_id, wanted.module_id, wanted.capability_id)
    return last_grant_where(journal, _OF_CAPABILITY, place)


def _validity(grant: Grant, state: GrantState) -> str:
    terms = grant.terms
    match state:
        case GrantState.HOLDS if terms.scope is GrantScope.SESSION:
            return f"while {terms.session_id} goes on"
        case GrantState.HOLDS:
            return "until the module or the major version of the catalog changes"
        case GrantState.VOID if grant.revoked_at is not None:
            return f"void since {grant.revoked_at.shown()}: other content of the module came"
        case GrantState.SESSION_OVER:
            return f"{terms.session_id} is over"
        case GrantState.OTHER_CATALOG:
            return f"given under version {grant.grant_version} of the catalog"
    return "no module with that version and digest is registered"
