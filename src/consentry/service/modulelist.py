"""What is told of hosts and their modules: which is meant, what it may do now, and whether it still fits.

Reads alone: no session is ended and nothing is recorded by looking. A module is named by its id and, where
several hosts have one of that id, by its host as well; nothing is guessed. What a module may do is what the
check itself would answer, so that a list never promises more than a call finds; a grant for a session counts
where that session goes on, and says so.
"""

from collections.abc import Sequence
from enum import StrEnum

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.decide.capabilitycheck import ModuleIdentity, Standing
from consentry.decide.grant import Grant
from consentry.decide.moduleregistration import Registration
from consentry.decide.modulestorage import USUAL, StorageUse
from consentry.declare.hostdescription import HostDescription
from consentry.service.leader import is_alive
from consentry.service.moduleloading import LoadedModule, Unfit, loaded
from consentry.store.grants import grants_where
from consentry.store.journal import Journal
from consentry.store.modulechecks import ModuleChecks
from consentry.store.modules import StoredModules
from consentry.store.modulestorage import StoredModuleStorage
from consentry.store.sessions import sessions_not_ended
from consentry.surface.catalog import CapabilityCatalog, CatalogEntry, capability_catalog

_FOR_SESSIONS = (
    "host_id = ? AND module_id = ? AND scope = 'session' AND revoked_at IS NULL "
    "AND module_version = ? AND package_digest = ?"
)
_ONE = "grant_id = ?"


class PowerState(StrEnum):
    """How a capability that a module asks for stands."""

    GRANTED = "granted"
    SESSION = "granted-for-session"
    NOT_GRANTED = "not-granted"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class ListedPower:
    """One capability that a module asks for; `grants` are those that hold now."""

    entry: CatalogEntry
    state: PowerState
    grants: tuple[Grant, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            "capabilityId": self.entry.capability_id,
            "state": self.state.value,
            "scope": self.entry.scope,
            "limits": list(self.entry.limits),
            "grants": [each.to_json() for each in self.grants],
        }


@dataclass(frozen=True, slots=True)
class ListedModule:
    """A registered module, what became of reading it again, and how its capabilities stand."""

    registration: Registration
    module: LoadedModule | Unfit
    capabilities: tuple[ListedPower, ...]

    @property
    def problem(self) -> str | None:
        """Why it does not fit its host any more; None where it does."""
        return str(self.module.problem) if isinstance(self.module, Unfit) else None

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            **self.registration.to_json(),
            "hasGraph": self.registration.graph is not None,
            "problem": self.problem,
            "capabilities": [each.to_json() for each in self.capabilities],
        }


@dataclass(frozen=True, slots=True)
class ModuleStorage:
    """How much a module keeps for itself, and how much it may."""

    used: StorageUse

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            "keys": self.used.used_keys,
            "bytes": self.used.used_bytes,
            "mostKeys": USUAL.most_keys,
            "mostBytes": USUAL.most_bytes,
        }


def host_named(modules: StoredModules | None, named: str | None) -> HostDescription:
    """The host of that id, or the only one there is; raises `host-unknown` otherwise."""
    known = [] if modules is None else list(modules.hosts())
    if named is not None:
        found = [each for each in known if each.host_id == named]
        if not found:
            message = f"no host `{named}` is known here"
            raise UsageProblem(Code.HOST_UNKNOWN, message, help_line=_known_help(known))
        return found[0]
    if not known:
        raise UsageProblem(Code.HOST_UNKNOWN, "no host is known here that a module could be for")
    if len(known) > 1:
        raise several_hosts(f"{len(known)} hosts are known here", known)
    return known[0]


def module_named(
    modules: StoredModules | None, module_id: str, host: str | None
) -> tuple[Registration, HostDescription]:
    """The module of that id with its host; where several hosts have one, it has to be said which."""
    known = [] if modules is None else list(modules.hosts())
    if host is not None:
        known = [host_named(modules, host)]
    found = [
        (registration, each)
        for each in known
        if modules is not None
        and (registration := modules.find(each.host_id, module_id)) is not None
    ]
    if len(found) > 1:
        raise several_hosts(
            f"{len(found)} hosts have a module `{module_id}`", [h for _, h in found]
        )
    if not found:
        place = "here" if host is None else f"in `{host}`"
        raise UsageProblem(Code.MODULE_UNKNOWN, f"no module `{module_id}` is registered {place}")
    return found[0]


