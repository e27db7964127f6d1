"""The table of clauses is true: ids are unique, counts add up, named tests and rooms exist.

`docs/conformance.md` says its own format: at the top one row for each document with the number of
its clauses, of those proven and of those open; below, one row for each clause, with its room and
its proof. This check sees that a test of that name exists, not that it proves the clause.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from checks import markdown
from checks.finding import Finding
from checks.tree import Tree

PAGE = "docs/conformance.md"
PACKAGE = "src/consentry/"
OUTSIDE = ("docs/", "checks/", "bench/", "examples/", "requirements/", "src/")
_FORM = "`| DOCUMENT id | what | `room` | open or `tests/path.py::name` |`"
_TEST = r"`tests/[^`|]+::[^`|]+`"
_CLAUSE = re.compile(
    r"^\| (?P<document>[A-Z]+) (?P<id>§\S+|[A-Z]\S*) \| (?P<what>.+) \| "
    rf"`(?P<room>[^`|]+)` \| (?P<proof>open|{_TEST}(?:, {_TEST})*) \|$"
)
_COUNT = re.compile(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \|$")
_ALL = "all"


@dataclass(frozen=True, slots=True)
class Clause:
    """A row of the table; no tests means open."""

    line: int
    document: str
    name: str
    room: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """What the page says about one document: how many clauses, proven, open."""

    line: int
    document: str
    figures: tuple[int, int, int]


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every row that is malformed, repeated, miscounted, or names what does not exist."""
    if PAGE not in tree.paths:
        yield Finding(PAGE, 1, "missing: every clause is listed with its proof, or as open")
        return
    clauses: list[Clause] = []
    counts: list[Count] = []
    for row in _rows(tree.text(PAGE)):
        match row:
            case Clause():
                clauses.append(row)
            case Count():
                counts.append(row)
            case Finding():
                yield row
    yield from _repeated(clauses)
    yield from _miscounted(clauses, counts)
    tests = _Tests(tree)
    for clause in clauses:
        yield from _missing(tree, clause, tests)


def clause_names(tree: Tree) -> frozenset[str]:
    """Every clause of the page, as tests cite it: `TRUST §path-1`."""
    if PAGE not in tree.paths:
        return frozenset()
    return frozenset(row.name for row in _rows(tree.text(PAGE)) if isinstance(row, Clause))


def _rows(text: str) -> Iterator[Clause | Count | Finding]:
    head = ""
    for number, line in markdown.prose_lines(text):
        cells = markdown.cells(line)
        if cells is None:
            head = ""
        elif not head:
            head = cells[0]
        elif not set(line) <= set("|-: "):
            yield from _row(head, number, line)


def _row(head: str, number: int, line: str) -> Iterator[Clause | Count | Finding]:
    count, clause = _COUNT.match(line), _CLAUSE.match(line)
    if head == "document" and count:
        total, proven, still_open = (int(figure) for figure in count.groups()[1:])
        yield Count(number, count[1], (total, proven, still_open))
    elif head == "clause" and clause:
        tests = tuple(re.findall(_TEST, clause["proof"]))
        name = f"{clause['document']} {clause['id']}"
        yield Clause(number, clause["document"], name, clause["room"], tests)
    elif head in {"document", "clause"}:
        yield Finding(PAGE, number, f"this row cannot be read; a clause is {_FORM}")


def _repeated(clauses: list[Clause]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for clause in clauses:
        line = first.setdefault(clause.name, clause.line)
        if line != clause.line:
            yield Finding(PAGE, clause.line, f"`{clause.name}` is also in line {line}")


def _miscounted(clauses: list[Clause], counts: list[Count]) -> Iterator[Finding]:
    stated = {count.document: count for count in counts}
    named = {clause.document for clause in clauses} | {_ALL}
    for document in sorted(named - stated.keys()):
        yield Finding(PAGE, 1, f"no count is given for {document}")
    for document, count in stated.items():
        belonging = [each for each in clauses if document in {each.document, _ALL}]
        proven = sum(bool(each.tests) for each in belonging)
        actual = (len(belonging), proven, len(belonging) - proven)
        if count.figures != actual:
            said, counted = (" / ".join(map(str, each)) for each in (count.figures, actual))
            message = f"{document} has {counted} (total / proven / open), not {said}"
            yield Finding(PAGE, count.line, message)


def _missing(tree: Tree, clause: Clause, tests: "_Tests") -> Iterator[Finding]:
    path = clause.room if clause.room.startswith(OUTSIDE) else PACKAGE + clause.room
    room = path.removeprefix(PACKAGE).partition("/")[0]
    if path.startswith(PACKAGE) and not (tree.root / PACKAGE / room).exists():
        yield Finding(PAGE, clause.line, f"`{clause.room}`: there is no room `{room}`")
    elif clause.tests and not (tree.root / path).exists():
        yield Finding(
            PAGE, clause.line, f"`{clause.room}` does not exist, and the clause is proven"
        )
    for test in clause.tests:
        if not tests.has(test.strip("`")):
            yield Finding(PAGE, clause.line, f"{test}: there is no such test")


class _Tests:
    """The tests that exist, by `path::name`, each file read once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._names: dict[str, frozenset[str]] = {}

    def has(self, test: str) -> bool:
        """Whether the file defines that function or method; parameters in brackets are not looked at."""
        path, _, name = test.partition("[")[0].partition("::")
        if path not in self._names:
            exists = path in self._tree.paths
            module = ast.parse(self._tree.text(path), filename=path) if exists else None
            self._names[path] = frozenset(_definitions(module.body, "") if module else ())
        return name in self._names[path]


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        match node:
            case ast.ClassDef(name=name):
                yield from _definitions(node.body, f"{prefix}{name}::")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("test"):
                    yield prefix + name
