"""Files that ship beside the code, read as plain files.

`importlib.resources` also reads from archives, and loads `tempfile` and `zipfile` for it: a tenth of the
time that a short command takes. Consentry is never run from an archive.
"""

import os
from importlib import import_module


def own_bytes(package: str, name: str) -> bytes:
    """The content of a file of a package."""
    with open(f"{_folder(package)}/{name}", "rb") as handle:  # noqa: PTH123 - before paths are loaded
        return handle.read()


def own_names(package: str) -> list[str]:
    """The names in the folder of a package, sorted."""
    return sorted(os.listdir(_folder(package)))  # noqa: PTH208 - as above


def _folder(package: str) -> str:
    return str(import_module(package).__path__[0])
