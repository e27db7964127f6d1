"""The documents that a configuration is begun with."""

import pytest

from consentry.declare.anydocument import read_any
from consentry.declare.consent import ConsentConfig, LevelRules
from consentry.declare.consentconfig import read_consent_config
from consentry.declare.documentkind import DocumentKind
from consentry.declare.preferences import OwnSettings
from consentry.declare.settingsfile import read_settings
from consentry.declare.starters import Place, starters

ALL = [(place, name, content) for place in Place for name, content in starters(place)]


@pytest.mark.parametrize(("place", "name", "content"), ALL, ids=lambda each: str(each)[:24])
def test_every_one_can_be_read(place: Place, name: str, content: bytes) -> None:
    """As what its name says."""
    assert place in Place
    assert read_any(DocumentKind.of(name), content, name)


def test_what_is_begun_with() -> None:
    """Settings and engines are the user's alone; a policy is written by nobody unasked."""
    assert [name for name, _ in starters(Place.OWN)] == [
        "consent-config.yaml",
        "sandbox-config.yaml",
        "settings.yaml",
    ]
    assert [name for name, _ in starters(Place.WORKSPACE)] == [
        "consent-config.yaml",
        "sandbox-config.yaml",
    ]


def test_the_users_own_says_what_holds_anyway() -> None:
    """Beginning a configuration changes nothing by itself."""
    own = dict(starters(Place.OWN))
    consent = read_consent_config(own["consent-config.yaml"], "c.yaml")
    usual = ConsentConfig()
    assert (consent.default_policy, consent.preferences) == (
        usual.default_policy,
        usual.preferences,
    )
    for level, rules in consent.levels.items():
        assert rules == LevelRules(
            level,
            rules.description,
            (),
            *(getattr(usual.levels[level], name) for name in FLAGS),
        )
    assert read_settings(own["settings.yaml"], "s.yaml") == OwnSettings()


FLAGS = (
    "notification",
    "confirmation_required",
    "show_preview",
    "show_impact_analysis",
    "record_reason",
)
