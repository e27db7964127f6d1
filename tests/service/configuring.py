"""Configuration folders with documents in them, for tests of what counts."""

from pathlib import Path

from consentry.decide.acceptance import Accepted, NothingAccepted
from consentry.service.configuration import Effective, load_configuration
from consentry.service.places import find_workspace
from consentry.service.surroundings import Surroundings

TOOL = """
tool:
  name: {name}
  description: {description}
  version: "1.0.0"
  capabilities: {{}}
  riskLevel: {risk}
"""


def tool_text(name: str, *, description: str = "Does something", risk: str = "low") -> str:
    """The manifest of a tool that asks for nothing."""
    return TOOL.format(name=name, description=description, risk=risk)


def levels_text(**levels: str) -> str:
    """A consent configuration with these lines at these levels."""
    rows = "".join(f"    {level}: {keys}\n" for level, keys in levels.items())
    return f'consentSystem:\n  version: "1.0.0"\n  consentLevels:\n{rows or "    {}"}'


def write(folder: Path, **documents: str) -> Path:
    """Documents by name: `consent_config` is `consent-config.yaml`, anything else a tool's manifest."""
    (folder / "tools").mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        known = ("consent_config", "sandbox_config", "tool_manifest", "policy", "settings")
        spelled = name.replace("_", "-")
        file = folder / (f"{spelled}.yaml" if name in known else f"tools/{spelled}.yaml")
        file.write_text(text)
    return folder


def load(
    around: Surroundings, accepted: Accepted | None = None, *, named: str | None = None
) -> Effective:
    """What counts where the command was started."""
    return load_configuration(around, find_workspace(around), named, accepted or NothingAccepted())
