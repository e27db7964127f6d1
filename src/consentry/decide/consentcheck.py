"""Does a consent hold for what is needed now, and if not, what came nearest?

The checks run in one order, and the first that fails is the answer for that consent. Among several
consents the one that got furthest is named: "the surface has grown" tells a person more than "an
older one was revoked". Nothing here reads a clock or a store: what is passed in is what is judged.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.values import dataclass, field
from consentry.decide.consent import Consent
from consentry.decide.lasting import Lasts
from consentry.decide.machine import Machine
from consentry.decide.session import Session
from consentry.record.auditfields import ConsentMethod
from consentry.surface.lattice import Surface


class Lack(StrEnum):
    """Why no consent holds, in the order in which it is looked at."""

    words: str

    def __new__(cls, name: str, words: str) -> Self:
        """A member is its own stored name; the words are for the person who is asked."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.words = words
        return member

    NEVER_GIVEN = ("never_given", "nobody has consented to this tool here")
    REVOKED = ("revoked", "the consent was revoked")
    USED = ("used", "the consent was for one run and was used")
    SESSION_OVER = ("session_over", "the consent was for a session that is over, or another one")
    EXPIRED = ("expired", "the consent has expired")
    OTHER_MACHINE = ("other_machine", "the consent is for another machine")
    OTHER_VERSION = ("other_version", "the consent is for another version of the tool")
    OTHER_DIGEST = ("other_digest", "the tool's files or manifest have changed")
    OTHER_ARGUMENTS = ("other_arguments", "the consent is for other arguments")
    OTHER_WORKSPACE = ("other_workspace", "the consent was given for another workspace")
    LOWER_LEVEL = ("lower_level", "the consent was given at a lower level than strict")
    POLICY_CHANGED = ("policy_changed", "the policy changed and no longer allows it")
    SURFACE_GROWN = ("surface_grown", "the tool needs more than was consented to")


_ORDER = list(Lack)


@dataclass(frozen=True, slots=True)
class ConsentNeed:
    """What a run is about to do, as it stands now; `policy_surface` is the most the policy allows.

    `elsewhere` are the consents that were asked for in another workspace and hold only there.
    """

    tool: str
    version: str
    digest: Digest
    surface: Surface = field(repr=False)
    arguments: tuple[str, ...]
    machine: Machine
    session: Session | None
    policy_hash: Digest | None = None
    policy_surface: Surface | None = field(default=None, repr=False)
    is_strict: bool = False
    elsewhere: frozenset[str] = frozenset()


def holding(consents: Iterable[Consent], need: ConsentNeed, now: Instant) -> Consent | None:
    """The consent that holds; a remembered one before one that would be used up."""
    held = [consent for consent in consents if lack_of(consent, need, now) is None]
    remembered = (consent for consent in held if consent.terms.lasts is not Lasts.ONCE)
    return next(remembered, held[0] if held else None)


def why_not(consents: Iterable[Consent], need: ConsentNeed, now: Instant) -> Lack | None:
    """The nearest miss of all these consents; None when one of them holds."""
    lacks = [lack_of(consent, need, now) for consent in consents]
    if None in lacks:
        return None
    return max((lack for lack in lacks if lack), key=_ORDER.index, default=Lack.NEVER_GIVEN)


def lack_of(consent: Consent, need: ConsentNeed, now: Instant) -> Lack | None:
    """The first check that this consent fails; None when it holds."""
    if consent.terms.tool != need.tool:
        return Lack.NEVER_GIVEN
    return _is_over(consent, need, now) or _is_elsewhere(consent, need)


def _is_over(consent: Consent, need: ConsentNeed, now: Instant) -> Lack | None:
    terms = consent.terms
    if consent.revoked_at is not None:
        return Lack.REVOKED
    if consent.used_at is not None:
        return Lack.USED
    if terms.lasts is Lasts.SESSION:
        session = need.session
        if session is None or not session.is_open or session.session_id != terms.session_id:
            return Lack.SESSION_OVER
    if terms.expires_at is not None and now > terms.expires_at:
        return Lack.EXPIRED
    return None


def _is_elsewhere(consent: Consent, need: ConsentNeed) -> Lack | None:
    terms = consent.terms
    checks = (
        (need.machine.is_in(terms.machine_scope), Lack.OTHER_MACHINE),
        (terms.version == need.version, Lack.OTHER_VERSION),
        (terms.digest == need.digest, Lack.OTHER_DIGEST),
        (terms.arguments in (None, need.arguments), Lack.OTHER_ARGUMENTS),
        (consent.consent_id not in need.elsewhere, Lack.OTHER_WORKSPACE),
        (not need.is_strict or _was_strict(consent), Lack.LOWER_LEVEL),
    )
    failed = next((lack for is_met, lack in checks if not is_met), None)
    if failed is not None:
        return failed
    if terms.policy_hash != need.policy_hash:
        allowed = need.policy_surface
        if allowed is None or not terms.surface <= allowed:
            return Lack.POLICY_CHANGED
    return None if need.surface <= terms.surface else Lack.SURFACE_GROWN


def _was_strict(consent: Consent) -> bool:
    return consent.terms.method is ConsentMethod.STRICT_APPROVAL
