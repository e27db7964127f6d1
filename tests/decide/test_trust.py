"""What a workspace's consent configuration changes, key by key (the rule of trust; CONSENT §config-2)."""

from itertools import product

import pytest

from consentry.base.errors import Where
from consentry.decide.trust import merged_consent, merged_policy
from consentry.declare.consent import (
    ConsentConfig,
    DefaultPolicy,
    LevelRules,
    RememberDuration,
)
from consentry.declare.consentconfig import read_consent_config
from consentry.declare.policy import Policy, PolicyEntry
from consentry.declare.tool import ConsentLevel
from tests.decide.samples import DIGEST

FLAGS = {
    "notification": "notification",
    "confirmationRequired": "confirmation_required",
    "showPreview": "show_preview",
    "showImpactAnalysis": "show_impact_analysis",
    "recordReason": "record_reason",
}
FILE = "theirs.yaml"


def config(*lines: str) -> ConsentConfig:
    """A document with these keys."""
    text = 'consentSystem:\n  version: "1.0.0"\n' + "".join(f"  {line}\n" for line in lines)
    return read_consent_config(text.encode(), FILE)


def levels(level: ConsentLevel, keys: str) -> ConsentConfig:
    """A document with these keys at one level."""
    return config(f"consentLevels: {{{level}: {{{keys}}}}}")


def at(consent: ConsentConfig, tool: str) -> list[ConsentLevel]:
    """The levels that list a tool."""
    return [
        level
        for level, rules in consent.levels.items()
        if tool in [each.name for each in rules.allowed_tools]
    ]


@pytest.mark.parametrize("level", ConsentLevel)
@pytest.mark.parametrize("key", FLAGS)
def test_a_stranger_turns_flags_on_and_never_off(level: ConsentLevel, key: str) -> None:
    """In threes: turned on by anybody; off ignored and told; off once accepted."""
    on, off = levels(level, f"{key}: true"), levels(level, f"{key}: false")

    def flag(own: ConsentConfig, theirs: ConsentConfig, *, is_accepted: bool) -> bool:
        merged = merged_consent(own, theirs, FILE, is_accepted=is_accepted)
        return bool(getattr(merged.consent.levels[level], FLAGS[key]))

    assert flag(off, on, is_accepted=False)
    assert flag(on, off, is_accepted=False)
    assert not flag(on, off, is_accepted=True)
    [ignored] = merged_consent(on, off, FILE, is_accepted=False).ignored
    assert ignored.where == Where(FILE, field=f"consentSystem.consentLevels.{level}.{key}")
    assert ignored.lowers


def test_what_is_not_written_down_changes_nothing() -> None:
    """A workspace that lists one tool does not reset what the user says elsewhere."""
    own = config(
        "defaultPolicy: require_strict",
        "consentLevels: {explicit: {confirmationRequired: false, description: mine}}",
        "userPreferences: {rememberDuration: permanent, allowBatchApproval: true}",
    )
    theirs = levels(ConsentLevel.STRICT, "allowedTools: [build]")
    for is_accepted in (False, True):
        merged = merged_consent(own, theirs, FILE, is_accepted=is_accepted)
        assert merged.ignored == ()
        assert merged.consent.preferences == own.preferences
        assert merged.consent.default_policy is own.default_policy
        assert merged.consent.levels[ConsentLevel.EXPLICIT] == own.levels[ConsentLevel.EXPLICIT]


@pytest.mark.parametrize(("own", "theirs"), list(product(DefaultPolicy, DefaultPolicy)))
def test_the_stricter_default_policy_counts(own: DefaultPolicy, theirs: DefaultPolicy) -> None:
    """CONSENT §config-3; once accepted, the workspace's."""
    mine, other = config(f"defaultPolicy: {own}"), config(f"defaultPolicy: {theirs}")
    order = list(DefaultPolicy)
    before = merged_consent(mine, other, FILE, is_accepted=False)
    assert before.consent.default_policy is max(own, theirs, key=order.index)
    assert bool(before.ignored) == (order.index(theirs) < order.index(own))
    after = merged_consent(mine, other, FILE, is_accepted=True)
    assert (after.consent.default_policy, after.ignored) == (theirs, ())


