"""Where a command stands in a script."""

from collections.abc import Callable

from consentry.base.values import dataclass
from consentry.examine.shell.words import Word


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command stands: its line, how it reads, and what comes in on its standard input."""

    line: int
    reason: str
    standard_input: Callable[[], Word | None]
    """Text that comes in; computed for what another program writes; None when nothing does."""

    is_function: Callable[[str], bool]
