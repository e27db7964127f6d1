"""What a test says that it proves exists: every clause its docstring cites is in the table of clauses.

A citation is the name of a document and a mark, `TRUST §path-1` or `GUARD T1`; further marks may follow
it after a comma, `and` or `to`. A word without its number stands for all clauses that begin with it
(`TRUST §path`), a bare number for a section (`GUARD §5`), which is no clause. This check sees that the
clause is there, not that the test proves it.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from checks import conformance
from checks.finding import Finding
from checks.tree import Tree

_MARK: Final = r"(?:§\w[\w-]*|(?:AC|SC|T)-?[0-9]+(?:\.[0-9]+)*)"
_NEXT: Final = r"(?:,\s+(?:and\s+)?|\s+and\s+|\s+to\s+)"
_SECTION: Final = re.compile(r"§[0-9]+")
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every citation in the docstring of a test that names no clause."""
    known = conformance.clause_names(tree)
    if not known:
        return
    cited = _pattern({name.partition(" ")[0] for name in known})
    for path in tree.matching("tests/"):
        if path.endswith(".py"):
            for line, name in _citations(tree.text(path), cited):
                if not _is_known(name, known):
                    yield Finding(path, line, f"`{name}`: {conformance.PAGE} has no such clause")


def _pattern(documents: Iterable[str]) -> re.Pattern[str]:
    names = "|".join(sorted(documents))
    return re.compile(rf"\b({names})\s+({_MARK}(?:{_NEXT}{_MARK})*)")


def _citations(source: str, cited: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # samples for readers of code need not be code
    for node in ast.walk(module):
        if isinstance(node, _Documented) and (text := ast.get_docstring(node, clean=False)):
            first = node.body[0].lineno
            for found in cited.finditer(text):
                line = first + text.count("\n", 0, found.start())
                for mark in re.findall(_MARK, found[2]):
                    yield line, f"{found[1]} {mark}"


def _is_known(name: str, known: frozenset[str]) -> bool:
    if name in known or _SECTION.fullmatch(name.partition(" ")[2]):
        return True
    return any(each.startswith(f"{name}-") for each in known)
