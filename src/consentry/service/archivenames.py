"""Names in archives: those that no honest archive has are refused, the others become paths of a tree.

A version in a name says nothing about powers, so the folder `name-1.2/` around an sdist is taken
away, and what a wheel keeps in `name-1.2.data/purelib/` lies where it will be installed.
"""

from collections.abc import Iterable
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.declare.patchbundle import BundleIncomplete, check_path

_HOSTILE_HELP: Final = "no tool that packs archives writes this; do not unpack it"
_INSTALLED: Final = ("purelib", "platlib")


def member_path(name: str) -> str:
    """The path that a member's name stands for; raises for one that leads out of the archive."""
    path = name
    while path.startswith("./"):
        path = path[2:]
    path = path.rstrip("/")
    try:
        if "\\" in path or path[1:3] == ":/":
            raise BundleIncomplete("a path is one of Windows", path)
        check_path(path)
    except BundleIncomplete:
        message = f"a file in it is called `{name}`, which leads out of it or nowhere"
        raise BadInput(Code.FILE_UNUSABLE, message, help_line=_HOSTILE_HELP) from None
    return path


def top_folder(paths: Iterable[str]) -> str:
    """The one folder that everything lies in, with its slash; empty unless it could not be imported."""
    tops = {path.partition("/")[::2] for path in paths}
    names = {name for name, _ in tops}
    if len(names) != 1 or any(not rest for _, rest in tops):
        return ""
    name = names.pop()
    return "" if name.isidentifier() else f"{name}/"


def installed_path(path: str) -> str:
    """Where a file of a wheel is put, as far as imports go."""
    top, _, rest = path.partition("/")
    kind, _, below = rest.partition("/")
    return below if top.endswith(".data") and kind in _INSTALLED and below else path
