"""What a workspace's documents change: everything once accepted, and before that only what is stricter.

A workspace is a stranger's. Until its documents are accepted by their digest they may

- raise the default policy and the level of a tool,
- turn on `notification`, `confirmationRequired`, `showPreview`, `showImpactAnalysis`, `recordReason`,
- turn remembering and batches off, and make what is remembered last less long.

Everything else is `Ignored`, and told. Once accepted, each key that they name counts in place of the
user's own, but for lists: a tool that both list has the stricter of the two levels. Profiles and
engines have `profiletrust`. A workspace's settings never count.

Nothing here reads a file: values in, a value and what does not count out.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from consentry.base.errors import Where
from consentry.base.values import dataclass, field, replace
from consentry.decide.levels import listing_of
from consentry.declare.consent import (
    ConsentConfig,
    DefaultPolicy,
    LevelRules,
    ListedTool,
    Preferences,
    RememberDuration,
)
from consentry.declare.policy import Policy, PolicyEntry
from consentry.declare.tool import ConsentLevel

_FLAGS: Final = {
    "notification": "notification",
    "confirmationRequired": "confirmation_required",
    "showPreview": "show_preview",
    "showImpactAnalysis": "show_impact_analysis",
    "recordReason": "record_reason",
}
_FROM_SHORT_TO_LONG: Final = (
    # A session ends with its terminal, and after twelve hours in any case.
    RememberDuration.HOUR,
    RememberDuration.SESSION,
    RememberDuration.DAY,
    RememberDuration.PERMANENT,
)


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that a workspace's document says and that does not count, in words.

    `lowers` tells what accepting the document would loosen from what never counts from a workspace.
    """

    where: Where
    what: str
    lowers: bool = True


@dataclass(frozen=True, slots=True)
class MergedConsent:
    """The configuration that counts, and what of the workspace's does not."""

    consent: ConsentConfig
    ignored: tuple[Ignored, ...] = ()


def merged_consent(
    own: ConsentConfig, theirs: ConsentConfig, file: str, *, is_accepted: bool
) -> MergedConsent:
    """The user's own configuration with a workspace's on top of it.

    Args:
        own: The user's own.
        theirs: The workspace's.
        file: How the workspace's document is called where a part of it does not count.
        is_accepted: Whether the workspace's documents were accepted as they are.
    """
    merging = _Merging(file, is_accepted=is_accepted)
    policy = merging.policy(own, theirs)
    rules = {
        level: merging.rules(own.levels[level], theirs.levels[level]) for level in ConsentLevel
    }
    levels = merging.listed(replace(own, default_policy=policy, levels=rules), theirs)
    preferences = merging.preferences(own.preferences, theirs.preferences)
    consent = replace(own, default_policy=policy, levels=levels, preferences=preferences)
    return MergedConsent(consent, tuple(merging.ignored))


def merged_policy(
    own: Policy, theirs: Policy, *, is_accepted: bool
) -> tuple[tuple[PolicyEntry, ...], tuple[Ignored, ...]]:
    """The entries that count; a workspace's only once it is accepted."""
    if is_accepted:
        return (*own.entries, *theirs.entries), ()
    ignored = tuple(
        Ignored(
            entry.where,
            f"the policy entry for `{entry.tool}` {entry.version} would stand for a yes",
        )
        for entry in theirs.entries
    )
    return own.entries, ignored


