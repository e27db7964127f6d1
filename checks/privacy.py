"""The repository speaks only of itself.

It names no host that packages come from (whoever installs decides that), no folder of the machine
it was written on, and nothing of how its makers divide their work: a stranger can look none of
that up. The forbidden texts are put together from pieces, so that this file does not contain them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checks.finding import Finding
from checks.tree import Tree

# Folders too common to be a trace of one machine; a clone right below them is not looked for.
_COMMON = frozenset(
    Path(name)
    for name in ("/", "/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr/src", "/var/tmp")  # noqa: S108 # compared, never opened
)


@dataclass(frozen=True, slots=True)
class Trace:
    """A pattern that must not occur, and what it would give away."""

    pattern: re.Pattern[str]
    what: str


def _trace(pattern: str, what: str) -> Trace:
    return Trace(re.compile(pattern, re.IGNORECASE), what)


_REGISTRY = "a host that packages come from"
_WORK = "how the work was divided"

TRACES = (
    # `pkg:…/name` is the public form of a package URL and names no host.
    _trace(r"(?<!pkg:)py" + r"pi(?:[./]|-\w)|/py" + "pi", _REGISTRY),
    _trace("files" + r"\." + "pythonhosted", _REGISTRY),
    _trace("npm" + "js", _REGISTRY),
    _trace(r"(?:deb|security|ftp)\." + "debian", _REGISTRY),
    _trace(r"\bissue" + r" #", _WORK),
    _trace(r"\bseed" + r" 00", _WORK),
    _trace(r"\btask" + r"_2", _WORK),
)


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every line that contains a trace."""
    traces = (*TRACES, *_machine(tree.root.resolve()))
    for path in tree.paths:
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for trace in traces:
                match = trace.pattern.search(line)
                if match:
                    yield Finding(path, number, f"`{match.group()}` gives away {trace.what}")


def _machine(root: Path) -> Iterator[Trace]:
    folder = root if root.parent in _COMMON else root.parent
    if folder not in _COMMON:
        # Not after a name: `docs/home` is not `/home`.
        pattern = rf"(?<![\w.~*-]){re.escape(str(folder))}(?![\w-])"
        yield Trace(re.compile(pattern), "a folder of the machine it was written on")
