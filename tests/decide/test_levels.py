"""Which level a tool has, and whose word counts for it (CONSENT §level, CONTRACTS §7)."""

from dataclasses import replace

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused, Where
from consentry.decide.levels import level_for
from consentry.declare.consent import (
    ConsentConfig,
    DefaultPolicy,
    LevelRules,
    ListedTool,
    usual_levels,
)
from consentry.declare.tool import ConsentLevel, RiskLevel, ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest

MANIFEST = b"""
tool:
  name: thief
  description: Counts your keys
  version: "1.0.0"
  capabilities: {}
  riskLevel: low
"""
NONE, IMPLICIT, EXPLICIT, STRICT = ConsentLevel


def manifest(risk: RiskLevel = RiskLevel.LOW, says: ConsentLevel | None = None) -> ToolManifest:
    """A tool that asks for nothing."""
    read = read_tool_manifest(MANIFEST, "tools/thief.yaml")
    return replace(read, risk=risk, consent_level=says)


def listing(
    level: ConsentLevel | None,
    default: DefaultPolicy = DefaultPolicy.REQUIRE_EXPLICIT,
    **rules: bool,
) -> ConsentConfig:
    """A configuration that lists the tool at this level, with some of its rules changed."""
    levels = dict(usual_levels())
    if level is not None:
        tool = ListedTool("thief", Where("consent-config.yaml", 12))
        levels[level] = replace(levels[level], allowed_tools=(tool,), **rules)
    return ConsentConfig(default_policy=default, levels=levels)


@pytest.mark.parametrize(
    ("listed", "says", "requires", "risk", "level"),
    [
        (None, None, None, RiskLevel.LOW, EXPLICIT),
        (NONE, None, None, RiskLevel.LOW, NONE),
        (IMPLICIT, None, False, RiskLevel.LOW, IMPLICIT),
        (NONE, None, True, RiskLevel.LOW, EXPLICIT),
        (NONE, IMPLICIT, None, RiskLevel.LOW, IMPLICIT),
        (NONE, NONE, None, RiskLevel.MEDIUM, EXPLICIT),
        (NONE, NONE, None, RiskLevel.HIGH, STRICT),
        (NONE, NONE, None, RiskLevel.CRITICAL, STRICT),
        (EXPLICIT, NONE, False, RiskLevel.LOW, EXPLICIT),
        (STRICT, NONE, False, RiskLevel.LOW, STRICT),
        (EXPLICIT, STRICT, None, RiskLevel.LOW, STRICT),
        (None, NONE, False, RiskLevel.LOW, EXPLICIT),
    ],
)
def test_the_strictest_word_counts(
    *,
    listed: ConsentLevel | None,
    says: ConsentLevel | None,
    requires: bool | None,
    risk: RiskLevel,
    level: ConsentLevel,
) -> None:
    """CONTRACTS §7-level: list, own level, `requiresConsent: true` and risk, whichever is strictest.

    `requiresConsent: false` and a manifest's own `none` lower nothing.
    """
    decided = level_for(
        listing(listed), manifest(risk, says), requires_consent=requires, is_trusted=True
    )
    assert decided.level is level
    assert decided.rules.level is level


def test_the_default_policy_decides_where_no_list_names_the_tool() -> None:
    """CONSENT §config-1: `require_explicit`, `require_strict` and `deny`."""
    asked = {
        policy: level_for(
            listing(None, policy), manifest(), requires_consent=None, is_trusted=True
        ).level
        for policy in (DefaultPolicy.REQUIRE_EXPLICIT, DefaultPolicy.REQUIRE_STRICT)
    }
    assert list(asked.values()) == [EXPLICIT, STRICT]
    with pytest.raises(Refused) as refused:
        level_for(
            listing(None, DefaultPolicy.DENY), manifest(), requires_consent=None, is_trusted=True
        )
    assert refused.value.code is Code.TOOL_DENIED


def test_a_listed_tool_is_not_denied() -> None:
    """`deny` is for what no level names."""
    config = listing(NONE, DefaultPolicy.DENY)
    decided = level_for(config, manifest(), requires_consent=None, is_trusted=True)
    assert decided.level is NONE


@pytest.mark.parametrize("listed", [NONE, IMPLICIT])
def test_a_strangers_manifest_under_a_trusted_name_is_asked_for(listed: ConsentLevel) -> None:
    """The user lists a name; a clone brings a manifest of that name: the default level holds.

    The same listing counts for the user's own manifest.
    """
    config = listing(listed)
    strangers = level_for(config, manifest(), requires_consent=None, is_trusted=False)
    own = level_for(config, manifest(), requires_consent=None, is_trusted=True)
    assert (strangers.level, own.level) == (EXPLICIT, listed)
    assert any("not accepted" in reason for reason in strangers.reasons)


def test_a_strangers_manifest_under_a_listed_name_is_denied_where_that_is_the_default() -> None:
    """`deny` is stricter than any level, so that a listing below it needs a trusted manifest too."""
    with pytest.raises(Refused, match="not accepted"):
        level_for(
            listing(EXPLICIT, DefaultPolicy.DENY),
            manifest(),
            requires_consent=None,
            is_trusted=False,
        )


def test_a_level_made_milder_is_what_its_name_says_for_a_strangers_tool() -> None:
    """`confirmationRequired: false` is the user's word about their own tools."""
    config = listing(EXPLICIT, confirmation_required=False, show_preview=False)
    own = level_for(config, manifest(), requires_consent=None, is_trusted=True)
    strangers = level_for(config, manifest(), requires_consent=None, is_trusted=False)
    assert (own.rules.confirmation_required, own.rules.show_preview) == (False, False)
    assert replace(strangers.rules, allowed_tools=()) == LevelRules.usual(EXPLICIT)


def test_every_reason_is_told_with_its_place() -> None:
    """A person who asks why reads all that had a say."""
    decided = level_for(
        listing(IMPLICIT),
        manifest(RiskLevel.MEDIUM, NONE),
        requires_consent=True,
        is_trusted=True,
    )
    assert decided.reasons == (
        "listed at implicit in consent-config.yaml:12",
        "its manifest says none",
        "the index says requiresConsent: at least explicit",
        "risk medium: at least explicit",
    )


def test_what_the_user_calls_a_level_is_told() -> None:
    """CONSENT §config-2: `description` is for people, who read it behind the reasons."""
    config = listing(IMPLICIT)
    named = replace(config.levels[IMPLICIT], description="runs with a notification only")
    config = replace(config, levels={**config.levels, IMPLICIT: named})
    decided = level_for(config, manifest(), requires_consent=None, is_trusted=True)
    assert decided.reasons[-1] == "implicit is: runs with a notification only"
