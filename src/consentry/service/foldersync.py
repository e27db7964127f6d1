"""Makes the names in a folder as durable as the files they name."""

import os
from contextlib import suppress
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Waits until the folder is on the disk; not every file system can."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            os.fsync(opened)
    finally:
        os.close(opened)
