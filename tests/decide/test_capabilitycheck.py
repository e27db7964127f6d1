"""The capability check: four conditions, seven codes in one order, five states (MODULES)."""

import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.values import replace
from consentry.decide.capabilitycheck import (
    ASKED,
    DECIDED,
    PASSED,
    STARTED,
    CheckResult,
    CheckState,
    RejectCode,
    Rejection,
    check,
    first_of,
)
from consentry.decide.modulemode import ModuleMode
from consentry.surface.catalog import CapabilityCatalog
from tests.decide.standings import ALL, CATALOG, checked, standing

READ, STORE, EXPORT, WRITE = (
    "state.read",
    "module.storage.local",
    "export.user.file",
    "state.write.tx",
)
CODES = (
    "capability-unknown-id",
    "capability-not-requested",
    "capability-not-granted",
    "capability-grant-stale",
    "capability-escalation-denied",
    "capability-escalation-timeout",
    "capability-policy-violation",
)


def code(result: CheckResult) -> str | None:
    """The code that a check came to."""
    return None if result.rejection is None else result.rejection.code.value


# The four conditions, each taken away alone.


def test_all_four_conditions_together_make_a_capability_usable() -> None:
    """MODULES §use-1 to §use-4: the same standing that the next four tests take one thing from."""
    result = checked(standing(), READ)
    assert (result.is_passed, result.states, code(result)) == (True, PASSED, None)


def test_what_the_package_does_not_ask_for_is_not_requested() -> None:
    """MODULES §use-1: also where a grant for it is there."""
    result = checked(standing(requested=set(ALL) - {READ}), READ)
    assert code(result) == "capability-not-requested"
    assert (result.states, result.missing) == (STARTED, ())


def test_what_the_catalog_does_not_have_is_unknown() -> None:
    """MODULES §use-2: also where it is requested and a grant for it is there."""
    entries = tuple(each for each in CATALOG.entries if each.capability_id != READ)
    result = check(standing(), (READ,), CapabilityCatalog(CATALOG.version, entries))
    assert code(result) == "capability-unknown-id"
    assert (result.states, result.missing) == (STARTED, ())


def test_what_nobody_granted_is_not_granted() -> None:
    """MODULES §use-3: a request is no grant, and a person can be asked."""
    result = checked(standing(set(ALL) - {READ}), READ)
    assert code(result) == "capability-not-granted"
    assert [each.capability_id for each in result.missing] == [READ]


def test_a_grant_that_does_not_hold_any_more_is_stale() -> None:
    """MODULES §use-4: a person can be asked again."""
    result = checked(standing(set(ALL) - {READ}, stale=[READ]), READ)
    assert code(result) == "capability-grant-stale"
    assert [(each.code, each.capability_id) for each in result.missing] == [
        (RejectCode.GRANT_STALE, READ)
    ]


def test_deny_is_the_starting_state_of_every_capability() -> None:
    """MODULES §deny-1: a module that asks for all of them and was granted none can use none."""
    for each in ALL:
        assert code(checked(standing(()), each)) == "capability-not-granted", each
    assert code(checked(standing((), requested=()), READ)) == "capability-not-requested"


def test_an_action_that_needs_nothing_is_not_allowed_by_that() -> None:
    """MODULES §deny-1: there is nothing it could be allowed by, whatever was granted."""
    result = checked(standing())
    assert (code(result), result.states) == ("capability-policy-violation", STARTED)


# The catalog is an allowlist.


@pytest.mark.parametrize(
    "named",
    [
        "*",
        "state.*",
        "state",
        "state.",
        "state.read.all",
        "State.Read",
        "STATE.READ",
        " state.read",
        "state.read\n",
        "\uff53tate.read",
        "state\uff0eread",
        "read",
        "",
        "\0",
        "none",
    ],
)
def test_an_id_that_is_nearly_one_is_unknown_every_time(named: str) -> None:
    """MODULES §catalog-2, §catalog-3: no wildcard, prefix, other case, alias or look-alike, though granted."""
    found = standing((*ALL, named), requested=(*ALL, named))
    results = {checked(found, named) for _ in range(3)}
    assert {code(each) for each in results} == {"capability-unknown-id"}
    assert len(results) == 1


def test_no_capability_implies_another() -> None:
    """MODULES §catalog-3: of every pair, one that is granted says nothing about the other."""
    for one, other in itertools.permutations(ALL, 2):
        assert code(checked(standing([one]), other)) == "capability-not-granted", (one, other)


# The codes and their order.


def test_there_are_seven_codes_in_the_documents_order() -> None:
    """MODULES §code-1: these and no other, and each has the rank of its place."""
    assert tuple(each.value for each in RejectCode) == CODES
    assert [each.rank for each in RejectCode] == list(range(7))


