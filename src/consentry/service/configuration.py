"""The configuration that counts: the user's own documents, and a workspace's as far as they may.

`Effective` is what every command goes by; nothing else reads these documents. A tool's manifest is
read when the tool is asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.nearest import closest
from consentry.decide.levels import LevelDecision, level_for
from consentry.decide.trust import Ignored
from consentry.declare.consent import ConsentConfig
from consentry.declare.policy import PolicyEntry
from consentry.declare.preferences import OwnSettings
from consentry.declare.profile import SandboxConfig
from consentry.declare.tool import Origin, ToolManifest
from consentry.service.places import Configuration


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """A tool's manifest, where it came from, and whether that was accepted."""

    manifest: ToolManifest
    file: Path
    origin: Origin
    is_accepted: bool
    requires_consent: bool | None

    @property
    def is_trusted(self) -> bool:
        """Whether it counts in full: the user's own, or accepted by its digest."""
        return self.origin is Origin.OWN or self.is_accepted


@dataclass(frozen=True, slots=True)
class Effective:
    """Everything that counts here, and what does not."""

    consent: ConsentConfig
    sandbox: SandboxConfig
    policy: tuple[PolicyEntry, ...]
    settings: OwnSettings
    tools: Mapping[str, LoadedTool]
    ignored: tuple[Ignored, ...]
    policy_hash: Digest
    folders: Configuration

    def tool(self, name: str) -> LoadedTool:
        """The tool of that name, or `tool-unknown` with the one that was probably meant."""
        found = self.tools.get(name)
        if found is not None:
            return found
        nearest = closest(name, self.tools)
        help_line = None if nearest is None else f"did you mean `{nearest}`?"
        raise UsageProblem(
            Code.TOOL_UNKNOWN, f"there is no tool `{name}` here", help_line=help_line
        )

    def level_of(self, tool: LoadedTool) -> LevelDecision:
        """The level that the tool has here; raises where the configuration denies it."""
        return level_for(
            self.consent,
            tool.manifest,
            requires_consent=tool.requires_consent,
            is_trusted=tool.is_trusted,
        )
