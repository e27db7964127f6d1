"""Documents that were parsed before, kept in the state directory by the digest of their bytes.

Parsing is most of the work of a command that reads its configuration, and loading the parser is most
of that. What is kept are the nodes of a document, not what was built from them: whoever gets them
builds and checks as ever, so a kept document can say nothing that the same text could not say.

The name of an entry is the digest of the bytes and of the code that parses, so nothing is ever out
of date. Whoever may write the state directory is believed: it is the caller's own. Nothing here is
needed: where an entry is missing or unreadable, the text is parsed.
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from consentry import declare
from consentry.base.values import dataclass
from consentry.declare.keptnodes import FORM, nodes_from_json, nodes_to_json
from consentry.declare.nodes import Node
from consentry.declare.problems import Problems
from consentry.declare.reader import parsed

FOLDER: Final = "documents"
MOST_KEPT: Final = 512

_PARSERS: Final = ("nodes.py", "yamlnodes.py", "jsonnodes.py", "source.py", "keptnodes.py")
_OURS_ALONE: Final = 0o600
_MOST_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class DocumentCache:
    """The kept documents of one state directory; without one, everything is parsed."""

    state: Path | None

    def parse(self, content: bytes, problems: Problems) -> Node:
        """The nodes of a document, from what was kept or from its text."""
        if self.state is None:
            return parsed(content, problems)
        file = self.state / FOLDER / f"{_key(content, problems.name)}.json"
        kept = _read(file)
        if kept is not None:
            return kept
        node = parsed(content, problems)
        _keep(file, node)
        return node


def _key(content: bytes, name: str) -> str:
    is_json = name.endswith(".json")
    parts = (hashlib.sha256(content).hexdigest(), is_json, FORM, *_our_code())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _our_code() -> list[tuple[int, int]]:
    """The files that say what a text means, as they are now."""
    folder = declare.__path__[0]
    found = [os.stat(f"{folder}/{name}") for name in _PARSERS]  # noqa: PTH116 - on the way to every run
    return [(each.st_size, each.st_mtime_ns) for each in found]


def _read(file: Path) -> Node | None:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as handle, suppress(OSError):
        content = handle.read(_MOST_BYTES + 1)
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            return nodes_from_json(json.loads(content))
    return None


def _keep(file: Path, node: Node) -> None:
    """Written whole or not at all; what cannot be kept is parsed again."""
    beside = file.with_name(f".{os.getpid()}-{file.name}")
    with suppress(OSError, ValueError):
        text = json.dumps(nodes_to_json(node), ensure_ascii=False, separators=(",", ":")).encode()
        file.parent.mkdir(mode=0o700, exist_ok=True)
        _make_room(file.parent)
        descriptor = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _OURS_ALONE
        )
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(text)
        beside.replace(file)


def _make_room(folder: Path) -> None:
    """Lets the older half go when there are too many."""
    entries = list(os.scandir(folder))
    if len(entries) < MOST_KEPT:
        return
    entries.sort(key=lambda entry: entry.stat().st_mtime_ns)
    for entry in entries[: len(entries) // 2]:
        Path(entry.path).unlink(missing_ok=True)
