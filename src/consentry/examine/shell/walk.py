"""The powers of a script: its commands, redirections and variables, wherever they stand in it."""

import re
from collections.abc import Callable
from typing import Final

from consentry.examine.atoms import ANYTHING, Extraction, reading, seeing, writing
from consentry.examine.constanttargets import variable_atom
from consentry.examine.shell.code import Code
from consentry.examine.shell.findings import Findings
from consentry.examine.shell.places import Place
from consentry.examine.shell.running import Running
from consentry.examine.shell.script import Script
from consentry.examine.shell.targets import both, paths
from consentry.examine.shell.words import COMPUTED, Word, read_word
from consentry.examine.syntaxtree import Syntax, Tree

MOST_REASON: Final = 80
MOST_CLIMB: Final = 200

_WRITES: Final = frozenset({">", ">>", ">|", "&>", "&>>", ">&"})
_NOT_READ: Final = frozenset(
    {
        "variable_assignment",
        "for_statement",
        "c_style_for_statement",
        "unset_command",
        "declaration_command",
    }
)


class Walk:
    """One walk over a script."""

    def __init__(self, tree: Tree, depth: int, shell: Callable[[bytes, int], Extraction]) -> None:
        self._tree = tree
        self._script = Script(tree)
        self._findings = Findings()
        self._writers: dict[Syntax, dict[Syntax, Syntax]] = {}
        self._code = Code(self._findings, depth, shell)
        self._running = Running(self._findings, self._code)

    def extraction(self) -> Extraction:
        """All that was found."""
        for node in self._tree.upwards:
            self._visit(node)
        return self._findings.extraction()

    def _visit(self, node: Syntax) -> None:
        match node.kind:
            case "command":
                self._command(node)
            case "declaration_command":
                self._declaration(node)
            case "variable_assignment":
                self._assignment(node)
            case "file_redirect":
                self._redirect(node)
            case "test_command":
                self._test(node)
            case "variable_name":
                self._variable(node)
            case "expansion":
                self._indirect(node)
            case "raw_string" | "string" | "ansi_c_string" | "concatenation":
                self._subscript(node)

    def _word(self, node: Syntax) -> Word:
        return read_word(node, self._script.lookup)

    def _place(self, node: Syntax) -> Place:
        return Place(
            self._tree.line(node),
            _said(node),
            lambda: self._standard_input(node),
            lambda name: self._script.is_function(name, node),
        )

    # ---- commands ----------------------------------------------------------------------------

    def _command(self, node: Syntax) -> None:
        name = node.child("name")
        if name is None:
            return
        words = [self._word(name)]
        words += [self._word(child) for child in node.fields("argument")]
        self._running.run(words, self._place(node))

    def _declaration(self, node: Syntax) -> None:
        words = [child.text for child in node.children if child.kind == "word"]
        has_names = any(
            child.kind in ("variable_name", "variable_assignment") for child in node.children
        )
        if not has_names and (not words or "-p" in words or "-x" in words):
            line = self._tree.line(node)
            self._findings.power((seeing(ANYTHING),), line, _said(node))

    def _assignment(self, node: Syntax) -> None:
        name, value = node.child("name"), node.child("value")
        if name is not None:
            word = Word("") if value is None else self._word(value)
            self._running.assigned(name.text, word, self._place(node))

    def _test(self, node: Syntax) -> None:
        below = list(node.children)
        while below:
            each = below.pop()
            operator = each.child("operator")
            if each.kind == "unary_expression" and operator is not None and len(each.children) > 1:
                words = [Word(operator.text), self._word(each.children[-1]), Word("]")]
                self._running.tested(words, self._place(node))
            elif each.kind in ("binary_expression", "parenthesized_expression", "unary_expression"):
                below += each.children

    # ---- redirections and standard input -----------------------------------------------------

    def _redirect(self, node: Syntax) -> None:
        target = node.child("destination")
        operator = next((child.kind for child in node.children if child.kind in _OPERATORS), "")
        if target is None or target.kind in ("number", "process_substitution"):
            return
        word = self._word(target)
        if word.text.isdigit() or word.text == "-":
            return
        line, reason = self._tree.line(node), _said(node)
        if operator in _WRITES and not _has_problem(node):
            self._findings.power(paths(writing, word), line, reason)
        elif operator in ("<", "<&") and not _has_problem(node):
            self._findings.power(paths(reading, word), line, reason)
        else:
            self._findings.power(both(word), line, reason)

    def _standard_input(self, node: Syntax) -> Word | None:
        """What comes in: text that stands in the script, what a program writes, or nothing."""
        own = _redirect_of(node)
        if own is not None:
            return self._incoming(own)
        for _ in range(MOST_CLIMB):
            above = node.up
            if above is node or above.kind in ("command_substitution", "process_substitution"):
                return None
            if above.kind == "function_definition":
                return COMPUTED
            if above.kind == "redirected_statement":
                found = _redirect_of(above)
                if found is not None and node.field == "body":
                    return self._incoming(found)
            if above.kind == "pipeline" and above.children[0] is not node:
                return self._piped(self._writer(above, node))
            if above.kind == "heredoc_redirect":
                return self._piped_document(above)
            node = above
        return COMPUTED

    def _writer(self, pipeline: Syntax, reader: Syntax) -> Syntax:
        if pipeline not in self._writers:
            self._writers[pipeline] = dict(
                zip(pipeline.children[1:], pipeline.children, strict=False)
            )
        return self._writers[pipeline][reader]

    def _incoming(self, redirect: Syntax) -> Word:
        if redirect.kind == "herestring_redirect":
            values = [child for child in redirect.children if child.kind != "<<<"]
            return self._word(values[-1]) if values else COMPUTED
        if redirect.kind == "heredoc_redirect":
            return _document(redirect)
        return COMPUTED

    def _piped(self, writer: Syntax) -> Word:
        """What `echo` writes, where that is constant."""
        name = writer.child("name") if writer.kind == "command" else None
        words = [self._word(child) for child in writer.fields("argument")]
        is_plain = all(word.is_whole and not word.text.startswith("-") for word in words)
        if name is not None and name.text == "echo" and is_plain and not _has_escapes(words):
            return Word(" ".join(word.text for word in words))
        return COMPUTED

    def _piped_document(self, redirect: Syntax) -> Word:
        """`cat <<END | program`: the document, when it goes through unchanged."""
        writer = redirect.up.child("body")
        pipe = redirect.first("pipeline")
        is_first = pipe is None or len(pipe.children) == 1
        if writer is not None and writer.text.strip() == "cat" and is_first:
            return _document(redirect)
        return COMPUTED

    # ---- variables ---------------------------------------------------------------------------

    def _variable(self, node: Syntax) -> None:
        above = node.up
        if above.kind in _NOT_READ and (
            node.field in ("name", "variable") or above.kind != "variable_assignment"
        ):
            return
        if above.kind == "subscript" and above.up.kind in ("variable_assignment", "unset_command"):
            return
        if above.kind == "binary_expression" and node.field == "left" and _is_set(above):
            return
        name = node.text
        if self._script.is_from_environment(name, above if above.kind != "subscript" else above.up):
            line = self._tree.line(node)
            self._findings.power((variable_atom(name),), line, f"${name}")

    def _indirect(self, node: Syntax) -> None:
        """`${!name}` is the variable that another names."""
        text = node.text
        if text.endswith("@P}"):
            self._findings.load(self._tree.line(node), _said(node))
        if text.startswith("${!") and not text.endswith(("[@]}", "[*]}")):
            self._findings.power((seeing(ANYTHING),), self._tree.line(node), _said(node))

    def _subscript(self, node: Syntax) -> None:
        """A text as `a[$(command)]` runs the command where the shell takes it for a variable."""
        above: Syntax = node.up
        name = above.child("name") if above.kind == "command" else None
        if name is not None and name.text.strip("\\'\"") not in _TAKE_NAMES:
            return
        if _SUBSCRIPT.search(node.text) and _SUBSCRIPT.search(self._word(node).text):
            self._findings.load(self._tree.line(node), _said(node))


