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
    """A pattern that must not occur, what it would give away, and what in the same line excuses it."""

    pattern: re.Pattern[str]
    what: str
    unless: re.Pattern[str] | None = None

    def found(self, line: str) -> str | None:
        """The first occurrence that the line does not excuse."""
        match = self.pattern.search(line)
        excused = self.unless is not None and self.unless.search(line)
        return match.group() if match and not excused else None


def _trace(pattern: str, what: str, *, unless: str | None = None) -> Trace:
    excuse = None if unless is None else re.compile(unless, re.IGNORECASE)
    return Trace(re.compile(pattern, re.IGNORECASE), what, excuse)


_REGISTRY = "a host that packages come from"
_WORK = "how the work was divided"
_INDEX = "py" + "pi"
_OTHERS_WORDS = r"(?:publish|dependencies|url)\b"
_DOCKER = "docker" + r"\.io"

TRACES = (
    # `pkg:…/name` is the public form of a package URL and names no host; keys, options and an action
    # that other people's files have are read by their names.
    _trace(_INDEX + r"\.|(?<!pkg:)" + _INDEX + rf"(?:/|-(?!{_OTHERS_WORDS})\w)", _REGISTRY),
    _trace("/" + _INDEX + rf"(?!-{_OTHERS_WORDS})", _REGISTRY),
    _trace("python" + "hosted", _REGISTRY),
    _trace("npm" + r"js|yarn" + r"pkg|\bjsr" + r"\.io\b", _REGISTRY),
    _trace(r"\bcrates" + r"\.io\b|\bruby" + r"gems\.org|\bproxy\." + r"golang\.org", _REGISTRY),
    _trace(r"\banaconda" + r"\.org|\brepo\d?\." + "maven", _REGISTRY),
    _trace(r"\b(?:ghcr|gcr|quay)" + r"\.io\b|\bmcr\." + r"microsoft\.com", _REGISTRY),
    # Debian has a package of the same name as this host; a line about that package may name it.
    _trace(rf"(?:[\w-]\.|//|\bfrom ){_DOCKER}\b|\b{_DOCKER}[/:]\w", _REGISTRY),
    _trace(
        rf"(?<![\w./-])(?<!from ){_DOCKER}\b(?![/:]\w)",
        _REGISTRY,
        unless=rf"\b(?:apt(?:-get)?|dpkg|debian)\b|packages?(?: is)?[ `=(:]+{_DOCKER}|{_DOCKER}`? package",
    ),
    _trace(
        r"\b(?:deb|security|ftp|packages|archive|snapshot|mirrors?|httpredir)(?:\.[\w-]+)*\."
        r"(?:debian|ubuntu)\b",
        _REGISTRY,
    ),
    _trace(r"\bissues?" + r" ?#", _WORK),
    # The verb is an ordinary word here: `may issue 2 permits`.
    _trace(r"(?<!to )(?<!may )(?<!can )(?<!not )(?<!will )(?<!must )\bissue" + r" \d", _WORK),
    _trace(r"\b(?:close|fixe?|resolve|see|ref)[sd]?:? " + r"#\d", _WORK),
    _trace(r"\bseeds?" + r"[ _#-]?00", _WORK),
    _trace(r"\btask" + r"_2|\btasks?" + r"[ -]#?\d{3}\b", _WORK),
)


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every line that contains a trace."""
    traces = (*TRACES, *_machine(tree.root.resolve()))
    for path in tree.paths:
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for trace in traces:
                found = trace.found(line)
                if found is not None:
                    yield Finding(path, number, f"`{found}` gives away {trace.what}")


def _machine(root: Path) -> Iterator[Trace]:
    folder = root if root.parent in _COMMON else root.parent
    if folder not in _COMMON:
        # Not after a name: `docs/home` is not `/home`.
        pattern = rf"(?<![\w.~*-]){re.escape(str(folder))}(?![\w-])"
        yield Trace(re.compile(pattern), "a folder of the machine it was written on")
