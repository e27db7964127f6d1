"""What a script says about its names: variables that it sets, functions that it defines.

A variable counts as that of the environment where nothing before it gave it a value. A function
hides the program of its name only where it is certain to be defined: not in a branch, a shell of its
own or another function, not after the call, and not when the script takes it back.
"""

import re
from typing import Final

from consentry.examine.shell.changing import Changes
from consentry.examine.shell.commandtable import shell_words
from consentry.examine.shell.words import COMPUTED, Word, read_word
from consentry.examine.syntaxtree import Syntax, Tree

_SURE: Final = frozenset({"program", "compound_statement"})
_CALLS_UNSEEN: Final = frozenset({"eval", "trap", "source", ".", "command", "builtin"})
_NEVER_HIDDEN: Final = frozenset({"eval", "exec", ".", "source", "trap", "command", "builtin"})
"""Shells differ on whether a function of that name is called instead."""

_READERS: Final = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "local", "let"})
_MOST_CLIMB: Final = 64
_MOST_FOLLOWED: Final = 8


class Script:
    """The names of one script."""

    def __init__(self, tree: Tree) -> None:
        self._assigned: dict[str, list[Syntax]] = {}
        self._functions: dict[str, int | None] = {}
        """For each function, where its first sure definition ends; None without one."""

        self._taken_back: set[str] = set()
        self._takes_back = False
        self._called: list[tuple[int, str]] = []
        self._following = 0
        self._in_function: dict[Syntax, bool] = {}
        self._by_kind = {
            "variable_assignment": self._assignment,
            "for_statement": self._loop,
            "declaration_command": self._declaration,
            "binary_expression": self._arithmetic,
            "command": self._collect_command,
            "function_definition": self._function,
            "unset_command": self._unset,
        }
        for node in tree.upwards:
            self._collect(node)
        self._first_set = {
            name: min(node.start for node in assigned) for name, assigned in self._assigned.items()
        }
        self._first_call = min(
            (at for at, name in self._called if self._may_call(name)),
            default=tree.root.end + 1,
        )
        self._changes = Changes(tree, self.is_in_function)

    def _may_call(self, name: str) -> bool:
        bare = re.sub(r"[\"'\\]", "", name)
        return bare in self._functions or bare in _CALLS_UNSEEN or "$" in name or "`" in name

    def _collect(self, node: Syntax) -> None:
        collect = self._by_kind.get(node.kind)
        if collect is not None:
            collect(node)

    def _set(self, name: str, node: Syntax) -> None:
        self._assigned.setdefault(name, []).append(node)

    def _assignment(self, node: Syntax) -> None:
        name = node.child("name")
        is_for_one_command = node.up.kind == "command" and node.up.child("name") is not None
        if name is not None and not is_for_one_command:
            self._set(name.text.partition("[")[0], node)

    def _loop(self, node: Syntax) -> None:
        variable = node.child("variable")
        if variable is not None:
            self._set(variable.text, variable)

    def _declaration(self, node: Syntax) -> None:
        if _is_local(node):
            for child in node.children:
                if child.kind == "variable_name":
                    self._set(child.text, child)

    def _arithmetic(self, node: Syntax) -> None:
        left, operator = node.child("left"), node.child("operator")
        if left is not None and left.kind == "variable_name" and _sets(operator):
            self._set(left.text, node)

    def _function(self, node: Syntax) -> None:
        name = node.child("name")
        if name is not None:
            known = self._functions.get(name.text)
            if known is None:
                self._functions[name.text] = node.end if self._is_sure(node) else None

    def _unset(self, node: Syntax) -> None:
        """Without `-v`, a function goes where no variable has the name."""
        if any(child.text == "-v" for child in node.children):
            return
        for child in node.children:
            self._taken_back.add(child.text)
            self._takes_back |= child.kind not in ("variable_name", "word")

    def _collect_command(self, node: Syntax) -> None:
        name = node.child("name")
        words = list(node.fields("argument"))
        if name is None:
            return
        if not self.is_in_function(node):
            self._called.append((node.start, name.text))
        self._takes_back |= name.text in ("command", "builtin") and "unset" in node.text[:200]
        if name.text not in _READERS:
            return
        for at, word in enumerate(words):
            is_name = word.kind == "word" and word.text.isidentifier()
            if name.text == "printf" and not (at and words[at - 1].text == "-v"):
                continue
            if is_name:
                self._set(word.text, word)

    def _is_sure(self, node: Syntax) -> bool:
        above: Syntax = node.up
        for _ in range(_MOST_CLIMB):
            after = node.source[node.end : node.end + 64].lstrip(b" \t\\\r\n")
            if above.kind not in _SURE or after.startswith((b"&", b"|")):
                return False  # in a branch, or in a shell of its own
            if above.kind == "program":
                return True
            node, above = above, above.up
        return False

    def is_in_function(self, node: Syntax) -> bool:
        """Whether the node runs when a function is called."""
        passed: list[Syntax] = []
        above = node
        while above.parent is not None:
            if above in self._in_function or above.kind == "function_definition":
                break
            passed.append(above)
            above = above.parent
        found = self._in_function.get(above, above.kind == "function_definition")
        for each in passed:
            self._in_function[each] = found
        return found

    def is_function(self, name: str, place: Syntax) -> bool:
        """Whether the name is for certain a function of the script, called from that place."""
        end = self._functions.get(name)
        if end is None or self._takes_back or name in self._taken_back or name in _NEVER_HIDDEN:
            return False
        return end <= place.start or self._is_before_calls(end, place)

    def _is_before_calls(self, end: int, place: Syntax) -> bool:
        """Whether what ends there is done when the function around the place is first called."""
        return self.is_in_function(place) and end <= self._first_call

    def is_from_environment(self, name: str, place: Syntax) -> bool:
        """Whether reading the variable there may look at the environment."""
        if not name or name.isdigit() or not name.isidentifier():
            return False
        if name in shell_words().own_variables:
            return False
        assigned = self._assigned.get(name)
        if assigned is None:
            return True
        first = assigned[0]
        if first.start <= place.start and place.end <= first.end:
            return True
        return not self.is_in_function(place) and self._first_set[name] >= place.start

    def lookup(self, place: Syntax, name: str) -> Word:
        """The value of a variable that is set once, to a constant, where nothing is in the way."""
        if not self._changes.is_clear(name, place):
            return COMPUTED
        if name == "HOME" and name not in self._assigned:
            return Word("~")
        if name == "PWD" and name not in self._assigned:
            return Word(".")
        assigned = self._assigned.get(name, [])
        if len(assigned) != 1 or self._following > _MOST_FOLLOWED:
            return COMPUTED
        node = assigned[0]
        value = node.child("value") if node.kind == "variable_assignment" else None
        around = node.up.up if node.up.kind == "declaration_command" else node.up
        is_before = node.end <= place.start or self._is_before_calls(node.end, place)
        if value is None or around.kind != "program" or not is_before or "[" in node.text[:80]:
            return COMPUTED
        if node.source[value.start - 2 : value.start - 1] == b"+":
            return COMPUTED
        self._following += 1
        try:
            return read_word(value, self.lookup)
        finally:
            self._following -= 1


def _sets(operator: Syntax | None) -> bool:
    return operator is not None and operator.kind == "="


def _is_local(declaration: Syntax) -> bool:
    text = declaration.text[:8]
    return text.startswith(("local", "declare", "typeset"))
