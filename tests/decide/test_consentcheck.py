"""When a consent holds, and what is said when none does (CONSENT §remember)."""

from dataclasses import replace
from typing import Any

import pytest

from consentry.base.clock import Instant
from consentry.decide.consentcheck import ConsentNeed, Lack, holding, lack_of, why_not
from consentry.decide.lasting import Lasts
from consentry.decide.machine import MachineScope
from consentry.decide.session import EndedWhy
from consentry.surface.lattice import Surface
from tests.decide.samples import (
    APPROVER,
    DIGEST,
    MINUTE,
    NOW,
    OTHER_DIGEST,
    SURFACE,
    consent,
    machine,
    sample_id,
    session,
)

SOON = NOW.plus(MINUTE)
LATER = Instant(SOON.unix_ms + 1)
WIDER = Surface.of(read=["src/**"], net=["example.com:443"], write=["out/**"])
NARROWER = Surface.of(read=["src/a"])


def need(**changes: Any) -> ConsentNeed:
    """What the sample consents are for."""
    return replace(
        ConsentNeed("build", "1.0.0", DIGEST, SURFACE, ("--fast", ""), machine("farm"), session()),
        **changes,
    )


@pytest.mark.parametrize("lasts", list(Lasts))
def test_a_consent_holds_for_what_it_was_given_for(lasts: Lasts) -> None:
    """And for less."""
    assert holding([consent(lasts)], need(), SOON) == consent(lasts)
    assert holding([consent(lasts)], need(surface=NARROWER), SOON) == consent(lasts)
    assert why_not([consent(lasts)], need(), SOON) is None


@pytest.mark.parametrize("lasts", list(Lasts))
@pytest.mark.parametrize(
    ("changes", "lack"),
    [
        ({"tool": "other"}, Lack.NEVER_GIVEN),
        ({"version": "1.0.1"}, Lack.OTHER_VERSION),
        ({"digest": OTHER_DIGEST}, Lack.OTHER_DIGEST),
        ({"surface": WIDER}, Lack.SURFACE_GROWN),
        ({"machine": replace(machine(), machine_id="machine-" + "9" * 32)}, Lack.OTHER_MACHINE),
        ({"elsewhere": frozenset({consent().consent_id})}, Lack.OTHER_WORKSPACE),
        ({"is_strict": True}, Lack.LOWER_LEVEL),
        ({"policy_hash": DIGEST}, Lack.POLICY_CHANGED),
        ({"policy_hash": DIGEST, "policy_surface": NARROWER}, Lack.POLICY_CHANGED),
    ],
)
def test_whatever_changed_asks_again_and_says_why(
    lasts: Lasts, changes: dict[str, Any], lack: Lack
) -> None:
    """However long it was to last."""
    assert holding([consent(lasts)], need(**changes), SOON) is None
    assert why_not([consent(lasts)], need(**changes), SOON) is lack
    assert lack.words


def test_arguments_bind_a_consent_for_once_and_no_other() -> None:
    """One argument more, or in another order, is another run."""
    for arguments in ((), ("--fast",), ("", "--fast"), ("--fast", "", "x")):
        other = need(arguments=arguments)
        assert lack_of(consent(Lasts.ONCE), other, SOON) is Lack.OTHER_ARGUMENTS
        assert lack_of(consent(Lasts.PERMANENT), other, SOON) is None


def test_a_consent_for_once_is_used_once() -> None:
    """After its use it is history."""
    assert lack_of(consent(Lasts.ONCE).used(SOON), need(), SOON) is Lack.USED


@pytest.mark.parametrize("lasts", list(Lasts))
def test_a_revoked_consent_holds_no_more(lasts: Lasts) -> None:
    """At once."""
    assert lack_of(consent(lasts).revoked(APPROVER, SOON), need(), SOON) is Lack.REVOKED


def test_a_consent_until_some_time_ends_with_it() -> None:
    """It holds at that very moment and not after; a permanent one does not know the time."""
    assert lack_of(consent(Lasts.UNTIL), need(), SOON) is None
    assert lack_of(consent(Lasts.UNTIL), need(), LATER) is Lack.EXPIRED
    assert lack_of(consent(Lasts.PERMANENT), need(), Instant(LATER.unix_ms * 2)) is None


@pytest.mark.parametrize(
    "other",
    [
        None,
        session().ended(SOON, EndedWhy.ENDED),
        replace(session(), session_id=sample_id("session", 9)),
    ],
)
def test_a_consent_for_the_session_ends_with_it(other: Any) -> None:
    """No session, an ended one, another one."""
    assert lack_of(consent(Lasts.SESSION), need(session=other), SOON) is Lack.SESSION_OVER
    assert lack_of(consent(Lasts.PERMANENT), need(session=other), SOON) is None


def test_a_label_reaches_the_machines_of_the_fleet() -> None:
    """And no machine without it."""
    for_farm = consent(machine_scope=MachineScope("label:farm"))
    elsewhere = replace(machine("farm"), machine_id="machine-" + "9" * 32)
    assert lack_of(for_farm, need(machine=elsewhere), SOON) is None
    assert lack_of(for_farm, need(machine=machine()), SOON) is Lack.OTHER_MACHINE


def test_a_changed_policy_keeps_what_it_still_allows() -> None:
    """The whole surface that was consented to, not only what is needed now."""
    changed = need(policy_hash=OTHER_DIGEST, policy_surface=WIDER)
    assert lack_of(consent(policy_hash=DIGEST), changed, SOON) is None
    shrunk = need(policy_hash=OTHER_DIGEST, policy_surface=NARROWER, surface=NARROWER)
    assert lack_of(consent(policy_hash=DIGEST), shrunk, SOON) is Lack.POLICY_CHANGED
    assert lack_of(consent(policy_hash=DIGEST), need(policy_hash=DIGEST), SOON) is None


def test_a_remembered_consent_goes_before_one_that_would_be_used_up() -> None:
    """In whichever order they come."""
    once, kept = consent(Lasts.ONCE, 1), consent(Lasts.PERMANENT, 2)
    assert holding([once, kept], need(), SOON) == kept
    assert holding([kept, once], need(), SOON) == kept
    assert holding([once], need(), SOON) == once


def test_the_nearest_miss_is_named() -> None:
    """Among a revoked one, one for another version and one with less, the last tells most."""
    misses = [
        consent(number=1).revoked(APPROVER, SOON),
        consent(number=2, surface=NARROWER),
        consent(number=3, version="0.9.0"),
    ]
    assert why_not(misses, need(), SOON) is Lack.SURFACE_GROWN
    assert why_not(misses[::2], need(), SOON) is Lack.OTHER_VERSION
    assert why_not([], need(), SOON) is Lack.NEVER_GIVEN
