"""Which keys a document wrote down, and documents built from nodes that were kept."""

from consentry.declare.consent import ConsentConfig
from consentry.declare.consentconfig import read_consent_config
from consentry.declare.nodes import Node
from consentry.declare.problems import Problems
from consentry.declare.reader import parsed
from consentry.declare.tool import ConsentLevel

CONTENT = b"""
consentSystem:
  version: "1.0.0"
  consentLevels:
    strict: {allowedTools: [build], recordReason: true}
  userPreferences: {rememberChoices: true}
"""


def test_what_was_written_is_told_from_what_is_so_anyway() -> None:
    """CONSENT §config: a document on top of another one changes only what it names."""
    config = read_consent_config(CONTENT, "consent-config.yaml")
    assert config.said == {"version", "consentLevels", "userPreferences"}
    assert config.levels[ConsentLevel.STRICT].said == {"allowedTools", "recordReason"}
    assert config.levels[ConsentLevel.NONE].said == frozenset()
    assert config.preferences.said == {"rememberChoices"}
    assert ConsentConfig().said == frozenset()


def test_nodes_may_come_from_elsewhere() -> None:
    """What is built from nodes that were kept is what the text says, places included."""
    kept = parsed(CONTENT, Problems("consent-config.yaml"))

    def from_memory(content: bytes, problems: Problems) -> Node:
        assert (content, problems.name) == (CONTENT, "elsewhere.yaml")
        return kept

    config = read_consent_config(CONTENT, "elsewhere.yaml", parse=from_memory)
    [tool] = config.levels[ConsentLevel.STRICT].allowed_tools
    assert config == read_consent_config(CONTENT, "consent-config.yaml")
    assert (tool.where.file, tool.where.line) == ("elsewhere.yaml", 5)
