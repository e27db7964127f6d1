"""Verdicts as files: an earlier one to be replayed, and the one that is written.

A file is written only if it is new, with one exception: a verdict takes the place of an earlier
verdict, because a gate writes the same file every time. What is there and is none stays.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from consentry.base.errors import BadDocument, FilesystemRace, NotAFile, Problem, Where
from consentry.base.result import Err
from consentry.examine.verdict import FILE_NAME, Status

if TYPE_CHECKING:
    from consentry.base.paths import SandboxedPath

MOST_DEPTH: Final = 16

_OPENING: Final = b'{\n  "schema_version": '
_SECOND: Final = b'\n  "status": "'
_OPENING_BYTES: Final = 64


def read_verdict(content: bytes, name: str) -> dict[str, Any]:
    """The document of an earlier verdict; raises `document-invalid` for what is none."""
    import json  # noqa: PLC0415 - only a replay pays for it

    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise _no_verdict(name, "it is not JSON") from None
    return checked_verdict(document, name)


def checked_verdict(document: object, name: str) -> dict[str, Any]:
    """The same document, if it is that of a verdict; raises `document-invalid`."""
    if not isinstance(document, dict):
        raise _no_verdict(name, "it is not a JSON object")
    if type(document.get("schema_version")) is not int:
        raise _no_verdict(name, "`schema_version` is missing, or no number")
    if document.get("status") not in tuple(Status):
        raise _no_verdict(name, "`status` is missing, or no answer of the guard")
    if _is_deep(document):
        raise _no_verdict(name, f"it is nested more than {MOST_DEPTH} deep")
    return document


def place_for(name: str, ending: str) -> str:
    """The file that is meant: of a folder, the one in it that has the usual name."""
    path = Path(name)
    return str(path / Path(FILE_NAME).with_suffix(ending)) if path.is_dir() else name


def write_verdict(name: str, content: bytes) -> None:
    """Writes a verdict to a new file, or in the place of an earlier one."""
    from consentry.service.races import recorded  # noqa: PLC0415 - with `--out` only
    from consentry.service.userfiles import write_new  # noqa: PLC0415 - as above

    try:
        earlier = _earlier(name)
        if earlier is not None:
            earlier.replace(content, on_race=recorded)
            return
    except FilesystemRace as race:
        raise race.at(Where(name)) from race.__cause__
    except OSError:
        pass  # its name was taken away meanwhile; then it is written as any new file is
    write_new(name, content)


def _earlier(name: str) -> "SandboxedPath | None":
    """A plain file that begins as a verdict does, if one is there; a link to one is none."""
    from consentry.base.paths import SandboxedPath  # noqa: PLC0415 - with `--out` only
    from consentry.service.races import recorded  # noqa: PLC0415 - as above

    path = Path(name)
    found = SandboxedPath.create(path.parent, path.name)
    if isinstance(found, Err) or found.value.relative.name != path.name:
        return None
    try:
        descriptor = found.value.open(on_race=recorded)
        with os.fdopen(descriptor, "rb") as handle:
            first, _, rest = handle.read(_OPENING_BYTES).partition(b",")
    except (NotAFile, OSError):
        return None
    number = first.removeprefix(_OPENING)
    is_verdict = number != first and number.isdigit() and rest.startswith(_SECOND)
    return found.value if is_verdict else None


def _is_deep(document: object) -> bool:
    level: list[object] = [document]
    for _ in range(MOST_DEPTH):
        deeper: list[object] = []
        for each in level:
            if isinstance(each, dict):
                deeper += each.values()
            elif isinstance(each, list):
                deeper += each
        level = deeper
    return bool(level)


def _no_verdict(name: str, why: str) -> BadDocument:
    help_line = f"hand in a file that `consentry guard --out` wrote, usually {FILE_NAME}"
    return BadDocument([Problem(Where(name), f"this is no earlier verdict: {why}", help_line)])
