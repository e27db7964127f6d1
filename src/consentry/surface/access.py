"""A dimension with a ladder and targets: closed, open to a list, or open to anything.

The order: `NONE` is below every list, lists are ordered by cover, `ANY` is above all. A list with
no targets in it is above `NONE` and below every other list: that is what a bare import of a network
library amounts to, and an engine that is handed it opens nothing.
"""

from collections.abc import Iterator
from typing import Generic, Protocol, Self, TypeVar

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.surface.dimensions import Level


class Scope(Protocol):
    """What every set of targets can do; `bool()` is whether it has any."""

    def __or__(self, other: Self, /) -> Self: ...
    def __and__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __le__(self, other: Self, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...


ScopeT = TypeVar("ScopeT", bound=Scope)


@dataclass(frozen=True, slots=True, eq=False)
class Access(Generic[ScopeT]):
    """A level and, when the level is `ALLOWLIST`, the targets. Otherwise `targets` is empty."""

    level: Level
    targets: ScopeT

    def __post_init__(self) -> None:
        if self.targets and self.level is not Level.ALLOWLIST:
            raise BadInput(Code.SURFACE_FIELD, f"{self.level} is given together with a list")

    def __or__(self, other: "Access[ScopeT]") -> "Access[ScopeT]":
        if self.level is Level.ALLOWLIST is other.level:
            return Access(Level.ALLOWLIST, self.targets | other.targets)
        return self if self.level.rank >= other.level.rank else other

    def __and__(self, other: "Access[ScopeT]") -> "Access[ScopeT]":
        if self.level is Level.ALLOWLIST is other.level:
            return Access(Level.ALLOWLIST, self.targets & other.targets)
        return self if self.level.rank <= other.level.rank else other

    def __sub__(self, other: "Access[ScopeT]") -> "Access[ScopeT]":
        """What this has beyond `other`: nothing, the targets not covered, or the whole step up."""
        if self.level is Level.ALLOWLIST is other.level:
            added = self.targets - other.targets
            return Access(Level.ALLOWLIST if added else Level.NONE, added)
        if self.level.rank > other.level.rank:
            return self
        nothing = self.targets - self.targets
        return Access(Level.NONE, nothing)

    def __le__(self, other: "Access[ScopeT]") -> bool:
        if self.level is Level.ALLOWLIST is other.level:
            return self.targets <= other.targets
        return self.level.rank <= other.level.rank

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Access):
            return NotImplemented
        return self <= other <= self

    def __hash__(self) -> int:
        return hash((self.level, bool(self.targets)))
