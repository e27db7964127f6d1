"""Where the guard keeps what it read before: a folder of the state directory, closed to others.

Nothing of it is needed. Where the state directory is missing and cannot be made, is not this user's
alone, or lies in the repository that is examined, nothing is kept and nothing found.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.errors import ConsentryError
from consentry.examine.tabledigest import known_digest
from consentry.service.extractioncache import ExtractionCache
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings, resolved

FOLDER: Final = "extractions"
KEY: Final = "key"


def kept_extractions(
    around: Surroundings, examined: Path | None = None, added: Digest | None = None
) -> ExtractionCache:
    """The extractions that are kept for this user.

    Args:
        around: where the command was started.
        examined: the repository or folder whose files are read; it must not hold the key.
        added: the digest of the rules that plugins add.
    """
    folder = _folder(around, examined)
    return ExtractionCache(folder, None if folder is None else folder / KEY, known_digest(added))


def _folder(around: Surroundings, examined: Path | None) -> Path | None:
    try:
        state = find_state(around, None)
    except ConsentryError:
        return None
    if state.concerns or (examined is not None and state.real.is_relative_to(resolved(examined))):
        return None
    folder = state.real / FOLDER
    with suppress(OSError):
        state.real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.real.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder if os.path.isdir(folder) else None  # noqa: PTH112 - a link to a folder is found out later