def several_hosts(message: str, hosts: Sequence[HostDescription]) -> UsageProblem:
    """That one of these has to be named."""
    names = ", ".join(each.host_id for each in hosts)
    return UsageProblem(Code.HOST_UNKNOWN, message, help_line=f"say --host with one of: {names}")


def _known_help(known: Sequence[HostDescription]) -> str | None:
    names = ", ".join(each.host_id for each in known)
    return f"known are: {names}; a file that describes another can be named too" if names else None


def listed_modules(journal: Journal, host_id: str | None = None) -> list[ListedModule]:
    """Every registered module, of one host where it is named, by host and id."""
    modules = StoredModules(journal)
    hosts = {each.host_id: each for each in modules.hosts()}
    return [
        listed_module(journal, each, hosts[each.identity.host_id]) for each in modules.all(host_id)
    ]


def listed_module(
    journal: Journal, registration: Registration, host: HostDescription
) -> ListedModule:
    """One module, read again against its host, with how its capabilities stand."""
    capabilities = _capabilities(journal, registration.identity)
    return ListedModule(registration, loaded(registration, host), capabilities)


def storage_of(journal: Journal, identity: ModuleIdentity) -> ModuleStorage:
    """How much the module keeps."""
    kept = StoredModuleStorage(
        journal.database, journal.clock, identity.host_id, identity.module_id
    )
    return ModuleStorage(kept.usage())


def session_grants(journal: Journal, identity: ModuleIdentity) -> list[Grant]:
    """What holds for this very content in a session that goes on, oldest first."""
    content = (identity.module_version, identity.package_digest)
    place = (identity.host_id, identity.module_id)
    going_on = open_sessions(journal)
    return [
        each
        for each in grants_where(journal, _FOR_SESSIONS, (*place, *content))
        if each.terms.session_id in going_on
    ]


def open_sessions(journal: Journal) -> frozenset[str]:
    """The ids of the sessions that go on, whether or not somebody has ended the others yet."""
    now = journal.clock.now()
    return frozenset(
        each.session_id
        for each in sessions_not_ended(journal.database)
        if each.why_over(now, journal.machine_id, is_alive) is None
    )


def _capabilities(journal: Journal, identity: ModuleIdentity) -> tuple[ListedPower, ...]:
    checks = ModuleChecks(journal, identity.host_id)
    standing = checks.standing(identity.module_id)
    if standing is None:
        return ()  # removed a moment ago
    of_sessions = session_grants(journal, identity)
    return tuple(
        _capability(journal, standing, of_sessions, each, checks.catalog)
        for each in sorted(standing.requested)
    )


def _capability(
    journal: Journal,
    standing: Standing,
    of_sessions: Sequence[Grant],
    capability_id: str,
    catalog: CapabilityCatalog,
) -> ListedPower:
    entry = catalog.find(capability_id) or CatalogEntry(capability_id, "not in the catalog", ())
    held = standing.granted.get(capability_id)
    for_sessions = tuple(
        each
        for each in of_sessions
        if each.terms.capability_id == capability_id
        and not catalog.voids_grants_of(each.grant_version)
    )
    if held is not None:
        lasting = grants_where(journal, _ONE, (held.grant_id,))
        return ListedPower(entry, PowerState.GRANTED, (*lasting, *for_sessions))
    if for_sessions:
        return ListedPower(entry, PowerState.SESSION, for_sessions)
    is_stale = capability_id in standing.stale
    return ListedPower(entry, PowerState.STALE if is_stale else PowerState.NOT_GRANTED)


def catalog_document(catalog: CapabilityCatalog | None = None) -> dict[str, Json]:
    """The catalog as it is told: its version, and each id with its scope and hard limits."""
    shown = catalog or capability_catalog()
    return {
        "capabilityCatalogVersion": shown.version,
        "capabilities": [
            {
                "capabilityId": each.capability_id,
                "scope": each.scope,
                "limits": list(each.limits),
            }
            for each in shown.entries
        ],
    }
