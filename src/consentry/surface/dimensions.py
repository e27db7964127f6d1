"""The eight dimensions of a surface and the steps on their ladders (GUARD §vector).

`Dimension` values are the upper-case names that verdicts use; `key` is the lower-case name that
the same dimension has as a field of a surface document.
"""

from enum import StrEnum
from typing import Self


class Dimension(StrEnum):
    """One axis of power. The order here is the order everywhere: in JSON, in words, in deltas."""

    label: str
    meaning: str

    def __new__(cls, name: str, label: str, meaning: str) -> Self:
        """A member is its own wire name; label and meaning hang on it."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.label = label
        member.meaning = meaning
        return member

    FS_READ_ROOTS = (
        "FS_READ_ROOTS",
        "read files",
        "path patterns it may read, relative to the workspace unless granted absolute",
    )
    FS_WRITE_ROOTS = (
        "FS_WRITE_ROOTS",
        "write files",
        "path patterns it may create, change or delete",
    )
    NET_ACCESS = ("NET_ACCESS", "reach the network", "hosts and ports it may connect to")
    PROC_EXEC = ("PROC_EXEC", "start programs", "programs it may start; arguments are not part")
    ENV_READ = ("ENV_READ", "read environment variables", "names of variables it may see")
    DYNAMIC_CODE_LOAD = (
        "DYNAMIC_CODE_LOAD",
        "load code at run time",
        "whether it may turn data into code: eval, unpickling, loading by a computed name",
    )
    CRYPTO_PRIMITIVES = (
        "CRYPTO_PRIMITIVES",
        "use cryptography",
        "algorithms and key sizes it may use",
    )
    TOOL_CLASSES = ("TOOL_CLASSES", "use tools", "categories of tools it may call")

    @property
    def key(self) -> str:
        """The name of this dimension as a field: `NET_ACCESS` is `net_access`."""
        return self.value.lower()


class Level(StrEnum):
    """How far a dimension with targets is open: not at all, to a list, or to anything."""

    NONE = "NONE"
    ALLOWLIST = "ALLOWLIST"
    ANY = "ANY"

    @property
    def rank(self) -> int:
        """Position on the ladder, lowest power first."""
        return _RANKS[self]


class LoadLevel(StrEnum):
    """How far code may be loaded at run time. `LIMITED` is a literal module name, no more."""

    NONE = "NONE"
    LIMITED = "LIMITED"
    ANY = "ANY"

    @property
    def rank(self) -> int:
        """Position on the ladder, lowest power first."""
        return _RANKS[self]


_RANKS: dict[StrEnum, int] = {
    Level.NONE: 0,
    Level.ALLOWLIST: 1,
    Level.ANY: 2,
    LoadLevel.NONE: 0,
    LoadLevel.LIMITED: 1,
    LoadLevel.ANY: 2,
}
