"""A registry of tools as values: which there are, of which class, with which powers (GUARD §in-registry)."""

from typing import Final

from consentry.base.errors import Where
from consentry.base.values import dataclass, field
from consentry.surface.lattice import Surface

REGISTRY_VERSION: Final = "1"


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """One tool that recipes may name."""

    id: str
    tool_class: str
    capabilities: Surface
    where: Where = field(default_factory=Where, compare=False)


@dataclass(frozen=True, slots=True)
class ToolRegistry:
    """The whole document."""

    tools: tuple[RegisteredTool, ...] = ()

    def find(self, tool: str) -> RegisteredTool | None:
        """The tool of that id; None for one that nobody registered."""
        return next((each for each in self.tools if each.id == tool), None)
