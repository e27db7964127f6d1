"""Every code, event and setting is documented: the generated pages equal what their tables say.

The pages are compared byte for byte with what `checks.reference` makes from the code that is
installed; what a page says beyond its table is fixed in that file too.
"""

from collections.abc import Iterator
from itertools import zip_longest

from checks.finding import Finding
from checks.reference import PAGES, Page
from checks.tree import Tree

REMEDY = "run `python -m checks.reference --write`"


def check(tree: Tree, pages: tuple[Page, ...] = PAGES) -> Iterator[Finding]:
    """Yields the first line in which each page differs from its table."""
    for page in pages:
        try:
            expected = page.text()
        except (AttributeError, TypeError, ValueError) as problem:
            yield Finding(page.path, 1, f"{page.module} does not have the table: {problem}")
            continue
        if expected is None:
            continue
        if not (tree.root / page.path).is_file():
            yield Finding(page.path, 1, f"missing, and {page.module} exists; {REMEDY}")
            continue
        line = _first_difference(tree.text(page.path), expected)
        if line is not None:
            yield Finding(page.path, line, f"differs from {page.module}; {REMEDY}")


def _first_difference(actual: str, expected: str) -> int | None:
    lines = zip_longest(actual.splitlines(keepends=True), expected.splitlines(keepends=True))
    return next((number for number, (a, b) in enumerate(lines, 1) if a != b), None)