_SUBSCRIPT: Final = re.compile(r"\[[^\]]*(?:\$\(|`)")
_DECLARES: Final = ("declare", "typeset", "export", "readonly", "local", "let", "unset")
_READS: Final = ("read", "mapfile", "readarray", "wait", "getopts", "printf", "test", "[")
_TAKE_NAMES: Final = frozenset({*_DECLARES, *_READS, "eval", "builtin", "command"})
_OPERATORS: Final = _WRITES | {"<", "<&"}


def _redirect_of(node: Syntax) -> Syntax | None:
    """The redirection that a command or statement has its standard input from."""
    for child in reversed(node.children):
        if child.kind in ("herestring_redirect", "heredoc_redirect"):
            return child
        if child.kind == "file_redirect" and child.first("<", "<&") is not None:
            return child
    return None


def _document(redirect: Syntax) -> Word:
    body, start = redirect.first("heredoc_body"), redirect.first("heredoc_start")
    if body is None or start is None:
        return COMPUTED
    is_literal = any(mark in start.text for mark in "'\"\\")
    if not is_literal and any(child.kind != "heredoc_content" for child in body.children):
        return COMPUTED
    text = redirect.source[body.start : body.end].decode("utf-8", "replace")
    if redirect.first("<<-") is not None:
        text = "\n".join(line.lstrip("\t") for line in text.split("\n"))
    return Word(text)


def _has_problem(node: Syntax) -> bool:
    return node.first("ERROR") is not None


def _has_escapes(words: list[Word]) -> bool:
    return any("\\" in word.text for word in words)


def _is_set(expression: Syntax) -> bool:
    operator = expression.child("operator")
    return operator is not None and operator.kind == "="


def _said(node: Syntax) -> str:
    text = node.source[node.start : min(node.end, node.start + 4 * MOST_REASON)]
    plain = " ".join(text.decode("utf-8", "replace").split())
    return plain if len(plain) <= MOST_REASON else f"{plain[: MOST_REASON - 1]}…"
