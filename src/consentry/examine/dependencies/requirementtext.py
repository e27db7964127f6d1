"""One requirement as Python's tools write them: a name, or where to get it from instead.

    requests[socks] >= 2.31 ; python_version < "3.13"
    tool @ git+https://example.org/tool.git@v1
    ./folder   https://example.org/tool-1.0-py3-none-any.whl   git+ssh://git@example.org/tool

Extras and markers add nothing: what they bring in is asked of the index, as for any dependency.
"""

import re
from typing import Final

from consentry.examine.dependencies.findings import Findings
from consentry.examine.dependencies.packages import (
    add_folder,
    add_pypi,
    add_reference,
    add_unknown,
    normalised_name,
    shown,
)

_NAMED: Final = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*+(?:\[[^\]]*\])?\s*+(?P<rest>.*)",
    re.DOTALL,
)
_REST: Final = re.compile(r"(?:$|[<>=!~;(,*#^|]|--|\\|and\b|\d|v\d)")
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@[\w.-]+:|file:")
MOST_CHARACTERS: Final = 8192
_ARCHIVES: Final = (".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".egg")


def add_requirement(text: str, line: int, findings: Findings, *, own_name: str = "") -> None:
    """Adds what one requirement brings in; the project's own name brings in nothing new."""
    text = text.strip()
    if not text:
        return
    if _ADDRESS.match(text):
        add_reference(text.split(maxsplit=1)[0], line, findings)
        return
    if text.startswith((".", "/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", text):
        add_folder(_path_of(text), line, findings)
        return
    named = _NAMED.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    if named is None:
        add_unknown(f"pypi:{shown(text)}", line, findings)
        return
    name, rest = named["name"], named["rest"]
    if rest.startswith("@"):
        _add_direct(rest[1:].strip(), line, findings)
    elif rest.startswith("/") or text.partition(";")[0].strip().endswith(_ARCHIVES):
        add_folder(_path_of(text), line, findings)
    elif not _REST.match(rest):
        add_unknown(f"pypi:{shown(text)}", line, findings)
    elif not own_name or normalised_name(name) != normalised_name(own_name):
        add_pypi(name, line, findings)


def _add_direct(where: str, line: int, findings: Findings) -> None:
    where = where.split(maxsplit=1)[0] if where else ""
    if _ADDRESS.match(where):
        add_reference(where, line, findings)
    else:
        add_folder(where, line, findings)


def _path_of(text: str) -> str:
    """The path alone: without a marker, options and extras behind it."""
    path = re.split(r"\s(?:;|--|#)|;\s", text, maxsplit=1)[0]
    return re.sub(r"\[[^\]]*\]$", "", path.strip())
