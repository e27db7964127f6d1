"""What an index of tools says, as values: each tool, its manifest's file, and whether it needs consent."""

from consentry.base.errors import Where
from consentry.base.values import dataclass, field


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One tool; `file` is relative to the folder of the index, `requires_consent` None where not said."""

    name: str
    file: str
    requires_consent: bool | None = None
    where: Where = field(default_factory=Where, compare=False)


@dataclass(frozen=True, slots=True)
class ToolIndex:
    """The whole document."""

    tools: tuple[IndexEntry, ...] = ()
