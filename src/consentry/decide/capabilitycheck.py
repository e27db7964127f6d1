"""May this action of a module use what it needs? One deterministic answer (MODULES §flow, §code, §order).

A capability is usable when it is in the catalog, the package asks for it, somebody granted it, and that
grant still holds for the very module that acts. The checks come in that order for the whole action, and
the first failure is the answer: of everything an action needs, the failure with the earliest code, and of
those the capability whose name comes first. One missing capability rejects the whole action.

The five states are the document's own, and every result carries those it went through, in order:

    capability_check_started ── all usable ──> capability_check_passed
                             ── missing ─────> capability_escalation_required
                                 ── answered ──> capability_escalation_decision
                                                 ──> capability_escalation_result

What is unknown, not requested, or refused by the operator's mode is rejected without asking anybody.
Pure: a `Standing` is what the store knew of one module at one revision, and a check looks at nothing else.
All four conditions are looked at each time, also where the store would not have loaded a grant without
the others; in which order an action names what it needs changes nothing.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.values import dataclass, field
from consentry.decide.modulemode import ModuleMode
from consentry.surface.catalog import CapabilityCatalog


class RejectCode(StrEnum):
    """Why an action is rejected; the order is that of the checks."""

    UNKNOWN_ID = "capability-unknown-id"
    NOT_REQUESTED = "capability-not-requested"
    NOT_GRANTED = "capability-not-granted"
    GRANT_STALE = "capability-grant-stale"
    ESCALATION_DENIED = "capability-escalation-denied"
    ESCALATION_TIMEOUT = "capability-escalation-timeout"
    POLICY_VIOLATION = "capability-policy-violation"

    @property
    def rank(self) -> int:
        """Its place in the order."""
        return _RANKS[self]

    @property
    def is_for_a_person(self) -> bool:
        """Whether a person can be asked about it."""
        return self in (RejectCode.NOT_GRANTED, RejectCode.GRANT_STALE)


_RANKS: Final = {code: rank for rank, code in enumerate(RejectCode)}


class CheckState(StrEnum):
    """The states of a check, by the document's names."""

    STARTED = "capability_check_started"
    PASSED = "capability_check_passed"
    REQUIRED = "capability_escalation_required"
    DECISION = "capability_escalation_decision"
    RESULT = "capability_escalation_result"


class Origin(StrEnum):
    """From where an action is called; the policy is the same for all."""

    INTERACTIVE = "interactive"
    AUTOMATION = "automation"
    BACKGROUND = "background"

    @property
    def is_automation(self) -> bool:
        """Whether no person is at it, so that `automation.invoke` is needed besides."""
        return self is not Origin.INTERACTIVE


STARTED: Final = (CheckState.STARTED,)
PASSED: Final = (CheckState.STARTED, CheckState.PASSED)
ASKED: Final = (CheckState.STARTED, CheckState.REQUIRED)
DECIDED: Final = (*ASKED, CheckState.DECISION, CheckState.RESULT)


@dataclass(frozen=True, slots=True)
class ModuleIdentity:
    """Which content of which module in which host."""

    host_id: str
    module_id: str
    module_version: str
    package_digest: Digest

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "hostId": self.host_id,
            "moduleId": self.module_id,
            "moduleVersion": self.module_version,
            "packageDigest": self.package_digest,
        }


@dataclass(frozen=True, slots=True)
class HeldGrant:
    """The grant that a capability is used under."""

    grant_id: str
    grant_version: str


@dataclass(frozen=True, slots=True)
class Standing:
    """What one module may do, as the store knew it at one revision of its registration.

    `granted` are the capabilities with a grant that holds, `stale` those with one that did. `blocked`
    are the actions that an earlier rejection blocks.
    """

    identity: ModuleIdentity
    revision: int
    requested: frozenset[str]
    granted: Mapping[str, HeldGrant]
    stale: frozenset[str]
    mode: ModuleMode = ModuleMode.NORMAL
    session_id: str | None = None
    blocked: Mapping[str, "Rejection"] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Rejection:
    """The answer no: which code, for which capability, and what else there is to say."""

    code: RejectCode
    capability_id: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check came to: the states it went through, and the rejection where there is one.

    `missing` are the capabilities that a person could be asked for, each with its own lack; it is empty
    where nobody can be asked.
    """

    states: tuple[CheckState, ...]
    needed: tuple[str, ...]
    rejection: Rejection | None = None
    missing: tuple[Rejection, ...] = ()

    @property
    def is_passed(self) -> bool:
        """Whether everything it needs is usable."""
        return self.rejection is None

    def to_json(self) -> dict[str, Json]:
        """The result as it is told."""
        rejection = self.rejection
        return {
            "states": [each.value for each in self.states],
            "needed": list(self.needed),
            "ok": rejection is None,
            "code": None if rejection is None else rejection.code.value,
            "capabilityId": None if rejection is None else rejection.capability_id,
        }


def check(
    standing: Standing,
    needed: tuple[str, ...],
    catalog: CapabilityCatalog,
    action_id: str | None = None,
    *,
    acts: bool = True,
) -> CheckResult:
    """Whether an action that needs these may go on; `acts` is false for showing what is declared."""
    needed = tuple(sorted(set(needed)))
    found = (_lack_of(standing, each, catalog) for each in needed)
    lacks = tuple(each for each in found if each is not None)
    first = first_of(lacks)
    if first is not None and not first.code.is_for_a_person:
        return CheckResult(STARTED, needed, first)
    held_back = _by_mode(standing, needed, action_id, acts=acts)
    if held_back is not None:
        return CheckResult(STARTED, needed, held_back)
    if first is None:
        return CheckResult(PASSED, needed) if needed else _needs_nothing()
    if not standing.mode.asks:
        return CheckResult(STARTED, needed, first)
    return CheckResult(ASKED, needed, first, lacks)


def first_of(rejections: Iterable[Rejection]) -> Rejection | None:
    """The one that is the answer: of the earliest check, and then by the capability's name."""
    return min(rejections, key=lambda each: (each.code.rank, each.capability_id), default=None)


def _needs_nothing() -> CheckResult:
    """An action that names no capability at all: there is nothing it could be allowed by."""
    why = "the action needs no capability, and nothing is allowed without one"
    return CheckResult(STARTED, (), Rejection(RejectCode.POLICY_VIOLATION, "none", why))


def _lack_of(
    standing: Standing, capability_id: str, catalog: CapabilityCatalog
) -> Rejection | None:
    if catalog.find(capability_id) is None:
        why = f"`{capability_id}` is not in the catalog"
        return Rejection(RejectCode.UNKNOWN_ID, capability_id, why)
    if capability_id not in standing.requested:
        why = f"the package does not ask for `{capability_id}`"
        return Rejection(RejectCode.NOT_REQUESTED, capability_id, why)
    if capability_id in standing.granted:
        return None
    if capability_id in standing.stale:
        why = f"the grant of `{capability_id}` is for another version, catalog or session"
        return Rejection(RejectCode.GRANT_STALE, capability_id, why)
    return Rejection(RejectCode.NOT_GRANTED, capability_id, f"nobody has granted `{capability_id}`")


def _by_mode(
    standing: Standing, needed: tuple[str, ...], action_id: str | None, *, acts: bool
) -> Rejection | None:
    mode = standing.mode
    if (
        mode is ModuleMode.BLOCK_REJECTED
        and action_id is not None
        and action_id in standing.blocked
    ):
        return standing.blocked[action_id]
    if mode.lets_act if acts else mode.lets_render:
        return None
    return Rejection(RejectCode.NOT_GRANTED, min(needed, default="none"), f"the mode is `{mode}`")
