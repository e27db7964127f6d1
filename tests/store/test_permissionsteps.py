"""Which sets a saved capability may be given, by a call and by hand (ESCALATION §step-2, §step-3)."""

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import ConsentryError
from consentry.decide.capabilities import (
    Capability,
    Inferred,
    Language,
    PermissionSource,
    determine_permission_set,
)
from consentry.decide.identity import SYSTEM, Identity
from consentry.store.ledger import Ledger
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import APPROVER, MINUTE, NOW, OWNER
from tests.store.escalating import (
    MINIMAL,
    NET,
    PURE,
    by_hand,
    now_of,
    saved,
)
from tests.store.keepers import Keepers, events, pass_time

READONLY, FILES = PermissionSet.READONLY, PermissionSet.FILESYSTEM
STANDARD, TRUSTED = PermissionSet.MCP_STANDARD, PermissionSet.TRUSTED
READS = Inferred(READONLY, 0.9, ("open(): data",))
TABLES = ("permission_audit_log", "workflow_pattern")


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def refused(keepers: Keepers, capability: Capability, to: PermissionSet, **how: object) -> str:
    """The code with which a change is refused; nothing of it is recorded."""
    before = len(events(keepers.ledger))
    fields: dict[str, object] = {"approved_by": OWNER, **how}
    with pytest.raises(ConsentryError) as caught:
        keepers.capabilities.update_permission_set(
            capability.capability_id,
            to,
            **fields,  # type: ignore[arg-type]
        )
    assert len(events(keepers.ledger)) == before
    assert now_of(keepers, capability) == capability
    return str(caught.value.code)


def test_an_update_is_a_legal_step_with_its_row(keepers: Keepers) -> None:
    """ESCALATION AC4, §step-3: set, confidence and row in one; the source stays what it was."""
    capability = saved(keepers)
    pass_time(keepers, MINUTE)
    after = keepers.capabilities.update_permission_set(
        capability.capability_id, NET, approved_by=APPROVER, reason="why", detected_operation="net"
    )
    assert after == now_of(keepers, capability)
    assert (after.permission_set, after.permission_confidence) == (NET, 1.0)
    assert after.permission_source is PermissionSource.EMERGENT
    [entry] = keepers.audit.get_audit_log(capability.capability_id)
    assert (entry.from_set, entry.to_set, entry.approved_by) == (MINIMAL, NET, APPROVER)
    assert (entry.reason, entry.detected_operation) == ("why", "net")


@pytest.mark.parametrize(
    ("start", "wanted"),
    [
        (NET, FILES),
        (NET, READONLY),
        (FILES, READONLY),
        (STANDARD, MINIMAL),
        (MINIMAL, MINIMAL),
        (MINIMAL, TRUSTED),
        (STANDARD, TRUSTED),
    ],
)
def test_an_illegal_step_is_refused(
    keepers: Keepers, start: PermissionSet, wanted: PermissionSet
) -> None:
    """ESCALATION §step-2, §step-3: its own code; row, log and ledger stay as they were."""
    capability = saved(keepers, inferred=Inferred(start, 0.95))
    assert refused(keepers, capability, wanted) == "permission-step"


@pytest.mark.parametrize(("start", "wanted"), [(NET, FILES), (READONLY, NET), (FILES, NET)])
def test_an_illegal_step_is_refused_by_hand_too(
    keepers: Keepers, start: PermissionSet, wanted: PermissionSet
) -> None:
    """Neither a legal step, nor down, nor `trusted`."""
    capability = saved(keepers, inferred=Inferred(start, 0.95))
    assert refused(keepers, capability, wanted, by_hand=True) == "permission-step"


@pytest.mark.parametrize(
    ("start", "wanted"),
    [
        (MINIMAL, NET),
        (READONLY, STANDARD),
        (STANDARD, NET),
        (STANDARD, MINIMAL),
        (NET, MINIMAL),
        (MINIMAL, TRUSTED),
        (STANDARD, TRUSTED),
        (READONLY, READONLY),
    ],
)
def test_a_person_may_go_up_down_and_to_trusted(
    keepers: Keepers, start: PermissionSet, wanted: PermissionSet
) -> None:
    """ESCALATION §step-2: logged as `manual`, by the person, and given by hand from then on."""
    capability = saved(keepers, inferred=Inferred(start, 0.95))
    after = by_hand(keepers, capability, wanted)
    assert (after.permission_set, after.permission_source) == (wanted, PermissionSource.MANUAL)
    assert determine_permission_set(after) is wanted
    [entry] = keepers.audit.get_audit_log()
    assert (entry.from_set, entry.to_set, entry.approved) == (start, wanted, True)
    assert (entry.approved_by, entry.detected_operation) == (OWNER, "manual")
    assert entry.reason == "as agreed"


def test_setting_by_hand_what_is_set_by_hand_changes_nothing(keepers: Keepers) -> None:
    """No event and no row; the first time it is a change: from then on it is sure."""
    capability = saved(keepers, inferred=Inferred(NET, 0.5))
    first = by_hand(keepers, capability, NET)
    assert determine_permission_set(first) is NET
    before = len(events(keepers.ledger))
    assert by_hand(keepers, first, NET) == first
    assert len(events(keepers.ledger)) == before


@pytest.mark.parametrize("somebody", [SYSTEM, Identity("policy:" + "a" * 64), Identity("root")])
def test_only_a_person_sets_by_hand(keepers: Keepers, somebody: Identity) -> None:
    """Neither the system nor a policy has hands."""
    capability = saved(keepers)
    code = refused(keepers, capability, NET, by_hand=True, approved_by=somebody)
    assert code == "decision-field"


def test_no_step_passes_for_one_by_hand(keepers: Keepers) -> None:
    """The word `manual` alone opens nothing."""
    capability = saved(keepers)
    code = refused(keepers, capability, TRUSTED, detected_operation="manual")
    assert code == "decision-field"


def test_a_set_by_hand_can_be_given_with_the_code(keepers: Keepers) -> None:
    """A step from `minimal` in the log: of new code nothing was open before."""
    store = keepers.capabilities
    first = store.save("fetch", Language.PYTHON, "1\n", READS, by=OWNER, set_by_hand=NET)
    second = store.save("fetch", Language.PYTHON, "2\n", PURE, by=OWNER, set_by_hand=TRUSTED)
    assert (first.permission_set, first.permission_source) == (NET, PermissionSource.MANUAL)
    assert (second.version, second.permission_set) == (2, TRUSTED)
    log = keepers.audit.get_audit_log(first.capability_id)
    assert [(each.from_set, each.to_set) for each in log] == [(MINIMAL, NET), (MINIMAL, TRUSTED)]
    third = store.save("fetch", Language.PYTHON, "2\n", PURE, by=OWNER, set_by_hand=READONLY)
    assert (third.version, third.permission_set) == (2, READONLY)