@pytest.mark.parametrize(("earlier", "later"), list(itertools.pairwise(RejectCode)))
def test_of_two_failures_the_earlier_is_the_answer(earlier: RejectCode, later: RejectCode) -> None:
    """MODULES §order-1: whichever was met first, and whichever name comes first."""
    for names in (("a", "b"), ("b", "a")):
        both = [Rejection(later, names[0]), Rejection(earlier, names[1])]
        assert first_of(both) == first_of(reversed(both)) == both[1]


def test_an_unknown_id_comes_before_one_that_was_not_requested() -> None:
    """MODULES §order-1, pair 1: catalog membership is looked at for the whole action first."""
    found = standing((), requested=(STORE,))
    assert code(checked(found, READ)) == "capability-not-requested"
    assert code(checked(found, "zz.unknown")) == "capability-unknown-id"
    result = checked(found, READ, "zz.unknown")
    assert result.rejection is not None
    assert result.rejection.code is RejectCode.UNKNOWN_ID
    assert result.rejection.capability_id == "zz.unknown"


def test_what_was_not_requested_comes_before_what_was_not_granted() -> None:
    """MODULES §order-1, pair 2: and nobody is asked for a part of what can never be had whole."""
    found = standing((), requested=(EXPORT,))
    assert code(checked(found, EXPORT)) == "capability-not-granted"
    result = checked(found, EXPORT, READ)
    assert (code(result), result.states, result.missing) == (
        "capability-not-requested",
        STARTED,
        (),
    )


def test_what_was_not_granted_comes_before_what_is_stale() -> None:
    """MODULES §order-1, pair 3: the name of the stale one comes first, and does not count."""
    found = standing((), stale=[EXPORT])
    assert code(checked(found, EXPORT)) == "capability-grant-stale"
    result = checked(found, EXPORT, READ)
    assert result.rejection is not None
    assert (result.rejection.code, result.rejection.capability_id) == (
        RejectCode.NOT_GRANTED,
        READ,
    )
    assert {each.capability_id: each.code for each in result.missing} == {
        EXPORT: RejectCode.GRANT_STALE,
        READ: RejectCode.NOT_GRANTED,
    }


def test_of_two_with_the_same_lack_the_name_decides() -> None:
    """MODULES §order-1: so that there is one answer."""
    result = checked(standing(()), READ, EXPORT, STORE)
    assert result.rejection is not None
    assert result.rejection.capability_id == EXPORT


def test_one_missing_capability_rejects_the_whole_action() -> None:
    """MODULES §order-3: for each of three in turn, though the other two are granted."""
    three = (EXPORT, STORE, READ)
    for missing in three:
        result = checked(standing(set(three) - {missing}), *three)
        assert not result.is_passed
        assert [each.capability_id for each in result.missing] == [missing]


@given(
    needed=st.lists(st.sampled_from((*ALL, "no.such", "state.*")), min_size=1, max_size=8),
    granted=st.sets(st.sampled_from(ALL)),
    stale=st.sets(st.sampled_from(ALL)),
    requested=st.sets(st.sampled_from(ALL)),
    mode=st.sampled_from(ModuleMode),
    shuffled=st.randoms(use_true_random=False),
)
def test_the_answer_does_not_depend_on_any_order(
    needed: list[str],
    granted: set[str],
    stale: set[str],
    requested: set[str],
    mode: ModuleMode,
    shuffled: Random,
) -> None:
    """MODULES §order-1, §order-2: not on that of the needs nor of the grants; a need twice is one."""
    stale -= granted
    found = standing(sorted(granted), stale=stale, requested=requested, mode=mode)
    turned = standing(sorted(granted, reverse=True), stale=stale, requested=requested, mode=mode)
    turned = replace(turned, granted={each: found.granted[each] for each in turned.granted})
    other = list(needed)
    shuffled.shuffle(other)
    assert checked(found, *needed) == checked(turned, *other) == checked(found, *set(needed))


@given(
    needed=st.sets(st.sampled_from(ALL), min_size=1),
    granted=st.sets(st.sampled_from(ALL)),
    requested=st.sets(st.sampled_from(ALL)),
    mode=st.sampled_from(ModuleMode),
)
def test_nothing_passes_but_by_a_grant_for_every_need(
    needed: set[str], granted: set[str], requested: set[str], mode: ModuleMode
) -> None:
    """MODULES §order-2: passed exactly where all of it is requested and granted and the mode lets act."""
    result = checked(standing(sorted(granted), requested=requested, mode=mode), *needed)
    may = needed <= granted & requested and mode.lets_act
    assert result.is_passed is may
    assert (result.states == PASSED) is may


