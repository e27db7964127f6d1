"""`consent-config.yaml` to the letter: CONSENT's own document, every key, every way to be wrong."""

from dataclasses import fields as fields_of
from pathlib import Path

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.consent import (
    ConsentConfig,
    DefaultPolicy,
    LevelRules,
    Preferences,
    RememberDuration,
)
from consentry.declare.consentconfig import read_consent_config
from consentry.declare.tool import ConsentLevel

REFERENCE = Path(__file__).parent / "consent" / "consent-config.yaml"
FLAGS = {
    "notification": "notification",
    "confirmationRequired": "confirmation_required",
    "showPreview": "show_preview",
    "showImpactAnalysis": "show_impact_analysis",
    "recordReason": "record_reason",
}


def read(text: str) -> ConsentConfig:
    """The configuration in a text."""
    return read_consent_config(text.encode(), "c.yaml")


def with_keys(*lines: str) -> str:
    """A document with these keys, the first of them in line 3."""
    inner = "".join(f"  {line}\n" for line in lines)
    return f'consentSystem:\n  version: "1.0.0"\n{inner}'


def problems(text: str) -> list[str]:
    """What is wrong, without the name of the file and of the root."""
    with pytest.raises(BadDocument) as caught:
        read(text)
    said = (str(each).removeprefix("c.yaml:") for each in caught.value.problems)
    return [each.replace("consentSystem.", "") for each in said]


def test_the_reference_document_is_read_as_it_is() -> None:
    """CONSENT §config-1, §level-reference: four levels, their tools and what each asks for."""
    config = read_consent_config(REFERENCE.read_bytes(), "consent-config.yaml")
    assert config.version == "1.0.0"
    assert config.default_policy is DefaultPolicy.REQUIRE_EXPLICIT
    assert {
        level: [tool.name for tool in rules.allowed_tools] for level, rules in config.levels.items()
    } == {
        ConsentLevel.NONE: [],
        ConsentLevel.IMPLICIT: ["validate-structure"],
        ConsentLevel.EXPLICIT: ["lint-latex", "format-references"],
        ConsentLevel.STRICT: ["build-latex"],
    }
    assert config.levels[ConsentLevel.NONE].description == "Tool runs without any consent"
    assert config.preferences == Preferences(True, RememberDuration.SESSION, False)


def test_the_reference_document_says_what_the_levels_mean_anyway() -> None:
    """CONSENT §level-none to §level-strict: what a level does where it is left out is the same."""
    written = read_consent_config(REFERENCE.read_bytes(), "c.yaml").levels
    usual = read(with_keys()).levels
    for level in ConsentLevel:
        for flag in FLAGS.values():
            assert getattr(written[level], flag) is getattr(usual[level], flag), (level, flag)


def test_only_the_version_must_be_there() -> None:
    """What is left out is as it is without any document."""
    assert read(with_keys()) == ConsentConfig()
    assert read(with_keys("consentLevels: {}", "userPreferences: {}")) == ConsentConfig()
    assert problems("consentSystem: {}") == ["1:16: version: this key is missing; add `version:`"]


@pytest.mark.parametrize("level", ConsentLevel)
@pytest.mark.parametrize("key", FLAGS)
def test_every_key_of_a_level_is_taken_at_every_level(level: ConsentLevel, key: str) -> None:
    """CONSENT §config-2: turning a key changes that value and no other."""
    usual = LevelRules.usual(level)
    turned = not getattr(usual, FLAGS[key])
    found = read(with_keys(f"consentLevels: {{{level}: {{{key}: {str(turned).lower()}}}}}"))
    changed = {
        field.name
        for field in fields_of(LevelRules)
        if field.compare and getattr(found.levels[level], field.name) != getattr(usual, field.name)
    }
    assert changed == {FLAGS[key]}


@pytest.mark.parametrize("policy", DefaultPolicy)
def test_every_default_policy_is_taken(policy: DefaultPolicy) -> None:
    """CONSENT §config-3, and two that are stricter."""
    assert read(with_keys(f"defaultPolicy: {policy}")).default_policy is policy


@pytest.mark.parametrize("duration", RememberDuration)
def test_every_duration_is_taken(duration: RememberDuration) -> None:
    """CONSENT §remember-1: the four words."""
    found = read(with_keys(f"userPreferences: {{rememberDuration: {duration}}}"))
    assert found.preferences == Preferences(remember_duration=duration)


def test_preferences_can_be_turned() -> None:
    """The two flags, each by itself."""
    assert read(with_keys("userPreferences: {rememberChoices: false}")).preferences == Preferences(
        remember_choices=False
    )
    found = read(with_keys("userPreferences: {allowBatchApproval: true}")).preferences
    assert found == Preferences(allow_batch_approval=True)


def test_a_listed_tool_keeps_its_place() -> None:
    """For whoever says later why a tool is at a level."""
    found = read(with_keys("consentLevels:", "  strict:", "    allowedTools:", "      - t"))
    [tool] = found.levels[ConsentLevel.STRICT].allowed_tools
    assert str(tool.where) == "c.yaml:6:11 `consentSystem.consentLevels.strict.allowedTools[0]`"


