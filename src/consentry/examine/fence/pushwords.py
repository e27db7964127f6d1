"""A push whose words are put together in ways that no value shows: by where its two words stand in a file.

What `commandlines` resolves is told there. Here a word that pushes, such as `push`, is held against the
file: where a word for the program stands in it as well, the two may meet in a list that grows, a default,
a loop or a function of its own. The word has to be one that a command could take: one that is compared, is
a key, or stands in a list that begins with another program, is none.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from consentry.examine.fence.commands import is_git, is_pushing, words_push
from consentry.examine.fence.findings import Rule
from consentry.examine.fence.shapes import called

Report = Callable[[ast.AST, Rule, str], None]

_SAID: Final = "this command pushes"
_MEETS: Final = "this word pushes where it meets the `git` that the file has elsewhere"
_WITH_A_GAP: Final = re.compile(r"(?:^|[\s;&|(/])git\s+(?:-\S+\s+)*(?:%|\$|\{)")
_ALIAS_KEY: Final = re.compile(r"alias\.[\w-]+", re.IGNORECASE)
_ALIAS_FILE: Final = re.compile(r"\[alias\][^\[]*=\s*\"?!?(?:git\s+)?push\b", re.IGNORECASE)
_ALIAS_WORD: Final = re.compile(r"alias\.[\w-]+[='\s]+!?(?:git\s+)?push\b", re.IGNORECASE)


class PushWords:
    """Looks at the words of one file."""

    def __init__(self, report: Report, told: set[int]) -> None:
        self.report = report
        self.told = told
        """Lines of which a push was told by what it is."""
        self.pushing: list[ast.Constant] = []
        self.has_program = False
        self.pardoned: set[int] = set()
        """Constants that are no word of a command."""
        self.settled: set[int] = set()
        """Words of a command that was looked at as a whole."""

    def walk(self, nodes: Sequence[ast.AST]) -> None:
        """Tells every word that pushes."""
        for node in nodes:
            match node:
                case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                    self._sequence(node, elements)
                case ast.Compare() | ast.MatchValue():
                    self._pardon(node)
                case ast.Dict(keys=keys):
                    self._pardon(*(each for each in keys if each is not None))
                case ast.Subscript(value=value, slice=key):
                    self._subscript(node, value, key)
                case ast.Call():
                    self._call(node)
                case ast.Expr(value=ast.Constant() as text):
                    self._pardon(text)
                case ast.arg(annotation=ast.expr() as annotation):
                    self._pardon(annotation)
                case ast.Constant(value=str() | bytes() as value):
                    self._word(node, value)
        for word in self.pushing if self.has_program else ():
            is_free = id(word) not in self.pardoned and id(word) not in self.settled
            if is_free and word.lineno not in self.told:
                self.report(word, Rule.PUSH, _MEETS)

    def _word(self, node: ast.Constant, value: str | bytes) -> None:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        if is_pushing(text):
            self.pushing.append(node)
        elif id(node) in self.pardoned:
            return
        elif is_git(text) or _WITH_A_GAP.search(text) or _ALIAS_KEY.fullmatch(text):
            self.has_program = True
        elif _ALIAS_FILE.search(text) or _ALIAS_WORD.search(text):
            self.report(node, Rule.PUSH, "this alias pushes")

    def _sequence(self, node: ast.AST, elements: list[ast.expr]) -> None:
        words = [_text(each) for each in elements]
        if words_push(words):
            self.report(node, Rule.PUSH, _SAID)
        elif words and words[0] is not None and not is_pushing(words[0]):
            # Whoever it is that is started, or what follows git: it was looked at as a whole.
            self.settled.update(map(id, elements))

    def _subscript(self, node: ast.AST, value: ast.expr, key: ast.expr) -> None:
        """`git["push"]`, as a library for commands has it; else a key is none."""
        word = _text(key)
        if word is not None and is_pushing(word):
            if called(value).strip("_") == "git":
                self.report(node, Rule.PUSH, _SAID)
            else:
                self._pardon(key)

    def _call(self, node: ast.Call) -> None:
        """`run(["x", "push"], executable="git")`; and methods that ask a text or a table something."""
        for keyword in node.keywords:
            program = _text(keyword.value)
            if keyword.arg == "executable" and program is not None and is_git(program):
                for words in _lists(node.args):
                    if words_push(["git", *words]) or words_push(["git", *words[1:]]):
                        self.report(node, Rule.PUSH, _SAID)
        if called(node.func) in ("get", "pop", "startswith", "endswith", "add_parser", "getattr"):
            self._pardon(*node.args)

    def _pardon(self, *nodes: ast.AST) -> None:
        for node in nodes:
            # What stands in something that was pardoned was pardoned with it.
            if id(node) not in self.pardoned:
                self.pardoned.update(id(each) for each in ast.walk(node))


def _lists(arguments: Sequence[ast.expr]) -> Iterator[list[str | None]]:
    for argument in arguments:
        if isinstance(argument, ast.List | ast.Tuple):
            yield [_text(each) for each in argument.elts]


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        value = node.value
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return None
