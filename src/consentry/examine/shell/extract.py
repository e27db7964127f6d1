"""Shell scripts and command lines: bytes in, powers out.

Reads what the grammar of bash can read, and says so where it cannot: a script with a region that is
not of the language is `Unclassified` besides whatever else was found in it.
"""

import hashlib
import re
from typing import Final

from consentry.examine.atoms import Extraction, Unclassified, unclassified
from consentry.examine.shell.walk import Walk
from consentry.examine.syntaxtree import Shape, Tree, read_tree

MOST_OPEN: Final = 1000
"""So many brackets may be open at once; the time to read more of them grows with the square."""

MOST_DOCUMENTS: Final = 1000
"""So many documents may stand in a script, for the same reason."""

_SHAPE: Final = Shape(
    tokens=frozenset({">", ">>", "<", ">|", "&>", "&>>", "<&", ">&", "<<<", "<<", "<<-", "="}),
    dropped=frozenset({"comment"}),
)
_BRACKETS: Final = re.compile(rb"[()\[\]{}]")


def extract_shell(content: bytes) -> Extraction:
    """All that a script gives. Never raises, whatever the content."""
    return extract_nested(content, 0)


def extract_nested(content: bytes, depth: int) -> Extraction:
    """As `extract_shell`, for code that stands so deep inside other code."""
    digest = hashlib.sha256(content).hexdigest()
    content = content.removeprefix(b"\xef\xbb\xbf")
    if _is_too_open(content):
        reason = "more brackets are open at once than are read"
        return unclassified(f"too-nested sha256:{digest}", 1, reason)
    tree = _tree(content)
    if tree is None:
        return unclassified(f"too-large sha256:{digest}", 1, "larger than is read")
    found = Walk(tree, depth, extract_nested).extraction()
    if tree.problem_line is None:
        return found
    reason = "a part that the grammar does not read"
    doubt = Unclassified(f"syntax sha256:{digest}", tree.problem_line, reason)
    return found | Extraction(unclassified=(doubt,))


def _tree(content: bytes) -> Tree | None:
    import tree_sitter_bash  # noqa: PLC0415 - loaded for such files only

    return read_tree(content, tree_sitter_bash.language, _SHAPE)


def _is_too_open(content: bytes) -> bool:
    if content.count(b"<<") > MOST_DOCUMENTS:
        return True
    open_now = {b"(": 0, b"[": 0, b"{": 0}
    closes = {b")": b"(", b"]": b"[", b"}": b"{"}
    for found in _BRACKETS.finditer(content):
        bracket = found[0]
        if bracket in open_now:
            open_now[bracket] += 1
            if open_now[bracket] > MOST_OPEN:
                return True
        elif open_now[closes[bracket]]:
            open_now[closes[bracket]] -= 1
    return False
