"""Command lines in Python source: lists of words, arguments, texts that are put together.

Words are resolved with the guard's resolver, so that it does not matter in which pieces they stand. A
word that is not known stands as a gap. Docstrings and annotations are no commands.
"""

import ast
from collections.abc import Iterator
from typing import Final

from consentry.examine.fence.commands import (
    MOST_LETTERS,
    UNKNOWN_TEXT,
    Word,
    is_git,
    text_pushes,
    words_push,
)
from consentry.examine.fence.findings import Rule
from consentry.examine.fence.reaching import Place
from consentry.examine.fence.shapes import called
from consentry.examine.python.gathered import Gathered
from consentry.examine.python.scopes import Binding, How, Scope
from consentry.examine.python.values import Const, Items, Ref, alternatives

_MOST_WORDS: Final = 64
_SAID: Final = "this command pushes"
_LIBRARIES: Final = frozenset({"dulwich.porcelain.push", "sh.git.push", "git.push"})
_GROWS: Final = frozenset({"append", "extend", "insert"})


class CommandLines:
    """Goes through the command lines of one file."""

    def __init__(self, place: Place) -> None:
        self.gathered = place.gathered
        self.resolver = place.resolver
        self.report = place.report
        self.grown: dict[str, list[Word]] = {}
        self._lists = _lists_by_name(place.gathered)

    def walk(self) -> None:
        """Tells every command that pushes."""
        for node in self.gathered.commands:
            text = _as_word(node.value)
            if text is not None and text_pushes(text):
                self.report(node, Rule.PUSH, _SAID)
        for scope in self.gathered.scopes:
            for call in scope.calls:
                self._command(call, scope)
            for expression in _expressions(scope):
                self._words(expression, scope)

    def _command(self, node: ast.Call, scope: Scope) -> None:
        function = node.func
        spelled = called(function)
        if spelled == "push" and self._is_git_library(function, scope):
            self.report(node, Rule.PUSH, "this call pushes")
        if spelled in _GROWS | {"split"} and isinstance(function, ast.Attribute):
            self._grow(called(function.value), node.args[-1:], scope)
        if len(node.args) > 1 or _names_git(spelled) or _is_of_git(function):
            words = [word for argument in node.args for word in self._word(argument, scope)]
            is_helper = _names_git(spelled) or _is_of_git(function)
            if words_push(["git", *words] if is_helper else words):
                self.report(node, Rule.PUSH, _SAID)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if not isinstance(argument, ast.Constant):
                self._words(argument, scope)

    def _is_git_library(self, function: ast.expr, scope: Scope) -> bool:
        """`repo.git.push(…)` of GitPython and of `sh`, `porcelain.push(…)` of dulwich."""
        if _is_of_git(function):
            return True
        found = alternatives(self.resolver.resolve(function, scope))
        return any(isinstance(each, Ref) and each.name in _LIBRARIES for each in found)

    def _words(self, node: ast.expr, scope: Scope) -> None:
        """A sequence of words, or a text that is put together."""
        match node:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                words = [word for each in elements for word in self._word(each, scope)]
                if len(words) > 1 and words_push(words):
                    self.report(node, Rule.PUSH, _SAID)
            case ast.BinOp() | ast.JoinedStr():
                self._put_together(node, scope)
            case ast.Call():
                for each in alternatives(self.resolver.resolve(node, scope)):
                    text = _as_word(each.value) if isinstance(each, Const) else None
                    if text is not None and text_pushes(text):
                        self.report(node, Rule.PUSH, _SAID)

    def _put_together(self, node: ast.expr, scope: Scope) -> None:
        listed = self._added(node, scope)
        if listed is not None:
            if words_push(listed):
                self.report(node, Rule.PUSH, _SAID)
            return
        text = self._text(node, scope)
        if text_pushes(text):
            self.report(node, Rule.PUSH, _SAID)

    def _added(self, node: ast.expr, scope: Scope) -> list[Word] | None:
        """The words of lists that are added: `["git"] + rest`."""
        parts = _summands(node)
        if len(parts) < 2:  # noqa: PLR2004 - a sum
            return None
        words: list[Word] = []
        is_list = False
        for part in parts:
            value = self.resolver.resolve(part, scope)
            if isinstance(value, Items):
                is_list = True
                words += [word for each in value.nodes for word in self._word(each, value.scope)]
            else:
                words.append(None)
        return words if is_list else None

    def _text(self, node: ast.expr, scope: Scope) -> str:
        """A text that is put together, as far as it may be a command."""
        found: list[str] = []
        length = 0
        for piece in self._pieces(node, scope):
            found.append(piece)
            length += len(piece)
            if length > MOST_LETTERS:
                break
        return "".join(found)

    def _pieces(self, node: ast.expr, scope: Scope) -> Iterator[str]:
        """The known parts of a text, in their order."""
        waiting = [node]
        while waiting:
            part = waiting.pop()
            known = self.resolver.resolve(part, scope)
            if isinstance(known, Const) and isinstance(known.value, str):
                yield known.value
            elif isinstance(part, ast.JoinedStr):
                waiting += reversed(part.values)
            elif isinstance(part, ast.FormattedValue):
                waiting.append(part.value)
            elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
                waiting += (part.right, part.left)
            elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod):
                waiting.append(part.left)
            else:
                yield UNKNOWN_TEXT

    def _word(self, node: ast.expr, scope: Scope) -> list[Word]:
        """The words that an element gives; None for each that is not known."""
        if isinstance(node, ast.Constant):
            return [_as_word(node.value)]
        if isinstance(node, ast.JoinedStr | ast.BinOp):
            return [self._text(node, scope)]
        inner = node.value if isinstance(node, ast.Starred) else node
        value = self.resolver.resolve(inner, scope)
        found = [each for each in alternatives(value) if isinstance(each, Const)]
        listed = [each for each in alternatives(value) if isinstance(each, Items)]
        if isinstance(node, ast.Starred) or listed:
            return [
                _as_word(item.value) if isinstance(item, ast.Constant) else None
                for each in listed[:1]
                for item in each.nodes[:_MOST_WORDS]
            ] or [None]
        if len(found) > 1:
            # Any of them may be it: the one that would push is what counts.
            words = [_as_word(each.value) for each in found]
            return [next((word for word in words if word == "push"), words[0])]
        if found:
            return [_as_word(found[0].value)]
        return ["git"] if _is_program(node) else [None]

    def _grow(self, name: str, arguments: list[ast.expr], scope: Scope) -> None:
        """`command.append("push")`: what a list has by then."""
        if not name or not arguments:
            return
        if name not in self.grown:
            start = self._lists.get(name, [])[:_MOST_WORDS]
            self.grown[name] = [word for each in start for word in self._word(each, scope)]
        grown = self.grown[name]
        words = self._word(arguments[0], scope)
        if len(grown) <= _MOST_WORDS and words[-1:] != [None]:
            grown += words
            if words_push(grown):
                self.report(arguments[0], Rule.PUSH, _SAID)
                grown.clear()


