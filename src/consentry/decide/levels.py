"""Which level a tool has: the strictest of everything that says something about it.

    the list that names it        the default policy where none does, and `deny` refuses
    its own `consentLevel`
    `requiresConsent: true`       at least explicit; false lowers nothing
    its risk                      medium: at least explicit; high and critical: strict

The configuration handed in is the effective one: what a stranger's list would have lowered is not in
it any more. One door is closed here, because it needs both halves: a level below the default counts
only where the manifest, too, is the user's own or accepted. Otherwise whoever brings a manifest under
a name that the user trusts would run unasked. For the same reason a level that the user made milder
(`confirmationRequired: false`) is what its name says again for a stranger's tool.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.declare.consent import ConsentConfig, DefaultPolicy, LevelRules, ListedTool
from consentry.declare.tool import ConsentLevel, RiskLevel, ToolManifest

_RISK_FLOORS: Final[Mapping[RiskLevel, ConsentLevel]] = {
    RiskLevel.LOW: ConsentLevel.NONE,
    RiskLevel.MEDIUM: ConsentLevel.EXPLICIT,
    RiskLevel.HIGH: ConsentLevel.STRICT,
    RiskLevel.CRITICAL: ConsentLevel.STRICT,
}


@dataclass(frozen=True, slots=True)
class LevelDecision:
    """The level, what it asks for, and in words everything that had a say."""

    level: ConsentLevel
    rules: LevelRules
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The level that names a tool, and the line that does."""

    level: ConsentLevel
    tool: ListedTool


def listing_of(consent: ConsentConfig, name: str) -> Listing | None:
    """The list that names the tool; in a document that was read there is at most one."""
    for level in reversed(ConsentLevel):
        for tool in consent.levels[level].allowed_tools:
            if tool.name == name:
                return Listing(level, tool)
    return None


def level_for(
    consent: ConsentConfig,
    manifest: ToolManifest,
    *,
    requires_consent: bool | None,
    is_trusted: bool,
) -> LevelDecision:
    """The level of a tool, or `tool-denied` where the configuration denies it.

    Args:
        consent: The effective configuration.
        manifest: What the tool says of itself.
        requires_consent: What an index says of it, if one does.
        is_trusted: Whether the manifest is the user's own, or accepted by its digest.
    """
    says = [
        *_from_lists(consent, manifest.name, is_trusted=is_trusted),
        *_from_tool(manifest, requires_consent=requires_consent),
    ]
    level = max((said for said, _ in says), key=lambda said: said.rank)
    rules = consent.levels[level]
    reasons = [words for _, words in says]
    if rules.description:
        reasons.append(f"{level} is: {rules.description}")
    return LevelDecision(level, rules if is_trusted else as_named(rules), tuple(reasons))


def as_named(rules: LevelRules) -> LevelRules:
    """The rules with nothing taken away from what the level means by its name."""
    usual = LevelRules.usual(rules.level)
    return replace(
        rules,
        notification=rules.notification or usual.notification,
        confirmation_required=rules.confirmation_required or usual.confirmation_required,
        show_preview=rules.show_preview or usual.show_preview,
        show_impact_analysis=rules.show_impact_analysis or usual.show_impact_analysis,
        record_reason=rules.record_reason or usual.record_reason,
    )


def _from_lists(
    consent: ConsentConfig, name: str, *, is_trusted: bool
) -> Iterator[tuple[ConsentLevel, str]]:
    listing = listing_of(consent, name)
    policy = consent.default_policy
    if listing is not None:
        yield listing.level, f"listed at {listing.level} in {_place(listing.tool)}"
        if is_trusted:
            return
    default = policy.level
    if default is None:
        raise _denied(name, listing)
    if listing is None:
        yield default, f"no level names it: {policy}"
    elif listing.level.rank < default.rank:
        yield default, f"its manifest is the workspace's and not accepted: {policy}"


def _from_tool(
    manifest: ToolManifest, *, requires_consent: bool | None
) -> Iterator[tuple[ConsentLevel, str]]:
    if manifest.consent_level is not None:
        yield manifest.consent_level, f"its manifest says {manifest.consent_level}"
    if requires_consent:
        yield ConsentLevel.EXPLICIT, "the index says requiresConsent: at least explicit"
    floor = _RISK_FLOORS[manifest.risk]
    if floor is not ConsentLevel.NONE:
        least = "" if floor is ConsentLevel.STRICT else "at least "
        yield floor, f"risk {manifest.risk}: {least}{floor}"


def _denied(name: str, listing: Listing | None) -> Refused:
    if listing is None:
        message = f"no level names `{name}`, and the default policy is `{DefaultPolicy.DENY}`"
        return Refused(Code.TOOL_DENIED, message)
    message = (
        f"`{name}` is listed in {_place(listing.tool)}, but its manifest is the workspace's and not "
        f"accepted, and the default policy is `{DefaultPolicy.DENY}`"
    )
    return Refused(Code.TOOL_DENIED, message)


def _place(tool: ListedTool) -> str:
    line = "" if tool.where.line is None else f":{tool.where.line}"
    return f"{tool.where.file or 'the configuration'}{line}"
