"""`check_source`: everything that the fence has to say about one file, from its bytes alone.

Pure: it opens nothing, starts nothing, and runs nothing of what it reads. Whatever the bytes are, it
returns findings and raises nothing; a file that cannot be read is one finding. The same bytes give the
same findings in the same order.
"""

import ast
import re
from typing import Final

from consentry.examine.fence.commandlines import CommandLines
from consentry.examine.fence.findings import (
    HUSHABLE,
    Family,
    FenceFinding,
    FenceScope,
    Rule,
)
from consentry.examine.fence.gates import Gates, gates_of
from consentry.examine.fence.known import Known
from consentry.examine.fence.mentions import Mentions
from consentry.examine.fence.names import family_of
from consentry.examine.fence.nearby import Nearby
from consentry.examine.fence.pushwords import PushWords
from consentry.examine.fence.races import unhandled_races
from consentry.examine.fence.reaching import Place, Reaching
from consentry.examine.knowledge.reader import knowledge
from consentry.examine.python.extract import MOST_INSIDE, without_collecting
from consentry.examine.python.gathered import Gathered
from consentry.examine.python.resolve import Resolver
from consentry.examine.python.scopes import How
from consentry.examine.python.source import Unparsed, parsed_or_why
from consentry.examine.python.values import TooMuch
from consentry.examine.python.walk import walked

_COMMENT: Final = re.compile(r"#\s*consentry-fence:\s*([a-z-]+)\s*:\s*(\S.*)")
MOST_FINDINGS: Final = 1000


def check_source(path: str, source: bytes, where: FenceScope) -> tuple[FenceFinding, ...]:
    """What is reported of a file; `path` is only repeated, and looked up in the scope."""
    with without_collecting():
        found = _File(source, where.families_at(path), 0).findings()
    if where.is_test(path):
        found = [each for each in found if each[2] is Rule.UNREADABLE]
    lines = _Lines(source)
    heard = [
        each
        for each in sorted(found)
        if not (where.heeds_comments and each[2] in HUSHABLE and lines.hushes(each[0], each[2]))
    ]
    findings = [
        FenceFinding(path, line, lines.column(line, column), rule, message)
        for line, column, rule, message in heard[:MOST_FINDINGS]
    ]
    if len(heard) > MOST_FINDINGS:
        line, said = heard[MOST_FINDINGS][0], f"{len(heard) - MOST_FINDINGS} more are not listed"
        findings.append(FenceFinding(path, line, 1, Rule.UNREADABLE, f"of the file {said}"))
    return tuple(findings)


class _File:
    """One source, or a piece of one that is executed from a constant."""

    def __init__(self, source: bytes, pardoned: frozenset[Family], depth: int) -> None:
        self.source = source
        self.pardoned = pardoned
        self.depth = depth
        self.found: set[tuple[int, int, Rule, str]] = set()
        self.placed: set[tuple[int, int, Rule]] = set()
        self.read_inside: set[bytes] = set()

    def findings(self) -> list[tuple[int, int, Rule, str]]:
        tree = parsed_or_why(self.source)
        if isinstance(tree, Unparsed):
            return [(tree.line, tree.column, Rule.UNREADABLE, f"the file {tree.reason}")]
        gates = gates_of(self.source)
        if gates.races:
            for call in unhandled_races(tree):
                self._report(call, Rule.RACE, "nobody handles the race that this call may meet")
        if not (gates.reaches or gates.commands):
            return list(self.found)
        gathered = walked(tree, ())
        try:
            self._look(tree, gathered, gates)
        except (TooMuch, RecursionError):
            said = "the file leads to more than can be worked out"
            return [*self.found, (1, 0, Rule.UNREADABLE, said)]
        finally:
            gathered.forget()
        return list(self.found)

    def _look(self, tree: ast.Module, gathered: Gathered, gates: Gates) -> None:
        known = Known(tree, self.pardoned) if gates.names else None
        if known is not None:
            Mentions(known, _bound(gathered), self._report).walk(tree)
            Nearby(known, self._report, self._read_inner).walk(known.nodes)
        resolver = Resolver(knowledge(), gathered)
        place = Place(gathered, resolver, self._report)
        if gates.reaches:
            is_token = known.is_token if known is not None and known.is_named else None
            Reaching(place, self._family, self._read_inner, is_token).walk()
        if gates.commands:
            CommandLines(place).walk()
            nodes = known.nodes if known is not None else [*ast.walk(tree)]
            told = {line for line, _, rule in self.placed if rule is Rule.PUSH}
            PushWords(self._report, told).walk(nodes)

    def _family(self, name: str) -> Family | None:
        found = family_of(name)
        return None if found in self.pardoned else found

    def _report(self, node: ast.AST, rule: Rule, message: str) -> None:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        # Two ways to see the same thing are one finding, said in the words of the first.
        if (line, column, rule) not in self.placed:
            self.placed.add((line, column, rule))
            self.found.add((line, column, rule, message))

    def _read_inner(self, node: ast.AST, code: str | bytes) -> None:
        """A constant that is executed is read like a file of its own, at the place of the call."""
        content = code.encode("utf-8", "replace") if isinstance(code, str) else code
        content = content.strip(b" \t")
        if content in self.read_inside or len(self.read_inside) >= MOST_INSIDE[self.depth]:
            return
        self.read_inside.add(content)
        for _, _, rule, message in _File(content, self.pardoned, self.depth + 1).findings():
            if rule is not Rule.UNREADABLE:
                self._report(node, rule, f"in code that is executed: {message}")


def _bound(gathered: Gathered) -> dict[str, str]:
    """What the file binds: the dotted name where that is all it stands for, else nothing."""
    bound: dict[str, str] = {}
    for scope in gathered.scopes:
        for name, bindings in scope.names.items():
            for binding in bindings:
                path = str(binding.payload) if binding.how is How.REFERENCE else ""
                bound[name] = path if bound.get(name, path) == path else ""
    return bound


class _Lines:
    """The lines of a source, split as Python does."""

    def __init__(self, source: bytes) -> None:
        self._source = source.removeprefix(b"\xef\xbb\xbf")
        self._lines: list[bytes] | None = None

    def _line(self, number: int) -> bytes:
        if self._lines is None:
            self._lines = re.split(rb"\r\n|\r|\n", self._source)
        return self._lines[number - 1] if 0 < number <= len(self._lines) else b""

    def column(self, line: int, offset: int) -> int:
        """From 1, in characters; the parser counts bytes of UTF-8."""
        return len(self._line(line)[:offset].decode("utf-8", "replace")) + 1

    def hushes(self, line: int, rule: Rule) -> bool:
        """Whether a comment there, or alone on the line before, answers the rule with a reason."""
        before = self._line(line - 1).strip()
        return self._answers(self._line(line), rule) or (
            before.startswith(b"#") and self._answers(before, rule)
        )

    def _answers(self, line: bytes, rule: Rule) -> bool:
        found = _COMMENT.search(line.decode("utf-8", "replace"))
        return found is not None and found[1] == rule.value
