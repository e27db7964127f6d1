"""Makes a script of saved TypeScript or JavaScript, which says on a line of its own what it gave back.

The code becomes the body of an asynchronous function, so that it may `return` and `await` anywhere;
its static imports stay at the top, and the words `export` before declarations go. Arguments are
constants around it. What it gives back, or raises, is printed on one line behind a mark of this run
alone, from where `resultline` takes it.

The script lies in no file of the host: its bytes are sealed, hashed and found inside the box alone.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.decide.capabilities import Language

if TYPE_CHECKING:
    from consentry.examine.syntaxtree import Syntax

FOLDER: Final = Path("/capability")
"""Where the script lies inside the box; there is no such file on the host."""

ENDINGS: Final = {Language.TYPESCRIPT: ".ts", Language.JAVASCRIPT: ".js"}

_BEHIND: Final = "capabilityscript.js"
_OURS: Final = re.compile(r"\$(?:say|failed|value|run|mark)\b")
_MOST_NAME: Final = 64
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")
_NEEDS_A_LOOK: Final = re.compile(rb"\b(?:im|ex)port\b")
_EXPORTED: Final = re.compile(rb"export(?:\s+default)?\s+")
_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
_RESERVED: Final = frozenset(
    """
    arguments await break case catch class const continue debugger default delete do else enum eval
    export extends false finally for function if implements import in instanceof interface let new
    null package private protected public return static super switch this throw true try typeof
    undefined var void while with yield Deno globalThis
    """.split()  # noqa: SIM905 - one word after the other
)


@dataclass(frozen=True, slots=True)
class Script:
    """What is started: where it lies inside, its bytes, and the mark of its result."""

    path: Path
    content: bytes
    mark: bytes


@lru_cache(maxsize=1)
def _behind() -> str:
    return files("consentry.service").joinpath(_BEHIND).read_text(encoding="utf-8")


def plain_name(name: str) -> str:
    """A name that can be a file's, whatever the id of a task is."""
    return _ODD.sub("_", name)[:_MOST_NAME].lstrip(".") or "code"


def script_of(name: str, language: Language, code: str, arguments: Iterable[str]) -> Script:
    """The script, with a mark that nobody knows before."""
    names = tuple(arguments)
    require_names(names)
    nonce = os.urandom(16).hex()
    mark = f"consentry-result-{nonce}:"
    imports, body = _parted(code.removeprefix("\ufeff").encode(), language)
    own = {each: f"{each}_{nonce[:8]}" for each in ("$say", "$failed", "$value", "$run")}
    own["$mark"] = json.dumps(mark)
    behind = _OURS.sub(lambda each: own[each[0]], _behind())
    # On the first line, so that the lines of the code keep their numbers.
    before = f"const {own['$run']} = ({', '.join(names)}) => (async () => {{ "
    path = FOLDER / f"{plain_name(name)}{ENDINGS[language]}"
    return Script(path, imports + before.encode() + body + behind.encode(), mark.encode())


def require_names(names: Iterable[str]) -> None:
    """Raises unless each can be a constant of a script."""
    for name in names:
        if _NAME.fullmatch(name) is None or name in _RESERVED:
            raise UsageProblem(Code.USAGE, f"`{name}` is not the name of a variable")


def _parted(code: bytes, language: Language) -> tuple[bytes, bytes]:
    """The static imports on one line, and the rest with nothing in their place."""
    if code.startswith(b"#!"):
        code = b"//" + code[2:]
    if _NEEDS_A_LOOK.search(code) is None:
        return b"", code
    imports: list[bytes] = []
    body = bytearray(code)
    for node in _statements(code, language):
        found = code[node.start : node.end]
        if node.kind == "import_statement":
            imports.append(found if b"//" in found else found.replace(b"\n", b" "))
            body[node.start : node.end] = _blanks(found)
        elif node.kind == "export_statement":
            head = _EXPORTED.match(found)
            if head is not None and _is_declared(node):
                body[node.start : node.start + head.end()] = _blanks(head[0])
            elif node.child("source") is None and node.first("export_clause") is not None:
                body[node.start : node.end] = _blanks(found)
    return b"".join(each.rstrip(b"; ") + b"; " for each in imports), bytes(body)


def _statements(code: bytes, language: Language) -> Sequence["Syntax"]:
    from consentry.examine.syntaxtree import Shape, read_tree  # noqa: PLC0415 - with a parser

    if language is Language.JAVASCRIPT:
        from tree_sitter_javascript import language as grammar  # noqa: PLC0415 - as above
    else:
        from tree_sitter_typescript import (  # noqa: PLC0415 - as above
            language_typescript as grammar,
        )
    tree = read_tree(code, grammar, Shape())
    return () if tree is None else tree.root.children


def _is_declared(node: "Syntax") -> bool:
    """Whether what is exported has a name of its own, and so can stand alone."""
    declared = node.child("declaration")
    return declared is not None and (
        declared.child("name") is not None or declared.kind.endswith("lexical_declaration")
    )


def _blanks(content: bytes) -> bytes:
    return re.sub(rb"[^\n]", b" ", content)
