"""Folders of the host that the view `visible` shows, which those for temporary files are not."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from consentry.enforce.roots import is_own
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.protected import protected_roots

_REPOSITORY: Final = Path(__file__).resolve().parents[2]


def shown_folder() -> str | None:
    """One that whoever runs the tests may write and everybody may enter; None if there is none."""
    for path in (Path("/srv"), Path("/opt"), Path("/"), Path.home(), _REPOSITORY):
        real = path.resolve()
        if real.is_dir() and os.access(real, os.W_OK) and _is_shown(real) and _is_open(real):
            return str(real)
    return None


@contextmanager
def made_folder(uid: int) -> Iterator[Path]:
    """A folder of that user there, gone afterwards."""
    above = shown_folder()
    assert above is not None
    made = Path(tempfile.mkdtemp(prefix="shown-", dir=above))
    try:
        made.chmod(0o755)
        os.chown(made, uid, uid if uid != os.getuid() else os.getgid())
        yield made
    finally:
        shutil.rmtree(made)


def _is_shown(path: Path) -> bool:
    names = path.parts[1:]
    row = protected_roots().over(Pattern.literal(Anchor.ABSOLUTE, names)) if names else None
    return row is None and not is_own(path)


def _is_open(path: Path) -> bool:
    return os.getuid() != 0 or all(
        each.stat().st_mode & 0o005 == 0o005 for each in (path, *path.parents)
    )
