"""Which way a tool comes to its run: by itself, announced, by policy, remembered, or by asking.

    level none                          runs, and nobody is told
    level implicit, or no confirmation  is announced, and runs
    an operator's policy entry          stands for the yes
    a remembered consent that holds     stands for the yes
    a yes for once, not used yet        is used: whoever asked was killed before the run
    otherwise                           a person is asked, and told why an earlier yes does not hold

A strict run is rehearsed whichever way it came. Whoever said the first yes, its effect needs a second
one, unless the policy entry says `commit: auto`. Nothing here reads a clock, a file or a store.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.consent import Consent
from consentry.decide.consentcheck import ConsentNeed, Lack, holding, why_not
from consentry.decide.lasting import Lasts
from consentry.declare.consent import LevelRules
from consentry.declare.policy import CommitRule, PolicyEntry
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod


class Way(StrEnum):
    """How a run is decided."""

    UNASKED = "unasked"
    ANNOUNCED = "announced"
    POLICY = "policy"
    REMEMBERED = "remembered"
    GIVEN = "given"
    ASK = "ask"


_METHODS: Final = {
    Way.UNASKED: ConsentMethod.NONE,
    Way.ANNOUNCED: ConsentMethod.IMPLICIT_NOTIFICATION,
    Way.POLICY: ConsentMethod.POLICY,
    Way.REMEMBERED: ConsentMethod.REMEMBERED,
}


@dataclass(frozen=True, slots=True)
class Grounds:
    """All that the way depends on."""

    rules: LevelRules
    need: ConsentNeed
    entry: PolicyEntry | None = None
    consents: Sequence[Consent] = ()
    remembers: bool = True


@dataclass(frozen=True, slots=True)
class Route:
    """The way, and what it rests on; `lack` says why no earlier yes holds where a person is asked."""

    way: Way
    level: ConsentLevel
    consent: Consent | None = None
    entry: PolicyEntry | None = None
    lack: Lack | None = None

    @property
    def method(self) -> ConsentMethod:
        """As the audit entry names it; a question names the method of its answer."""
        if self.way is Way.GIVEN and self.consent is not None:
            return self.consent.terms.method
        if self.way is Way.ASK:
            is_strict = self.level is ConsentLevel.STRICT
            return ConsentMethod.STRICT_APPROVAL if is_strict else ConsentMethod.EXPLICIT_APPROVAL
        return _METHODS[self.way]

    @property
    def needs_second_yes(self) -> bool:
        """Whether its effect is committed only with a second yes."""
        is_auto = self.entry is not None and self.entry.commit is CommitRule.AUTO
        return self.level is ConsentLevel.STRICT and not is_auto


def route_of(grounds: Grounds, now: Instant) -> Route:
    """The way for this run, as things stand now."""
    rules = grounds.rules
    level = rules.level
    if not rules.confirmation_required:
        is_quiet = level.rank < ConsentLevel.EXPLICIT.rank and not rules.notification
        return Route(Way.UNASKED if is_quiet else Way.ANNOUNCED, level)
    if grounds.entry is not None:
        return Route(Way.POLICY, level, entry=grounds.entry)
    consents = [
        each for each in grounds.consents if grounds.remembers or each.terms.lasts is Lasts.ONCE
    ]
    consent = holding(consents, grounds.need, now)
    if consent is not None:
        is_remembered = consent.terms.lasts is not Lasts.ONCE
        return Route(Way.REMEMBERED if is_remembered else Way.GIVEN, level, consent=consent)
    lack = why_not(consents, grounds.need, now)
    return Route(Way.ASK, level, lack=lack)
