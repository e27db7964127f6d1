"""Reads a layer: what the run made, changed, deleted and put in the place of something else.

The kernel's own notation is read: a character device 0:0 is a deletion, a folder marked opaque hides
what lies below it, a folder on top of a file takes its place. Files that were only touched (the
same bytes and the same mode) are no change. The overlay's own marks never count.

Everything is reached from two open folders, the layer and the host's, without following a link. A
scan looks at a bounded number of names and reads a bounded number of bytes; what it left out, it says.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.foldertree import TooMany, Tree, by_place
from consentry.enforce.layer import (
    Change,
    ChangeKind,
    Changes,
    FileType,
    LayerRoot,
    RootReplaced,
    path_text,
)
from consentry.enforce.layerfiles import Upper
from consentry.enforce.layernotes import HostSide, Notes
from consentry.enforce.layerwalk import LayerWalk

_MADE_MODE: Final = 0o755


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """How much a scan may cost: bytes read for hashing, and names looked at."""

    hashed_bytes: int = 1 << 30
    most_entries: int = 300_000


def scan(
    layer: int,
    roots: Sequence[LayerRoot],
    *,
    started_ns: int,
    limits: ScanLimits = ScanLimits(),  # noqa: B008 - frozen
) -> Changes:
    """Everything that a run changed.

    Args:
        layer: the folder that holds `upper0`, `upper1`, one for each root.
        roots: what was writable, as it was before the run.
        started_ns: `file_clock_ns()` before the run began; what changed on the host since is a
            conflict when the changes are committed.
        limits: how much may be looked at.

    Raises:
        Refused: the layer, or a root on the host, cannot be read.
    """
    notes = Notes(limits.hashed_bytes, limits.most_entries)
    entries: list[Change] = []
    is_complete = True
    for root in roots:
        notes.entries = []
        try:
            _scan_root(layer, root, started_ns, notes)
        except TooMany:
            is_complete = False
        except RootReplaced as problem:
            raise Refused(
                Code.FILESYSTEM_RACE, f"another folder stands at `{problem}` since the run began"
            ) from None
        except OSError as problem:
            reason = (problem.strerror or "cannot be read").lower()
            raise Refused(
                Code.LAYER_UNREADABLE, f"the layer over `{path_text(root.host)}`: {reason}"
            ) from problem
        entries += sorted(_without_unused(root, notes.entries, started_ns), key=_by_place)
        if not is_complete:
            break
    return Changes(
        roots=tuple(roots),
        entries=tuple(entries),
        odd=tuple(notes.odd),
        unhashed=tuple(notes.unhashed),
        unhashed_count=notes.unhashed_count,
        is_complete=is_complete,
        started_ns=started_ns,
    )


def _by_place(change: Change) -> bytes:
    return by_place(change.path)


def _without_unused(root: LayerRoot, found: list[Change], started_ns: int) -> list[Change]:
    """Without the folders of the engine that nothing was written to."""
    if not root.made:
        return found
    names = root.rest.split(b"/") if root.rest else []
    way = [
        Change(root, path, ChangeKind.CREATED, FileType.FOLDER, 0, _MADE_MODE, started_ns)
        for path in (b"/".join(names[:count]) for count in range(1, len(names) + 1))
    ]
    used: set[bytes] = set()
    for change in found:
        if change.path not in root.made:
            at = change.path
            while at:
                at = at.rpartition(b"/")[0]
                used.add(at)
    return [each for each in (*way, *found) if each.path not in root.made or each.path in used]


def _scan_root(layer: int, root: LayerRoot, started_ns: int, notes: Notes) -> None:
    with ExitStack() as held:
        upper = held.enter_context(Upper(layer, root.number))
        host = HostSide(root, held.enter_context(Tree(root.open())), notes)
        LayerWalk(root, upper, host, started_ns, notes).go()
