"""Writes one file to where a person wants it: the export of a module (`export.user.file`).

An `ExportTarget` is what a host makes of a person's own choice, for this one export: a folder, a name in
it, and whether a file of that name may be overwritten. It is looked at when it is chosen and used once.
Whatever stands there when the content is written must be what the person saw: no link is followed, none is
taken for a file, a folder that was exchanged is noticed, and so is a file that came, went or changed.

The folder is the jail of a `SandboxedPath`, resolved when it is chosen. The name is one plain name, and no
hidden one: what a person does not see in a list they have hardly chosen. A new file is for its owner alone;
one that is overwritten is replaced whole or not at all and keeps its mode, and what has the same content
under another name (a hard link) keeps it there.

Not promised: that nothing else comes to stand there in the instant before the new file takes the name. What
does is replaced and never written through.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import FilesystemRace, NotAFile, PathEscape, Refused
from consentry.base.paths import FilesystemRaceDetected, RaceSink, SandboxedPath
from consentry.base.result import Ok
from consentry.base.units import Size
from consentry.base.values import dataclass

MOST_BYTES: Final = 64 * 1024**2
MOST_NAME_BYTES: Final = 255
_MODE: Final = 0o600

Protects = Callable[[Path], str | None]
"""Why nothing is written to this path, or None; asked about the real path."""


class _Seen(NamedTuple):
    """What tells a file from another, and from itself when it was changed."""

    device: int
    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, found: os.stat_result) -> "_Seen":
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class ExportTarget:
    """Where one export goes, as a person chose it; raises where that can be no target.

    `overwrite` is the person's yes to losing the file that has the name now.
    """

    def __init__(self, folder: Path, name: str, *, overwrite: bool) -> None:
        self.name = _checked_name(name)
        self._place, self._seen = _looked_at(folder, self.name)
        # Nothing but a yes is one: not a number, and not the word "false".
        if self._seen is not None and overwrite is not True:
            _refuse_existing(self.name)
        self._lock = Lock()
        self._is_spent = False

    @property
    def path(self) -> Path:
        """The file, with all links of the folder resolved."""
        return self._place.jail / self.name

    def spend(self) -> None:
        """Uses the choice up; raises when it was."""
        with self._lock:
            if self._is_spent:
                message = f"`{self.name}` was chosen for an export that has been tried already"
                raise Refused(Code.EXPORT_REFUSED, message)
            self._is_spent = True

    def put(self, content: bytes, *, on_race: RaceSink) -> None:
        """Writes the content there, if all is as it was chosen; for `write_export`, which checks the rest."""
        if self._seen is None:
            self._place.write_new(content, _MODE, on_race=on_race)
            return
        try:
            is_same = _Seen.of(self._place.status(on_race=on_race)) == self._seen
        except FileNotFoundError:
            is_same = False
        if not is_same:
            raise self._race(on_race)
        self._place.replace(content, on_race=on_race)

    def _race(self, on_race: RaceSink) -> FilesystemRace:
        message = f"`{self.name}` changed after it was chosen"
        try:
            on_race(FilesystemRaceDetected(str(self._place.jail), self.name, self.name))
        except Exception as problem:  # noqa: BLE001 - whatever a sink does, the race is what happened
            return FilesystemRace(f"{message}, and this could not be recorded: {problem}")
        return FilesystemRace(message)


@dataclass(frozen=True, slots=True)
class ExportReceipt:
    """What was written, and where."""

    path: Path
    size: int
    sha256: Digest


def write_export(
    target: ExportTarget, content: bytes, *, protected: Protects, on_race: RaceSink
) -> ExportReceipt:
    """Writes the content to a target that was chosen for it; on disk when it returns.

    The target is used up, whatever comes of it. Raises `Refused`, and then nothing was written: a target
    that was used before, too much content, a protected path, or something else there than was chosen.
    """
    check_export(target, content, protected=protected)
    return put_export(target, content, on_race=on_race)


def check_export(target: ExportTarget, content: bytes, *, protected: Protects) -> None:
    """Uses the target up, and raises where nothing may be written to it; nothing is written yet."""
    target.spend()
    if len(content) > MOST_BYTES:
        message = f"an export has at most {Size(MOST_BYTES)}, and this has {len(content)} bytes"
        raise Refused(Code.EXPORT_REFUSED, message)
    _require_unprotected(target.path, protected)


def put_export(target: ExportTarget, content: bytes, *, on_race: RaceSink) -> ExportReceipt:
    """Writes the content to a target that `check_export` has passed."""
    try:
        target.put(content, on_race=on_race)
    except OSError as problem:
        reason = (problem.strerror or "the system refused").lower()
        message = f"`{target.path}` cannot be written: {reason}"
        raise Refused(Code.FILE_UNUSABLE, message) from problem
    return ExportReceipt(target.path, len(content), digest_bytes(content))


def _checked_name(name: str) -> str:
    """One plain name that is shown as it is; raises where it is none."""
    if not isinstance(name, str):
        raise _no_name(repr(name), "is no text")
    text = str.__str__(name)
    if not text or text != text.strip():
        raise _no_name(text, "is empty, or has spaces at an end where nobody sees them")
    if text.startswith("."):
        raise _no_name(text, "begins with a dot, and would be hidden or another folder")
    if "/" in text:
        raise _no_name(text, "names a folder; the folder is chosen, not written into the name")
    if not text.isprintable():
        raise _no_name(text, "has letters in it that are not shown")
    if len(text.encode()) > MOST_NAME_BYTES:
        raise _no_name(text, f"is longer than {MOST_NAME_BYTES} bytes")
    return text


def _looked_at(folder: Path, name: str) -> tuple[SandboxedPath, _Seen | None]:
    """The path in its jail, and the file that has the name now; raises where that is something else."""
    free = SandboxedPath.create_new(folder, name)
    if isinstance(free, Ok):
        return free.value, None
    place = SandboxedPath.create(folder, name).unwrap()
    if place.relative != Path(name):
        raise PathEscape(f"`{name}` is a link, and an export follows and replaces none")
    try:
        # Nothing was checked before this: a swap here is no race yet, only a choice that failed.
        found = place.status(on_race=lambda _: None)
    except (FilesystemRace, OSError) as problem:
        raise PathEscape(f"`{name}` changed while it was being chosen") from problem
    if not stat.S_ISREG(found.st_mode):
        raise NotAFile(f"`{name}` exists and is no plain file")
    return place, _Seen.of(found)


def _refuse_existing(name: str) -> None:
    message = f"`{name}` exists, and nobody said that it may be overwritten"
    raise Refused(Code.EXPORT_REFUSED, message)


def _require_unprotected(path: Path, protected: Protects) -> None:
    why = protected(path)
    if why is not None:
        raise Refused(Code.PROTECTED_ROOT, f"`{path}` is protected, no export goes there: {why}")


def _no_name(name: str, why: str) -> Refused:
    return Refused(Code.EXPORT_REFUSED, f"`{name}` is no name for an export: it {why}")
