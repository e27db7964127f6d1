"""One step of the database's shape: the version it leads to, and the statements both ways."""

from collections.abc import Mapping
from typing import TypeAlias

from consentry.base.values import dataclass
from consentry.store.database import Dialect

Statements: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Migration:
    """Statements forward and back, for each dialect."""

    version: int
    forward: Mapping[Dialect, Statements]
    back: Mapping[Dialect, Statements]


def in_both(*statements: str) -> Mapping[Dialect, Statements]:
    """The same statements in either dialect."""
    return dict.fromkeys(Dialect, statements)
