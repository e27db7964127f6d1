"""Documents whose keys say what their values are: which key holds what is data (`documentkeys.toml`).

A row has a path of keys, `*` for any one key or item and `**` for any depth, and a word for what is
there. Values of another shape than the word expects are taken as far as they are understood.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cache
from typing import Any, Final

from consentry.base.ownfiles import own_bytes
from consentry.declare.nodes import Items, Mapping, Node, Scalar
from consentry.examine.atoms import ANYTHING, loading, reading, starting, writing
from consentry.examine.constanttargets import path_atoms, variable_atom
from consentry.examine.dependencies.codeparts import add_python, add_script, add_words
from consentry.examine.dependencies.findings import COMPUTED_WORD, Findings
from consentry.examine.dependencies.nodewalk import (
    broken_in,
    entries_of,
    is_true,
    scalars_in,
    text_at,
    values_at,
)
from consentry.examine.dependencies.packages import (
    add_folder,
    add_image,
    add_npm,
    add_npm_reference,
    add_pypi,
    add_reference,
    add_unknown,
    shown,
)
from consentry.examine.dependencies.requirementtext import add_requirement
from consentry.surface.dimensions import LoadLevel

_TABLE: Final = "documentkeys.toml"
_TREE_WORDS: Final = re.compile(
    r"\$\{(?:workspaceFolder|workspaceRoot|containerWorkspaceFolder|localWorkspaceFolder|cwd"
    r"|CLAUDE_PLUGIN_ROOT|CLAUDE_PROJECT_DIR|PWD)\}"
)
_EDITOR_WORDS: Final = re.compile(r"\$\{(?:localEnv|containerEnv|env):(\w+)(?::[^{}]*)?\}")


class Holds(StrEnum):
    """What is at a key."""

    REQUIREMENTS = "requirements"
    PYTHON_TABLE = "python-table"
    NPM_TABLE = "npm-table"
    NPM_NAMES = "npm-names"
    IMAGE = "image"
    URL = "url"
    REFERENCE = "reference"
    FOLDER = "folder"
    UNKNOWN = "unknown"
    SHELL = "shell"
    WORDS = "words"
    PYTHON = "python"
    LIMITED = "limited"
    LIMITED_TABLE = "limited-table"
    READS = "reads"
    READS_AND_WRITES = "reads-and-writes"
    SEES = "sees"
    EXPANDS = "expands"
    STARTS_ANYTHING = "starts-anything"


def add_document(kind: str, root: Node, findings: Findings) -> None:
    """Adds what the rows for that kind of document find, and what only its program can tell."""
    for broken in broken_in(root):
        findings.unknown(
            f"document {shown(broken.message)}", broken.mark.line, f"{broken.message} is not known"
        )
    for path, holds in rows_for(kind):
        for node in values_at(root, *path):
            _ADD[holds](node, findings)


@cache
def rows_for(kind: str) -> tuple[tuple[tuple[str, ...], Holds], ...]:
    """The rows of the table for one kind of document."""
    source = own_bytes("consentry.examine.dependencies", _TABLE)
    table: dict[str, Any] = tomllib.loads(source.decode())
    return tuple(
        (tuple(path.split("/")), Holds(holds))
        for holds, paths in table[kind].items()
        for path in paths
    )


def add_command(node: Node, findings: Findings) -> None:
    """A command line where it is a text, the words of one where it is a list."""
    if isinstance(node, Items):
        words = [each.text for each in scalars_in(node)]
        if words:
            add_words([without_editor_words(word) for word in words], node.mark.line, findings)
    else:
        add_shell(node, findings)


def add_shell(node: Node, findings: Findings) -> None:
    """Command lines, each a text."""
    for scalar in scalars_in(node):
        _add_editor_variables(scalar, findings)
        add_script(without_editor_words(scalar.text), scalar.mark.line, findings)


def without_editor_words(text: str) -> str:
    """A command line without the words that an editor fills in: the tree is `.`, the rest computed."""
    text = _TREE_WORDS.sub(".", text)
    text = _EDITOR_WORDS.sub(COMPUTED_WORD, text)
    return re.sub(r"\$\{(?:input|config|command):[^{}]*\}", COMPUTED_WORD, text)


def _add_editor_variables(scalar: Scalar, findings: Findings) -> None:
    for found in _EDITOR_WORDS.finditer(scalar.text):
        findings.power(variable_atom(found[1]), scalar.mark.line, found[0][:200])


def _each(add: Callable[[str, int, Findings], None]) -> Callable[[Node, Findings], None]:
    def add_all(node: Node, findings: Findings) -> None:
        for scalar in scalars_in(node):
            add(scalar.text, scalar.mark.line, findings)

    return add_all


def _add_requirements(node: Node, findings: Findings) -> None:
    for scalar in scalars_in(node):
        for offset, part in enumerate(scalar.text.split("\n")):
            add_requirement(part, scalar.mark.line + offset, findings)


def _add_pypi_table(node: Node, findings: Findings) -> None:
    for name, wanted, line in entries_of(node):
        if name.lower() == "python":
            continue
        options = wanted.items if isinstance(wanted, Items) else (wanted,)
        places = [place for option in options for place in _places(option)]
        for add, where in places:
            add(where, line, findings)
        if not places:
            add_pypi(name, line, findings)


def _places(wanted: Node) -> Iterator[tuple[Callable[[str, int, Findings], None], str]]:
    """Where a table says that the package comes from, other than the index."""
    for key in ("git", "url", "hg", "svn", "bzr"):
        where = text_at(wanted, key)
        if where is not None:
            yield add_reference, where
    for key in ("path", "file"):
        where = text_at(wanted, key)
        if where is not None:
            yield (add_reference if "://" in where else add_folder), where
    if is_true(next(values_at(wanted, "workspace"), None)):
        yield add_folder, "."


def _add_npm_table(node: Node, findings: Findings) -> None:
    """Names and what is wanted of each; a table inside (overrides) is one of the same kind."""
    waiting = [node]
    while waiting:
        for name, wanted, line in entries_of(waiting.pop()):
            bare = re.sub(r"(?<=.)@.*", "", name.rpartition(">")[2].strip())
            if isinstance(wanted, Mapping):
                if bare != ".":
                    add_npm(bare, line, findings)
                waiting.append(wanted)
            elif isinstance(wanted, Scalar) and wanted.text.startswith("$"):
                add_npm(bare, line, findings)
            elif (isinstance(wanted, Scalar) and bare != ".") or (
                isinstance(wanted, Scalar) and ":" in wanted.text
            ):
                add_npm_reference(bare, wanted.text, line, findings)


def _add_url(text: str, line: int, findings: Findings) -> None:
    if "://" in text:
        findings.address(text, line, shown(text))
    findings.expansions(text, line)


def _add_image(text: str, line: int, findings: Findings) -> None:
    findings.expansions(text, line)
    add_image(text, line, findings)


def _add_limited(node: Node, findings: Findings) -> None:
    for scalar in scalars_in(node):
        findings.power(loading(LoadLevel.LIMITED), scalar.mark.line, shown(scalar.text))


def _add_limited_table(node: Node, findings: Findings) -> None:
    findings.power(loading(LoadLevel.LIMITED), node.mark.line, "code of the tree is loaded")


def _add_unknown(text: str, line: int, findings: Findings) -> None:
    add_unknown(re.sub(r"(?<=.)@.*", "", text, flags=re.DOTALL), line, findings)


def _add_path(text: str, line: int, findings: Findings) -> None:
    findings.power(path_atoms(reading, text), line, shown(text))


def _add_shared_path(text: str, line: int, findings: Findings) -> None:
    findings.power((*path_atoms(reading, text), *path_atoms(writing, text)), line, shown(text))


def _add_variables(text: str, line: int, findings: Findings) -> None:
    for name in re.split(r"[\s,]+", text.strip()):
        if name:
            findings.power(variable_atom(None if "*" in name else name), line, shown(name))


def _add_expansions(node: Node, findings: Findings) -> None:
    scalars = [value for _, value, _ in entries_of(node)] if isinstance(node, Mapping) else [node]
    for inner in scalars:
        for scalar in scalars_in(inner):
            _add_editor_variables(scalar, findings)
            findings.expansions(scalar.text, scalar.mark.line)


def _add_start(node: Node, findings: Findings) -> None:
    if is_true(node):
        findings.power(starting(ANYTHING), node.mark.line, "more than a program may do otherwise")


_ADD: Final[dict[Holds, Callable[[Node, Findings], None]]] = {
    Holds.REQUIREMENTS: _add_requirements,
    Holds.PYTHON_TABLE: _add_pypi_table,
    Holds.NPM_TABLE: _add_npm_table,
    Holds.NPM_NAMES: _each(add_npm),
    Holds.IMAGE: _each(_add_image),
    Holds.URL: _each(_add_url),
    Holds.REFERENCE: _each(add_reference),
    Holds.FOLDER: _each(add_folder),
    Holds.UNKNOWN: _each(_add_unknown),
    Holds.SHELL: add_shell,
    Holds.WORDS: add_command,
    Holds.PYTHON: _each(add_python),
    Holds.LIMITED: _add_limited,
    Holds.LIMITED_TABLE: _add_limited_table,
    Holds.READS: _each(_add_path),
    Holds.READS_AND_WRITES: _each(_add_shared_path),
    Holds.SEES: _each(_add_variables),
    Holds.EXPANDS: _add_expansions,
    Holds.STARTS_ANYTHING: _add_start,
}