def _as_word(value: object) -> Word:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None


def _is_of_git(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and called(function.value).strip("_") == "git"


def _names_git(name: str) -> bool:
    return "git" in name.lower().strip("_").split("_")


def _is_program(node: ast.expr) -> bool:
    """`self.git`, `git_path`, `shutil.which("git")`, `Path("/usr/bin/git")`."""
    if isinstance(node, ast.Call):
        words = (each.value for each in node.args if isinstance(each, ast.Constant))
        return any(isinstance(word, str) and is_git(word) for word in words)
    return _names_git(called(node))


def _summands(node: ast.expr) -> list[ast.expr]:
    parts: list[ast.expr] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
            waiting += (part.right, part.left)
        else:
            parts.append(part)
    return parts


def _expressions(scope: Scope) -> Iterator[ast.expr]:
    """What names are bound to, and what is returned: where lists of words stand."""
    for bindings in scope.names.values():
        for binding in bindings:
            yield from _payload(binding)
    for bindings in scope.members.values():
        for binding in bindings:
            yield from _payload(binding)
    yield from scope.returns


def _payload(binding: Binding) -> Iterator[ast.expr]:
    payload = binding.payload
    if binding.how is How.VALUE and isinstance(payload, ast.expr):
        yield payload


def _lists_by_name(gathered: Gathered) -> dict[str, list[ast.expr]]:
    """What stands in lists that are written out, by the names that they get."""
    found: dict[str, list[ast.expr]] = {}
    for scope in gathered.scopes:
        for names in (scope.names, scope.members):
            for name, bindings in names.items():
                for binding in bindings:
                    for payload in _payload(binding):
                        if isinstance(payload, ast.List):
                            found.setdefault(name, []).extend(payload.elts[:_MOST_WORDS])
    return found
