"""Which way a tool comes to its run (CONSENT §level-none to §level-strict, §remember-3)."""

from dataclasses import replace

import pytest

from consentry.decide.consentcheck import ConsentNeed, Lack
from consentry.decide.lasting import Lasts
from consentry.decide.route import Grounds, Way, route_of
from consentry.declare.consent import LevelRules
from consentry.declare.policy import CommitRule, PolicyEntry
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from tests.decide.samples import (
    DIGEST,
    MINUTE,
    NOW,
    OTHER_DIGEST,
    SURFACE,
    consent,
    machine,
    session,
)

SOON = NOW.plus(MINUTE)
NEED = ConsentNeed("build", "1.0.0", DIGEST, SURFACE, ("--fast", ""), machine("farm"), session())
ENTRY = PolicyEntry("build", "1.0.0", DIGEST)


def grounds(level: ConsentLevel, **rules: bool) -> Grounds:
    """A tool at this level, with nothing said before."""
    return Grounds(replace(LevelRules.usual(level), **rules), NEED)


@pytest.mark.parametrize(
    ("level", "way", "method"),
    [
        (ConsentLevel.NONE, Way.UNASKED, ConsentMethod.NONE),
        (ConsentLevel.IMPLICIT, Way.ANNOUNCED, ConsentMethod.IMPLICIT_NOTIFICATION),
        (ConsentLevel.EXPLICIT, Way.ASK, ConsentMethod.EXPLICIT_APPROVAL),
        (ConsentLevel.STRICT, Way.ASK, ConsentMethod.STRICT_APPROVAL),
    ],
)
def test_each_level_has_its_own_way(level: ConsentLevel, way: Way, method: ConsentMethod) -> None:
    """CONSENT §level-1: without an earlier yes, the level alone decides."""
    route = route_of(grounds(level), SOON)
    assert (route.way, route.method) == (way, method)


def test_a_level_that_must_be_confirmed_is_asked_for_whatever_it_is_called() -> None:
    """CONSENT §config-2: `confirmationRequired` raises `none` and `implicit` to a question."""
    for level in (ConsentLevel.NONE, ConsentLevel.IMPLICIT):
        assert route_of(grounds(level, confirmation_required=True), SOON).way is Way.ASK


def test_without_confirmation_an_explicit_tool_is_announced() -> None:
    """CONSENT §config-2: the same key the other way round."""
    route = route_of(grounds(ConsentLevel.EXPLICIT, confirmation_required=False), SOON)
    assert (route.way, route.method) == (Way.ANNOUNCED, ConsentMethod.IMPLICIT_NOTIFICATION)


def test_a_silent_tool_is_announced_where_its_level_says_so() -> None:
    """CONSENT §config-2: `notification` at level none."""
    assert route_of(grounds(ConsentLevel.NONE, notification=True), SOON).way is Way.ANNOUNCED


def test_an_implicit_tool_is_quiet_where_its_level_says_so() -> None:
    """CONSENT §config-2: the same key at level implicit, the other way round; not at explicit."""
    ways = [
        route_of(grounds(level, notification=False, confirmation_required=False), SOON).way
        for level in (ConsentLevel.IMPLICIT, ConsentLevel.EXPLICIT)
    ]
    assert ways == [Way.UNASKED, Way.ANNOUNCED]


def test_strict_needs_a_second_yes_whoever_said_the_first() -> None:
    """Policy, memory and even a level without confirmation replace the first question only."""
    strict = grounds(ConsentLevel.STRICT)
    routes = [
        route_of(strict, SOON),
        route_of(grounds(ConsentLevel.STRICT, confirmation_required=False), SOON),
        route_of(replace(strict, entry=ENTRY), SOON),
        route_of(replace(strict, consents=[consent(Lasts.PERMANENT)]), SOON),
    ]
    assert [route.way for route in routes] == [
        Way.ASK,
        Way.ANNOUNCED,
        Way.POLICY,
        Way.REMEMBERED,
    ]
    assert all(route.needs_second_yes for route in routes)


def test_only_a_policy_that_says_so_commits_by_itself() -> None:
    """CONTRACTS §12-commit-strict: `commit: auto` stands for the second yes."""
    entry = replace(ENTRY, commit=CommitRule.AUTO)
    route = route_of(replace(grounds(ConsentLevel.STRICT), entry=entry), SOON)
    assert (route.way, route.needs_second_yes) == (Way.POLICY, False)


def test_a_looser_level_has_no_second_yes() -> None:
    """What is not strict is committed by its runner."""
    assert not route_of(grounds(ConsentLevel.EXPLICIT), SOON).needs_second_yes


def test_a_remembered_consent_that_holds_is_used() -> None:
    """CONSENT §remember-1."""
    given = consent(Lasts.SESSION)
    route = route_of(replace(grounds(ConsentLevel.EXPLICIT), consents=[given]), SOON)
    assert (route.way, route.consent, route.method) == (
        Way.REMEMBERED,
        given,
        ConsentMethod.REMEMBERED,
    )


def test_nothing_is_remembered_where_that_is_switched_off() -> None:
    """CONSENT §remember-3: an answer that was kept before does not count."""
    asked = replace(
        grounds(ConsentLevel.EXPLICIT), consents=[consent(Lasts.PERMANENT)], remembers=False
    )
    route = route_of(asked, SOON)
    assert (route.way, route.lack) == (Way.ASK, Lack.NEVER_GIVEN)


def test_a_yes_for_once_that_was_not_used_is_used_under_its_own_method() -> None:
    """The process that asked was killed between the answer and the run: the answer is not lost."""
    given = consent(Lasts.ONCE)
    for remembers in (True, False):
        asked = replace(grounds(ConsentLevel.EXPLICIT), consents=[given], remembers=remembers)
        route = route_of(asked, SOON)
        assert (route.way, route.consent, route.method) == (Way.GIVEN, given, given.terms.method)


def test_who_is_asked_again_is_told_why() -> None:
    """CONSENT §remember-2: the nearest miss of what was said before."""
    changed = replace(NEED, digest=OTHER_DIGEST)
    asked = replace(
        grounds(ConsentLevel.EXPLICIT), need=changed, consents=[consent(Lasts.PERMANENT)]
    )
    assert route_of(asked, SOON).lack is Lack.OTHER_DIGEST
