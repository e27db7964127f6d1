"""Small documents for tests, and what is wrong with them in few words."""

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.profile import Profile, SandboxConfig
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.declare.tool import ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest


def read_config(text: str) -> SandboxConfig:
    """The configuration in a text."""
    return read_sandbox_config(text.encode(), "s.yaml")


def with_profile(*lines: str) -> str:
    """A document with one profile `p`, whose first line is line 4."""
    inner = "".join(f"      {line}\n" for line in lines)
    return f"sandboxConfig:\n  profiles:\n    p:\n{inner}"


def read_profile(*lines: str) -> Profile:
    """That profile."""
    return read_config(with_profile(*lines)).profiles["p"]


def config_problems(text: str) -> list[str]:
    """What is wrong, without the name of the file and the path to the profile."""
    with pytest.raises(BadDocument) as caught:
        read_config(text)
    said = (str(each).removeprefix("s.yaml:") for each in caught.value.problems)
    return [each.replace("sandboxConfig.profiles.p.", "") for each in said]


LEAST = """\
tool:
  name: t
  description: d
  version: "1.0.0"
  riskLevel: low
"""


def read_manifest(text: str) -> ToolManifest:
    """The manifest in a text."""
    return read_tool_manifest(text.encode(), "t.yaml")


def with_capability(line: str) -> str:
    """The least manifest with one line, the seventh, in its capabilities."""
    return f"{LEAST}  capabilities:\n    {line}\n"


def with_key(line: str) -> str:
    """The least manifest with one more line, the seventh."""
    return f"{LEAST}  capabilities: {{}}\n  {line}\n"


def manifest_problems(text: str) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read_manifest(text)
    return [str(each).removeprefix("t.yaml:") for each in caught.value.problems]
