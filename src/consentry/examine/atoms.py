"""What extraction finds: powers in normalised form, each with where and why, and what it cannot tell.

An atom is one power: a dimension, an operation, a target. Two programs with the same atoms have the
same powers, however they are written, so that a move, a rename or another layout changes nothing.
Where a thing was found is kept beside the atom and never compared.

Targets: a path pattern (`./` where the path is computed), `host:port`, a program, a variable, an
algorithm, a tool class; for code loading the level. `NAMELESS` is the step to a list without a word
about what is on it, as a bare import of a library gives; `ANYTHING` is a target that is computed.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from consentry.base.values import dataclass
from consentry.surface.dimensions import Dimension, LoadLevel

NAMELESS: Final = ""
ANYTHING: Final = "*"
SOMEWHERE: Final = "./"
"""The target of a read or write whose path is not a constant: anywhere in the workspace."""


class Operation(StrEnum):
    """What is done; each belongs to one dimension."""

    READ = "read"
    WRITE = "write"
    CONNECT = "connect"
    START = "start"
    SEE = "see"
    LOAD = "load"
    ENCRYPT = "encrypt"
    CALL = "call"


OPERATIONS: Final = {
    Dimension.FS_READ_ROOTS: Operation.READ,
    Dimension.FS_WRITE_ROOTS: Operation.WRITE,
    Dimension.NET_ACCESS: Operation.CONNECT,
    Dimension.PROC_EXEC: Operation.START,
    Dimension.ENV_READ: Operation.SEE,
    Dimension.DYNAMIC_CODE_LOAD: Operation.LOAD,
    Dimension.CRYPTO_PRIMITIVES: Operation.ENCRYPT,
    Dimension.TOOL_CLASSES: Operation.CALL,
}


class Provenance(StrEnum):
    """How it is known: code does it, a document brings in what may, or a plugin's rule alone says so."""

    CODE = "code"
    DECLARED = "declared"
    PLUGIN = "plugin"


@dataclass(frozen=True, slots=True, order=True)
class Atom:
    """One power."""

    dimension: Dimension
    operation: Operation
    target: str


@dataclass(frozen=True, slots=True)
class Found:
    """A power at a line of one file, with the words that give it."""

    atom: Atom
    line: int
    reason: str
    provenance: Provenance = Provenance.CODE


@dataclass(frozen=True, slots=True)
class Unclassified:
    """Something that may hold any power. `key` is compared: the same thing elsewhere is not new."""

    key: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ModuleImport:
    """A module that the file imports; `level` counts the dots of a relative import.

    `is_known` says that the tables know the module; one that they do not know may lie in the same
    tree, and only whoever has the tree can tell.
    """

    module: str
    level: int
    names: tuple[str, ...]
    line: int
    is_known: bool


@dataclass(frozen=True, slots=True)
class Ends:
    """Where a file leaves off: what only the other files of its tree can tell.

    `exports` are names of the file that stand for modules or members from elsewhere, as pairs; `outside`
    are dotted names that it uses of modules no table knows, with their lines.
    """

    exports: tuple[tuple[str, str], ...] = ()
    outside: tuple[tuple[str, int], ...] = ()


NO_ENDS: Final = Ends()


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that one file gives, whatever it is called and wherever it lies."""

    found: tuple[Found, ...] = ()
    unclassified: tuple[Unclassified, ...] = ()
    imports: tuple[ModuleImport, ...] = ()
    ends: Ends = NO_ENDS

    def __or__(self, other: "Extraction") -> "Extraction":
        return joined((self, other))


NOTHING_FOUND: Final = Extraction()


def reading(target: str) -> Atom:
    """Reads files at that path pattern."""
    return Atom(Dimension.FS_READ_ROOTS, Operation.READ, target)


def writing(target: str) -> Atom:
    """Creates, changes or deletes files at that path pattern."""
    return Atom(Dimension.FS_WRITE_ROOTS, Operation.WRITE, target)


def connecting(target: str = NAMELESS) -> Atom:
    """Reaches the network."""
    return Atom(Dimension.NET_ACCESS, Operation.CONNECT, target)


def starting(target: str = NAMELESS) -> Atom:
    """Starts a program."""
    return Atom(Dimension.PROC_EXEC, Operation.START, target)


def seeing(target: str = NAMELESS) -> Atom:
    """Reads a variable of the environment."""
    return Atom(Dimension.ENV_READ, Operation.SEE, target)


def loading(level: LoadLevel) -> Atom:
    """Turns data into code."""
    return Atom(Dimension.DYNAMIC_CODE_LOAD, Operation.LOAD, level.value)


def encrypting(target: str = NAMELESS) -> Atom:
    """Uses a cryptographic algorithm."""
    return Atom(Dimension.CRYPTO_PRIMITIVES, Operation.ENCRYPT, target)


def calling(tool_class: str) -> Atom:
    """Uses tools of a class."""
    return Atom(Dimension.TOOL_CLASSES, Operation.CALL, tool_class)


def unclassified(key: str, line: int, reason: str) -> Extraction:
    """An extraction that holds nothing but one thing that it cannot tell."""
    return Extraction(unclassified=(Unclassified(key, line, reason),))


def joined(parts: Iterable[Extraction]) -> Extraction:
    """All of them in one."""
    found: list[Found] = []
    unknown: list[Unclassified] = []
    imports: list[ModuleImport] = []
    ends: list[Ends] = []
    for part in parts:
        found += part.found
        unknown += part.unclassified
        imports += part.imports
        if part.ends is not NO_ENDS:
            ends.append(part.ends)
    return Extraction(tuple(found), tuple(unknown), tuple(imports), _joined_ends(ends))


def _joined_ends(ends: list[Ends]) -> Ends:
    if len(ends) < 2:  # noqa: PLR2004 - nothing to join
        return ends[0] if ends else NO_ENDS
    return Ends(
        tuple(each for end in ends for each in end.exports),
        tuple(each for end in ends for each in end.outside),
    )