def test_json_is_read_alike() -> None:
    """The same document in another form."""
    text = '{"consentSystem": {"version": "1.2.0", "consentLevels": {"none": {"allowedTools": ["t"]}}}}'
    assert read_consent_config(text.encode(), "c.json") == read(text)


def test_a_tool_at_two_levels_is_an_error_with_both_lines() -> None:
    """CONSENT §level-many, CONTRACTS §7-level: the later line is the place, the earlier is named."""
    text = with_keys(
        "consentLevels:",
        "  strict:",
        "    allowedTools: [a, t]",
        "  none:",
        "    allowedTools:",
        "      - b",
        "      - t",
    )
    assert problems(text) == [
        (
            "9:11: consentLevels.none.allowedTools[1]: `t` is already at level strict in line 5; "
            "keep it at one level"
        )
    ]


@pytest.mark.parametrize("version", ["2.0.0", "0.9.0", "10.0.0", "2.0.0-beta"])
def test_an_unknown_major_version_is_refused(version: str) -> None:
    """CONSENT §config-1: it may mean anything by the same keys."""
    assert problems(f'consentSystem: {{version: "{version}"}}') == [
        (
            f"1:26: version: version {version} of this document is not known, only those from 1.0.0 and "
            'below 2.0.0; write "1.0.0" if it follows that, or install a release that knows it'
        )
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1", ["1:1: a: `a` is not a key that is known here; the keys still free here are consentSystem", "1:1: consentSystem: this key is missing; add `consentSystem:`"]),
        ("consentSystem: []", ["1:16: consentSystem: this is a list, and a mapping is meant; write `key: value` lines; `{}` has none"]),
        ("consentSystem: {version: 1.0}", ['1:26: version: `1.0` is a decimal number, and text is meant; put it in quotes: "1.0"']),
        ("consentSystem: {version: '1.0'}", ["1:26: version: `1.0` is not a version; write three numbers such as 1.0.0"]),
    ],
)  # fmt: skip
def test_wrong_root(text: str, said: list[str]) -> None:
    """The root and the version."""
    assert problems(text) == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("defaultPolicy: allow", "3:18: defaultPolicy: `allow` is not one of require_explicit, require_strict, deny; write one of require_explicit, require_strict, deny"),
        ("defaultPolicy: require_explict", "3:18: defaultPolicy: `require_explict` is not one of require_explicit, require_strict, deny; did you mean `require_explicit`?"),
        ("consentLevel: {}", "3:3: consentLevel: `consentLevel` is not a key that is known here; did you mean `consentLevels`?"),
        ("consentLevels: {strickt: {}}", "3:19: consentLevels.strickt: `strickt` is not a key that is known here; did you mean `strict`?"),
        ("consentLevels: {none: {allowedTool: []}}", "3:26: consentLevels.none.allowedTool: `allowedTool` is not a key that is known here; did you mean `allowedTools`?"),
        ("consentLevels: {none: {allowedTools: t}}", "3:40: consentLevels.none.allowedTools: `t` is text, and a list is meant; write a list; `[]` is an empty one"),
        ("consentLevels: {none: {allowedTools: ['*']}}", "3:41: consentLevels.none.allowedTools[0]: `*` is not a name for a tool; use a to z, digits, `.`, `-` and `_`, at most 64"),
        ("consentLevels: {none: {allowedTools: [t, t]}}", "3:44: consentLevels.none.allowedTools[1]: this is already in line 3; keep one of the two"),
        ("consentLevels: {strict: {recordReason: yes}}", "3:42: consentLevels.strict.recordReason: `yes` is text, and true or false is meant; write true, without quotes"),
        ("consentLevels: {strict: null}", "3:27: consentLevels.strict: there is no value, and a mapping is meant; write `key: value` lines; `{}` has none"),
        ("userPreferences: {rememberDuration: 2hours}", "3:39: userPreferences.rememberDuration: `2hours` is not one of session, permanent, 1hour, 1day; did you mean `1hour`?"),
        ("userPreferences: {rememberDuration: forever}", "3:39: userPreferences.rememberDuration: `forever` is not one of session, permanent, 1hour, 1day; write one of session, permanent, 1hour, 1day"),
        ("userPreferences: {remember: true}", "3:21: userPreferences.remember: `remember` is not a key that is known here; did you mean `rememberChoices`?"),
    ],
)  # fmt: skip
def test_wrong_key(line: str, said: str) -> None:
    """The exact place, what is wrong, what to write."""
    assert problems(with_keys(line)) == [said]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    """One reading, all problems, in the order of the document."""
    text = with_keys(
        "defaultPolicy: ask",
        "consentLevels:",
        "  explicit: {showPreview: 1, notifcation: true}",
        "userPreferences: {allowBatchApproval: maybe}",
    )
    assert [each.partition(": ")[0] for each in problems(text)] == ["3:18", "5:29", "5:32", "6:41"]