@pytest.mark.parametrize(("own", "theirs"), list(product(RememberDuration, RememberDuration)))
def test_a_stranger_shortens_what_is_remembered(
    own: RememberDuration, theirs: RememberDuration
) -> None:
    """CONSENT §remember-1: an hour, a session of at most twelve, a day, for good."""
    order = [
        RememberDuration.HOUR,
        RememberDuration.SESSION,
        RememberDuration.DAY,
        RememberDuration.PERMANENT,
    ]
    mine, other = (
        config(f"userPreferences: {{rememberDuration: {each}}}") for each in (own, theirs)
    )
    before = merged_consent(mine, other, FILE, is_accepted=False)
    assert before.consent.preferences.remember_duration is min(own, theirs, key=order.index)
    assert bool(before.ignored) == (order.index(theirs) > order.index(own))
    after = merged_consent(mine, other, FILE, is_accepted=True)
    assert after.consent.preferences.remember_duration is theirs


@pytest.mark.parametrize("key", ["rememberChoices", "allowBatchApproval"])
def test_a_stranger_turns_preferences_off_and_never_on(key: str) -> None:
    """CONSENT §remember-3, §remember-4: remembering and batches."""
    on, off = (config(f"userPreferences: {{{key}: {word}}}") for word in ("true", "false"))
    name = {"rememberChoices": "remember_choices", "allowBatchApproval": "allow_batch_approval"}

    def value(own: ConsentConfig, theirs: ConsentConfig, *, is_accepted: bool) -> bool:
        merged = merged_consent(own, theirs, FILE, is_accepted=is_accepted)
        return bool(getattr(merged.consent.preferences, name[key]))

    assert not value(on, off, is_accepted=False)
    assert not value(off, on, is_accepted=False)
    assert value(off, on, is_accepted=True)
    assert merged_consent(off, on, FILE, is_accepted=False).ignored[0].lowers


@pytest.mark.parametrize(("own", "theirs"), list(product((None, *ConsentLevel), ConsentLevel)))
def test_lists_only_raise_and_a_tool_stands_at_one_level(
    own: ConsentLevel | None, theirs: ConsentLevel
) -> None:
    """CONTRACTS §7-level: the user's list stands; a stranger's counts where it is stricter.

    Once accepted a list counts in full, but never below a list of the user's own.
    """
    mine = config() if own is None else levels(own, "allowedTools: [build]")
    other = levels(theirs, "allowedTools: [build]")
    before = merged_consent(mine, other, FILE, is_accepted=False)
    after = merged_consent(mine, other, FILE, is_accepted=True)
    if own is None:
        counts = theirs.rank >= ConsentLevel.EXPLICIT.rank
        assert at(before.consent, "build") == ([theirs] if counts else [])
        assert [each.lowers for each in before.ignored] == ([] if counts else [True])
        assert at(after.consent, "build") == [theirs]
    else:
        stricter = max(own, theirs, key=lambda level: level.rank)
        assert at(before.consent, "build") == at(after.consent, "build") == [stricter]
        assert all(not each.lowers for each in (*before.ignored, *after.ignored))


def test_where_everything_is_denied_a_strangers_list_names_nobody() -> None:
    """`deny` is for tools that no level names, and a stranger naming its own would lift it."""
    mine, other = (
        config("defaultPolicy: deny"),
        levels(ConsentLevel.STRICT, "allowedTools: [build]"),
    )
    before = merged_consent(mine, other, FILE, is_accepted=False)
    assert (at(before.consent, "build"), before.ignored[0].lowers) == ([], True)
    assert "denied" in before.ignored[0].what
    after = merged_consent(mine, other, FILE, is_accepted=True)
    assert at(after.consent, "build") == [ConsentLevel.STRICT]


def test_a_description_is_the_users_own_until_accepted() -> None:
    """A stranger's words do not describe what a level does."""
    other = levels(ConsentLevel.NONE, "description: harmless")
    before = merged_consent(config(), other, FILE, is_accepted=False).consent
    after = merged_consent(config(), other, FILE, is_accepted=True).consent
    none = ConsentLevel.NONE
    assert (before.levels[none], after.levels[none].description) == (
        LevelRules.usual(none),
        "harmless",
    )


def test_policy_entries_of_a_stranger_stand_for_no_yes() -> None:
    """CONSENT §base-4: only the user's own, or accepted ones, each with its place."""
    mine = PolicyEntry("lint", "1.0.0", DIGEST)
    other = PolicyEntry("thief", "1.0.0", DIGEST, where=Where("policy.yaml", 3))
    entries, ignored = merged_policy(Policy((mine,)), Policy((other,)), is_accepted=False)
    assert (entries, [each.where for each in ignored]) == ((mine,), [other.where])
    entries, ignored = merged_policy(Policy((mine,)), Policy((other,)), is_accepted=True)
    assert (entries, ignored) == ((mine, other), ())
