"""What a run changed that wrote to the host at once: what was seen of it, held against the tree.

There is no layer to read. The observer saw which names were to be written, made, moved or removed; of
those, what is there now was written, and what was there and is gone was deleted. It is `observed`:
that a call was made is seen, what it did is not, and somebody else may have written the same files.
"""

import os
import stat
from pathlib import Path

from consentry.base.canonical import Json
from consentry.enforce.engine import HeldAs, Outcome
from consentry.enforce.violations import Truth
from consentry.service.consentrecord import MOST_LISTED
from consentry.service.readhashes import ReadHashes
from consentry.service.runrecord import Impact, shown_path


def written_at_once(outcome: Outcome, workspace: Path) -> Impact:
    """The lists, whatever ended the run: what was written stays."""
    hashes = ReadHashes()
    seen = outcome.direct or {}
    now = {path: _look(path) for path in sorted(seen)}
    written = [
        _written(path, found.st_size, hashes, workspace, was_there=seen[path].was_there)
        for path, found in now.items()
        if found is not None and not stat.S_ISDIR(found.st_mode)
    ]
    deleted = [
        _deleted(path, workspace)
        for path, found in now.items()
        if found is None and seen[path].was_there and seen[path].goes and not seen[path].is_folder
    ]
    return Impact(
        written=tuple(written[:MOST_LISTED]),
        deleted=tuple(deleted[:MOST_LISTED]),
        committed=True,
        is_complete=outcome.complete and max(len(written), len(deleted)) <= MOST_LISTED,
        truth=Truth.OBSERVED,
    )


def _written(
    path: str, size: int, hashes: ReadHashes, workspace: Path, *, was_there: bool
) -> dict[str, Json]:
    return {
        "path": shown_path(path, workspace),
        "hash": hashes.digest_of(path),
        "size": size,
        "change": "modified" if was_there else "created",
        "held": HeldAs.EXACT.value,
    }


def _deleted(path: str, workspace: Path) -> dict[str, Json]:
    """What it was is not known any more."""
    return {"path": shown_path(path, workspace), "hash": None}


def _look(path: str) -> os.stat_result | None:
    try:
        return Path(path).lstat()
    except OSError:
        return None
