"""Our own source makes no token outside its home, pushes nothing, and handles the races of its paths.

The product's own fence does the looking (`consentry.examine.fence`), over the package, the checks and
the examples. Tests make tokens, and benches meet no race: both only ever run here.
"""

from collections.abc import Iterator

from checks.finding import Finding
from checks.tree import Tree
from consentry.examine.fence.check import check_source
from consentry.examine.fence.findings import OUR_REPOSITORY

FOLDERS = ("src/", "checks/", "examples/", "docs/", "requirements/")


def check(tree: Tree) -> Iterator[Finding]:
    """Yields everything that the fence reports."""
    for path in tree.matching(*FOLDERS):
        if path.endswith(".py"):
            source = (tree.root / path).read_bytes()
            for each in check_source(path, source, OUR_REPOSITORY):
                yield Finding(
                    path, each.line, f"{each.rule.value}: {each.message}; {each.help_line}"
                )
