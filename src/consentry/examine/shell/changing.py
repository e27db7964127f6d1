"""Ways to change a variable that are no plain assignment: then what it was set to does not count.

Names that stand in such a command are unclear throughout the script. A command whose names are
computed, or that runs code from elsewhere, makes all variables unclear from there on; inside of a
function, everywhere, since the function may have been called before.
"""

import re
from collections.abc import Callable
from typing import Final

from consentry.examine.syntaxtree import Syntax, Tree

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SETS: Final = re.compile(r"[\"']?([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=")
_SETS_INSIDE: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=")
_FALLBACK: Final = re.compile(r"\$\{(!?)([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?:?=")
_READERS: Final = frozenset(
    {"read", "mapfile", "readarray", "getopts", "let", "wait", "coproc", "unset", "local"}
)
_DECLARERS: Final = frozenset({"declare", "typeset", "export", "readonly"})
_RUN_CODE: Final = frozenset({"source", "."})
_PASS_ON: Final = frozenset({"builtin", "command"})
_TAKES_TEXT: Final = re.compile(r"-[A-Za-z]*[pdtnNuiCcOs]")
_COMPUTED: Final = ("$", "`")
_CHANGING_WORDS: Final = re.compile(
    r"\b(?:read|printf|unset|declare|typeset|eval|mapfile|readarray|let|source|export|local)\b|:?="
)
_COMPARES: Final = frozenset({"==", "!=", "<=", ">="})


class Changes:
    """Which variables of a script are not what they were plainly set to."""

    def __init__(self, tree: Tree, is_in_function: Callable[[Syntax], bool]) -> None:
        self._is_in_function = is_in_function
        self._unclear: set[str] = set()
        self._all_from: int | None = None
        self._by_kind = {
            "variable_assignment": self._assignment,
            "declaration_command": self._declaration,
            "unset_command": self._unset,
            "expansion": self._expansion,
            "binary_expression": self._arithmetic,
            "postfix_expression": self._arithmetic,
            "unary_expression": self._arithmetic,
            "command": self._command,
        }
        for node in tree.upwards:
            collect = self._by_kind.get(node.kind)
            if collect is not None:
                collect(node)

    def is_clear(self, name: str, place: Syntax) -> bool:
        """Whether nothing but plain assignments gives the variable a value before that place."""
        if name in self._unclear:
            return False
        if self._all_from is None:
            return True
        return place.start <= self._all_from and not self._is_in_function(place)

    def _all(self, node: Syntax) -> None:
        start = -1 if self._is_in_function(node) else node.end
        self._all_from = start if self._all_from is None else min(start, self._all_from)

    def _named(self, node: Syntax) -> None:
        """A word that names variables, or is computed."""
        found = _SETS.match(node.text)
        if found is not None:
            self._unclear.add(found[1])
        elif any(mark in node.text for mark in _COMPUTED):
            self._all(node)
        else:
            self._unclear.update(_NAME.findall(node.text))

    def _assignment(self, node: Syntax) -> None:
        name = node.child("name")
        if name is not None and node.up.kind == "command" and node.up.child("name") is not None:
            self._unclear.update(_NAME.findall(name.text)[:1])  # functions of the script see it

    def _declaration(self, node: Syntax) -> None:
        options = "".join(child.text for child in node.children if child.text[:1] in ("-", "+"))
        for child in node.children:
            if child.text[:1] in ("-", "+"):
                continue
            if child.kind not in ("variable_assignment", "variable_name"):
                self._named(child)
            elif any(letter in options for letter in "niulc"):
                self._unclear.update(_NAME.findall(child.text)[:1])
                value = child.child("value")
                if "n" in options and value is not None:
                    self._named(value)

    def _unset(self, node: Syntax) -> None:
        for child in node.children:
            if not child.text.startswith("-"):
                self._named(child)

    def _expansion(self, node: Syntax) -> None:
        found = _FALLBACK.match(node.text[:256])
        if found is None:
            return
        if found[1]:
            self._all(node)
        self._unclear.add(found[2])

    def _arithmetic(self, node: Syntax) -> None:
        operator = node.child("operator")
        kind = "++" if operator is None else operator.kind
        if node.kind == "binary_expression" and (not kind.endswith("=") or kind in _COMPARES):
            return
        for child in node.children:
            if child.kind in ("variable_name", "subscript") and child.field != "right":
                self._unclear.update(_NAME.findall(child.text)[:1])

    def _command(self, node: Syntax) -> None:
        name = node.child("name")
        words = list(node.fields("argument"))
        said = "" if name is None else _bare(name)
        while said in _PASS_ON and words:
            said, words = _bare(words[0]), words[1:]
        if said in _RUN_CODE:
            self._all(node)
        elif said == "eval":
            self._evaluated(node, words)
        elif said == "trap":
            self._unclear.update(_SETS_INSIDE.findall(" ".join(word.text for word in words)))
        elif said == "printf":
            self._printed(words)
        elif said in _READERS or said in _DECLARERS:
            self._read(words)

    def _evaluated(self, node: Syntax, words: list[Syntax]) -> None:
        text = " ".join(word.text for word in words)
        if any(mark in text for mark in (*_COMPUTED, "\\")):
            self._all(node)
        elif _CHANGING_WORDS.search(text):
            self._unclear.update(_NAME.findall(text))

    def _printed(self, words: list[Syntax]) -> None:
        for at, word in enumerate(words[:2]):
            said = _bare(word)
            if said == "-v" and at + 1 < len(words):
                self._named(words[at + 1])
            elif said.startswith("-v"):
                self._unclear.update(_NAME.findall(said[2:])[:1])
                if any(mark in said for mark in _COMPUTED):
                    self._all(word)

    def _read(self, words: list[Syntax]) -> None:
        is_text = False
        for word in words:
            said = _bare(word)
            if said.startswith("-"):
                is_text = _TAKES_TEXT.fullmatch(said) is not None
                continue
            if is_text and any(mark in said for mark in _COMPUTED):
                is_text = False  # what is asked, not what is set
                continue
            is_text = False
            self._named(word)


def _bare(word: Syntax) -> str:
    """The word without its quotes and escapes."""
    return re.sub(r"[\"'\\]", "", word.text)
