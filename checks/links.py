"""Links inside the repository lead somewhere: files exist, anchors exist, nothing points outside.

Links to other sites are not followed: the check needs no network and gives the same answer every day.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from checks import markdown
from checks.finding import Finding
from checks.tree import Tree

_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every relative link whose file or anchor does not exist."""
    for path in tree.matching("*.md"):
        for line, target in markdown.links(tree.text(path)):
            if not _ELSEWHERE.match(target):
                problem = _problem(tree, path, unquote(target))
                if problem is not None:
                    yield Finding(path, line, f"link to `{target}`: {problem}")


def _problem(tree: Tree, path: str, target: str) -> str | None:
    name, _, anchor = target.partition("#")
    if name.startswith("/"):
        return "links are relative to their file"
    root = tree.root.resolve()
    place = (root / Path(path).parent / name).resolve() if name else root / path
    if not place.is_relative_to(root):
        return "leads out of the repository"
    if not place.exists():
        return "no such file"
    if not anchor or place.suffix != ".md":
        return None
    text = place.read_text(encoding="utf-8", errors="replace")
    return None if anchor in markdown.anchors(text) else f"no heading gives the anchor `#{anchor}`"