@dataclass(slots=True)
class _Merging:
    """One merge, and what was found not to count on the way."""

    file: str
    is_accepted: bool = field(kw_only=True)
    ignored: list[Ignored] = field(default_factory=list)

    def policy(self, own: ConsentConfig, theirs: ConsentConfig) -> DefaultPolicy:
        if "defaultPolicy" not in theirs.said:
            return own.default_policy
        wanted = theirs.default_policy
        if self.is_accepted or _strictness(wanted) >= _strictness(own.default_policy):
            return wanted
        self._ignore("defaultPolicy", f"`{wanted}` would replace `{own.default_policy}`")
        return own.default_policy

    def rules(self, own: LevelRules, theirs: LevelRules) -> LevelRules:
        counts = self.is_accepted and "description" in theirs.said
        return replace(
            own,
            description=theirs.description if counts else own.description,
            **{name: self._flag(key, own, theirs) for key, name in _FLAGS.items()},  # type: ignore[arg-type] # all flags
        )

    def _flag(self, key: str, own: LevelRules, theirs: LevelRules) -> bool:
        held, wanted = bool(getattr(own, _FLAGS[key])), bool(getattr(theirs, _FLAGS[key]))
        if key not in theirs.said:
            return held
        if self.is_accepted:
            return wanted
        if held and not wanted:
            self._ignore(f"consentLevels.{own.level}.{key}", "would be turned off")
        return held or wanted

    def preferences(self, own: Preferences, theirs: Preferences) -> Preferences:
        wanted = replace(
            own,
            remember_choices=_said(own, theirs, "rememberChoices", "remember_choices"),
            allow_batch_approval=_said(own, theirs, "allowBatchApproval", "allow_batch_approval"),
        )
        if "rememberDuration" in theirs.said:
            wanted = replace(wanted, remember_duration=theirs.remember_duration)
        if self.is_accepted:
            return wanted
        return Preferences(
            self._only_off("rememberChoices", own.remember_choices, wanted.remember_choices),
            self._only_shorter(own.remember_duration, wanted.remember_duration),
            self._only_off(
                "allowBatchApproval", own.allow_batch_approval, wanted.allow_batch_approval
            ),
        )

    def _only_off(self, key: str, own: object, wanted: object) -> bool:
        if wanted and not own:
            self._ignore(f"userPreferences.{key}", "would be turned on")
        return bool(own and wanted)

    def _only_shorter(self, own: RememberDuration, wanted: RememberDuration) -> RememberDuration:
        if _FROM_SHORT_TO_LONG.index(wanted) <= _FROM_SHORT_TO_LONG.index(own):
            return wanted
        self._ignore("userPreferences.rememberDuration", f"`{wanted}` would replace `{own}`")
        return own

    def listed(
        self, own: ConsentConfig, theirs: ConsentConfig
    ) -> Mapping[ConsentLevel, LevelRules]:
        """The levels with the workspace's lists folded in: each tool stands at one level, the one it has."""
        at = {
            tool.name: (level, tool)
            for level in ConsentLevel
            for tool in own.levels[level].allowed_tools
        }
        for level in ConsentLevel:
            for tool in theirs.levels[level].allowed_tools:
                if self._counts(own, tool, level):
                    at[tool.name] = (level, tool)
        return MappingProxyType(
            {
                level: replace(
                    own.levels[level],
                    allowed_tools=tuple(tool for placed, tool in at.values() if placed is level),
                )
                for level in ConsentLevel
            }
        )

    def _counts(self, own: ConsentConfig, tool: ListedTool, level: ConsentLevel) -> bool:
        listing = listing_of(own, tool.name)
        if listing is not None and listing.level.rank >= level.rank:
            if listing.level is not level:
                what = f"`{tool.name}` is listed at {level}, and your own list has it at {listing.level}"
                self.ignored.append(Ignored(tool.where, what, lowers=False))
            return False
        if listing is not None or self.is_accepted:
            return True
        default = own.default_policy.level
        if default is not None and level.rank >= default.rank:
            return True
        what = f"`{tool.name}` is listed at {level}, and without that it is {_by_default(own)}"
        self.ignored.append(Ignored(tool.where, what))
        return False

    def _ignore(self, key: str, what: str) -> None:
        self.ignored.append(Ignored(Where(self.file, field=f"consentSystem.{key}"), what))


def _said(own: Preferences, theirs: Preferences, key: str, name: str) -> bool:
    return bool(getattr(theirs if key in theirs.said else own, name))


def _strictness(policy: DefaultPolicy) -> int:
    return len(ConsentLevel) if policy.level is None else policy.level.rank


def _by_default(consent: ConsentConfig) -> str:
    level = consent.default_policy.level
    return "denied" if level is None else f"at {level}"
