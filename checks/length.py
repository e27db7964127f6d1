"""No Python file is longer than a person reads in one sitting.

A file is meant to have 100 to 300 lines about one thing. Over 300 it is named as a warning, over
500 it fails: by then it holds two things, and the second deserves a name.
"""

from collections.abc import Iterator

from checks.finding import Finding, Weight
from checks.tree import Tree

MEANT = 300
LIMIT = 500


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every Python file over the limit, and as a warning every one over what is meant."""
    for path in tree.matching("*.py"):
        lines = len(tree.text(path).splitlines())
        if lines > LIMIT:
            yield Finding(path, lines, f"{lines} lines; the limit is {LIMIT}, split it")
        elif lines > MEANT:
            message = f"{lines} lines; files are meant to stay under {MEANT}"
            yield Finding(path, lines, message, Weight.WARNING)
