"""Collects what the reader of one file finds, and turns what it cannot read into that very finding.

A reader is a function of text and `Findings`; `reader` makes an extractor of it that never raises.
What was found before the text became unreadable stays found.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Final

from consentry.base.values import replace
from consentry.examine.atoms import (
    Atom,
    Extraction,
    Found,
    ModuleImport,
    Provenance,
    Unclassified,
)
from consentry.examine.constanttargets import host_atom, variable_atom

MOST_BYTES: Final = 1 << 20
MOST_LARGE_BYTES: Final = 16 << 20
COMPUTED_WORD: Final = "${1}"
"""Stands in a command line for what another language puts there: a word that no variable names."""

_BYTE_ORDER_MARK: Final = "\ufeff"
_EXPANSION: Final = re.compile(
    r"(?<!\$)\$(?:\{(?:(?:env|localEnv|containerEnv):)?([A-Za-z_]\w*)(:[A-Za-z])?"
    r"|([A-Za-z_]\w*))"
)
_OF_EDITORS: Final = frozenset(
    [
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_PROJECT_DIR",
        "PWD",
        "cwd",
        "containerWorkspaceFolder",
        "containerWorkspaceFolderBasename",
        "devcontainerId",
        "execPath",
        "extensionPath",
        "file",
        "fileBasename",
        "fileBasenameNoExtension",
        "fileDirname",
        "fileExtname",
        "fileWorkspaceFolder",
        "lineNumber",
        "localWorkspaceFolder",
        "localWorkspaceFolderBasename",
        "pathSeparator",
        "relativeFile",
        "relativeFileDirname",
        "selectedText",
        "userHome",
        "workspaceFolder",
        "workspaceFolderBasename",
        "workspaceRoot",
    ]
)
"""Names that are filled in with places of the tree, and not from the environment."""


class Findings:
    """A list that only grows; the same thing at the same line is in it once."""

    def __init__(self) -> None:
        self._found: dict[Found, None] = {}
        self._unclassified: dict[Unclassified, None] = {}
        self._imports: list[ModuleImport] = []

    def power(
        self, atoms: Atom | Iterable[Atom], line: int, reason: str, *, declared: bool = False
    ) -> None:
        """Adds what code does, or what a document says that something may."""
        provenance = Provenance.DECLARED if declared else Provenance.CODE
        for atom in (atoms,) if isinstance(atoms, Atom) else atoms:
            self._found[Found(atom, line, reason, provenance)] = None

    def unknown(self, key: str, line: int, reason: str) -> None:
        """Adds what may hold any power."""
        self._unclassified[Unclassified(key, line, reason)] = None

    def follows(self, module: str, line: int) -> None:
        """Adds a file of the same tree that counts with this one; its name begins with a dot."""
        self._imports.append(ModuleImport(module, 1, (), line, is_known=False))

    def include(self, part: Extraction, line: int = 1) -> None:
        """Adds all of another extraction, whose first line is `line` here."""
        for found in part.found:
            self._found[replace(found, line=found.line + line - 1)] = None
        for unclear in part.unclassified:
            self._unclassified[replace(unclear, line=unclear.line + line - 1)] = None
        self._imports += [replace(each, line=each.line + line - 1) for each in part.imports]

    def include_at(self, part: Extraction, lines: Sequence[int]) -> None:
        """Adds another extraction, of which line n is the line `lines[n - 1]` here."""

        def here(line: int) -> int:
            return lines[min(line, len(lines)) - 1] if lines and line > 0 else 1

        self.include(
            Extraction(
                tuple(replace(each, line=here(each.line)) for each in part.found),
                tuple(replace(each, line=here(each.line)) for each in part.unclassified),
                tuple(replace(each, line=here(each.line)) for each in part.imports),
            )
        )

    def expansions(self, text: str, line: int) -> None:
        """Adds the variables of the environment that a text is filled in with, as `${NAME}`."""
        for found in _EXPANSION.finditer(text):
            name = found[1] or found[3]
            is_asked = found[2] is not None and name in ("command", "config", "input")
            if name not in _OF_EDITORS and not is_asked:
                self.power(variable_atom(name), line, f"${{{name}}}")

    def address(self, url: str, line: int, reason: str) -> None:
        """Adds the host of an address that a document has something fetched from."""
        self.power(host_atom(plain_address(url)), line, reason, declared=True)

    def extraction(self) -> Extraction:
        """All of it, in the order it was found."""
        return Extraction(tuple(self._found), tuple(self._unclassified), tuple(self._imports))


def reader(read: Callable[[str, Findings], None]) -> Callable[[bytes], Extraction]:
    """Makes an extractor of a reader: what is no text or cannot be read is unclassified."""
    return _extractor(read, MOST_BYTES)


def large_reader(read: Callable[[str, Findings], None]) -> Callable[[bytes], Extraction]:
    """The same for what programs write, which is larger."""
    return _extractor(read, MOST_LARGE_BYTES)


def _extractor(
    read: Callable[[str, Findings], None], most_bytes: int
) -> Callable[[bytes], Extraction]:
    @wraps(read)
    def extract(content: bytes) -> Extraction:
        findings = Findings()
        try:
            read(text_of(content, most_bytes), findings)
        except (ValueError, RecursionError, MemoryError) as wrong:
            why = str(wrong) if isinstance(wrong, ValueError) else "it is nested too deep"
            findings.unknown(unreadable_key(content), 1, f"this cannot be read: {why[:200]}")
        return findings.extraction()

    return extract


def text_of(content: bytes, most_bytes: int) -> str:
    """The text; raises `ValueError` for what is too large, has a NUL, or is not UTF-8."""
    if len(content) > most_bytes:
        raise ValueError(f"it has more than {most_bytes:,} bytes")
    if b"\0" in content:
        raise ValueError("it has a NUL byte")
    return content.decode("utf-8").removeprefix(_BYTE_ORDER_MARK)


def unreadable_key(content: bytes) -> str:
    """What is compared of a file that cannot be read: all of it."""
    return f"unreadable sha256:{hashlib.sha256(content).hexdigest()}"


def language_key(content: bytes) -> str:
    """What is compared of a file in a language that no extractor knows: all of it."""
    return f"language sha256:{hashlib.sha256(content).hexdigest()}"


def plain_address(url: str) -> str:
    """An address without what version control puts in front, and `user@host:path` as one."""
    url = re.sub(r"^(?:git|hg|svn|bzr)\+", "", url.strip())
    if "://" not in url:
        at = re.match(r"[\w.-]+@([\w.-]+):", url)
        if at is not None:
            return f"ssh://{at[1]}"
    return url