# The states.


def test_the_five_states_have_the_documents_names() -> None:
    """MODULES §flow-1 to §flow-5: five, in their order."""
    assert [each.value for each in CheckState] == [
        "capability_check_started",
        "capability_check_passed",
        "capability_escalation_required",
        "capability_escalation_decision",
        "capability_escalation_result",
    ]


def test_a_check_that_passes_goes_through_two_states() -> None:
    """MODULES §flow-1, §flow-2: started, passed."""
    states = checked(standing(), READ).to_json()["states"]
    assert states == ["capability_check_started", "capability_check_passed"]


def test_what_is_missing_requires_an_escalation() -> None:
    """MODULES §flow-3: started, required; it is no pass, and says what a person can be asked for."""
    result = checked(standing(()), READ, STORE)
    assert result.to_json() == {
        "states": ["capability_check_started", "capability_escalation_required"],
        "needed": [STORE, READ],
        "ok": False,
        "code": "capability-not-granted",
        "capabilityId": STORE,
    }
    assert [each.capability_id for each in result.missing] == [STORE, READ]


def test_what_no_person_can_help_with_is_rejected_at_once() -> None:
    """MODULES §flow-1: started and no further, with the code."""
    for found, needed in ((standing(), "no.such"), (standing(requested=()), READ)):
        result = checked(found, needed)
        assert [each.value for each in result.states] == ["capability_check_started"]
        assert not result.missing


def test_a_decision_goes_through_four_states() -> None:
    """MODULES §flow-4, §flow-5: started, required, decision, result; the fifth, passed, is none of it."""
    assert [each.value for each in DECIDED] == [
        "capability_check_started",
        "capability_escalation_required",
        "capability_escalation_decision",
        "capability_escalation_result",
    ]
    assert DECIDED[:2] == ASKED


# The operator's mode.


@pytest.mark.parametrize(
    ("mode", "acts", "shows", "asks"),
    [
        (ModuleMode.NORMAL, True, True, True),
        (ModuleMode.BLOCK_REJECTED, True, True, False),
        (ModuleMode.INSPECT_ONLY, False, True, False),
        (ModuleMode.DENY_ALL, False, False, False),
    ],
)
def test_what_each_mode_lets_through(
    mode: ModuleMode, *, acts: bool, shows: bool, asks: bool
) -> None:
    """MODULES §mode-deny-all, §mode-inspect-only, §mode-block-rejected: of what is granted, and of what is not."""
    granted, bare = standing(mode=mode), standing((), mode=mode)
    assert checked(granted, READ).is_passed is acts
    assert checked(granted, "ui.slot.render", acts=False).is_passed is shows
    assert bool(checked(bare, READ).missing) is asks
    for result in (checked(granted, READ), checked(bare, READ)):
        assert code(result) in (None, "capability-not-granted")


def test_a_mode_that_holds_back_names_itself_and_one_capability() -> None:
    """MODULES §mode-deny-all: the same one, in whatever order they are named."""
    found = standing(mode=ModuleMode.DENY_ALL)
    for needed in ((READ, EXPORT), (EXPORT, READ)):
        rejection = checked(found, *needed).rejection
        assert rejection is not None
        assert (rejection.capability_id, rejection.why) == (EXPORT, "the mode is `deny-all`")


def test_a_mode_does_not_hide_what_is_wrong_with_a_request() -> None:
    """MODULES §order-1: what is unknown or was not requested is so under every mode."""
    for mode in ModuleMode:
        found = standing((), requested=(EXPORT,), mode=mode)
        assert code(checked(found, "no.such")) == "capability-unknown-id"
        assert code(checked(found, READ)) == "capability-not-requested"


def test_a_blocked_action_stays_blocked_though_it_is_granted() -> None:
    """MODULES §mode-block-rejected: with the code it was rejected with; other actions go on."""
    earlier = Rejection(RejectCode.POLICY_VIOLATION, EXPORT, "no target")
    found = standing(mode=ModuleMode.BLOCK_REJECTED, blocked={"save": earlier})
    assert checked(found, READ, action_id="save").rejection == earlier
    assert checked(found, READ, action_id="count").is_passed
    assert checked(found, READ, action_id=None).is_passed


def test_a_block_counts_in_no_other_mode() -> None:
    """MODULES §mode-block-rejected: going back to normal finds the grants as they were."""
    earlier = Rejection(RejectCode.NOT_GRANTED, EXPORT)
    assert checked(standing(blocked={"save": earlier}), READ, action_id="save").is_passed
