"""Layers on the disk: made before a run beside what it works on, removed when nobody needs them.

    with DiskLayer.made(state, layered, ids) as layer:
        ...                           # the box is told of `layer.told`, and given `layer.bell`
        layer.hear_that_it_is_alone() # when the run is over
        taken = layer.taken()         # a descriptor; `let_go_of` it when it has been read

A layer lies in the state directory where that is on the root's own mount, so that what is committed
is renamed and not copied; else in a hidden folder above the root, on its mount; else in the state
directory all the same, and is copied. It never lies in the root itself: no overlay is made of a
folder and what is in it. It is locked while somebody has it open. One that is not locked, and that
nobody keeps, was left behind by a process that was killed, and is removed by the next run.
"""

import ctypes
import errno
import fcntl
import os
import select
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.diskparts import KEPT, LayerNote, Part, is_kept, note_of, opened_part
from consentry.enforce.filecalls import is_same_mount
from consentry.enforce.native.planparts import Layered, made_folders
from consentry.enforce.native.runfolders import empty

_FOLDER: Final = "layers"
_HIDDEN: Final = ".consentry-layer-"
_AS_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PATIENCE_SECONDS: Final = 1.0
_UNMOUNTED: Final = 0x2000
_EVENT_BYTES: Final = 16
_MOST_EVENTS: Final = 1 << 12
_OWN, _LOOKED_INTO = 0o700, 0o755


class DiskLayer:
    """The folders that one run writes to."""

    def __init__(self, folder: Path, descriptor: int, note: LayerNote, bell: int) -> None:
        self.descriptor = descriptor
        self.bell = bell
        """Where the kernel tells that a file system of the box is gone for good."""
        self._folder = folder
        self._note = note
        self._is_taken = False

    @classmethod
    def made(cls, state: Path, layered: Sequence[Layered], ids: tuple[int, int]) -> Self:
        """Folders for these roots, as those of the user that the program is; raises `Refused`."""
        sweep_layers(state)
        try:
            folder, descriptor = _made_folder(state / _FOLDER)
        except OSError as problem:
            raise _unusable(state / _FOLDER, problem) from problem
        try:
            parts = tuple(
                _part(folder, descriptor, each.number, each.root.path) for each in layered
            )
            note = LayerNote(parts)
            note.keep(descriptor)
            for part, each in zip(parts, layered, strict=True):
                _fill(folder, part, made_folders(each), ids)
            bell = _made_bell()
        except BaseException as problem:
            _remove(folder, descriptor)
            os.close(descriptor)
            if isinstance(problem, OSError):
                raise _unusable(folder, problem) from problem
            raise
        return cls(folder, descriptor, note, bell)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.bell)
        if not self._is_taken:
            _remove(self._folder, self.descriptor)
            os.close(self.descriptor)

    @property
    def told(self) -> dict[int, tuple[str, tuple[int, int]]]:
        """For each root's number, the folder with its part, and which folder that is."""
        told = {}
        for part in self._note.parts:
            path = os.fsdecode(part.path or os.fsencode(self._folder))
            found = Path(path).stat(follow_symlinks=False)
            told[part.number] = (path, (found.st_dev, found.st_ino))
        return told

    def uppers(self) -> Iterator[int]:
        """The folders that the run writes to, each a descriptor of the caller's own."""
        for part in self._note.parts:
            held = opened_part(self.descriptor, part.number, self._note)
            try:
                yield os.open(f"upper{part.number}", _AS_FOLDER, dir_fd=held)
            finally:
                os.close(held)

    def hear_that_it_is_alone(self) -> None:
        """Waits a moment for the kernel's word that the box's file systems are gone, and notes it.

        They are gone when no process has anything of them open, mapped, or as its folder, be it one
        outside that a descriptor was passed to. Without that word nothing is moved out of the layer,
        and what is committed is a copy.
        """
        gone: set[int] = set()
        until = time.monotonic() + _PATIENCE_SECONDS
        heard = select.poll()
        heard.register(self.bell, select.POLLIN)
        while len(gone) < len(self._note.parts):
            left = until - time.monotonic()
            if left <= 0 or not heard.poll(left * 1000):
                return
            gone |= set(_unmounted(os.read(self.bell, _MOST_EVENTS)))
        self._note = LayerNote(self._note.parts, is_alone=True)
        self._note.keep(self.descriptor)

    def taken(self) -> int:
        """The layer, for the caller to `let_go_of`."""
        self._is_taken = True
        return self.descriptor


def let_go_of(layer: int) -> None:
    """Closes a layer; one on the disk that nobody keeps is removed."""
    try:
        if note_of(layer) is not None and not is_kept(layer):
            _remove(Path(f"/proc/self/fd/{layer}").readlink(), layer)
    except OSError:
        pass  # it is swept by the next run
    finally:
        os.close(layer)


def keep_layer(layer: int) -> None:
    """From here on it stays when it is let go of, until `forget_layer`."""
    os.close(os.open(KEPT, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=layer))


def forget_layer(layer: int) -> None:
    """Nobody keeps it any more."""
    with suppress(FileNotFoundError):
        os.unlink(KEPT, dir_fd=layer)


def sweep_layers(state: Path) -> None:
    """Removes the layers of runs whose processes are gone."""
    try:
        folders = list((state / _FOLDER).iterdir())
    except OSError:
        return
    for folder in folders:
        with suppress(OSError):
            descriptor = os.open(folder, _AS_FOLDER)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not is_kept(descriptor):
                    _remove(folder, descriptor)
            finally:
                os.close(descriptor)


def _made_folder(above: Path) -> tuple[Path, int]:
    above.mkdir(mode=_OWN, parents=True, exist_ok=True)
    while True:
        folder = above / os.urandom(8).hex()
        folder.mkdir(mode=_OWN)
        # Another run may sweep it before it is locked.
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, _AS_FOLDER)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), folder.lstat()):
                    return folder, descriptor
            os.close(descriptor)


def _part(folder: Path, descriptor: int, number: int, root: Path) -> Part:
    """In the state, above the root, or in the state although that is on another mount."""
    existing = next(each for each in (root, *root.parents) if each.is_dir())
    real = Path(os.path.realpath(existing))
    held = os.open(real, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        is_inside = folder.resolve().is_relative_to(real)
        if not is_inside and is_same_mount(descriptor, held):
            return Part(number)
        # What does not exist yet has nothing below it, and its layer may lie beside it.
        candidates = real.parents if existing == root else (real, *real.parents)
        for above in candidates:
            with suppress(OSError):
                if _is_own_place(above, held):
                    return Part(number, os.fsencode(above / f"{_HIDDEN}{folder.name}-{number}"))
    finally:
        os.close(held)
    if is_inside:
        raise Refused(
            Code.NOT_ENFORCEABLE,
            f"there is no place for a layer on the disk over `{real}`, which has your state in it",
            help_line="use `--layer memory`, or name a smaller folder",
        )
    return Part(number)


def _is_own_place(folder: Path, root: int) -> bool:
    """Whether it is the caller's to make something in, and on the root's own mount."""
    held = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(held)
        is_own = found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return is_own and is_same_mount(held, root) and os.access(folder, os.W_OK | os.X_OK)
    finally:
        os.close(held)


def _fill(folder: Path, part: Part, made: Sequence[str], ids: tuple[int, int]) -> None:
    place = folder
    if part.path is not None:
        place = Path(os.fsdecode(part.path))
        place.mkdir(mode=_OWN)
    upper, scratch = place / f"upper{part.number}", place / f"scratch{part.number}"
    for each in (upper, scratch):
        each.mkdir()
        each.chmod(_LOOKED_INTO)
        os.chown(each, *ids)
    for below in made:
        at = upper
        for name in below.split("/"):
            at /= name
            if not at.exists():
                at.mkdir()
                at.chmod(_LOOKED_INTO)
                os.chown(at, *ids)


def _remove(folder: Path, descriptor: int) -> None:
    """Removes a layer with its parts; the note of where they are goes last."""
    note = note_of(descriptor)
    for part in () if note is None else note.parts:
        if part.path is not None:
            with suppress(FileNotFoundError):
                _remove_folder(Path(os.fsdecode(part.path)))
    for name in sorted(os.listdir(descriptor), key=lambda each: each.startswith("note")):
        if stat.S_ISDIR(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
            _remove_folder(folder / name)
        else:
            os.unlink(name, dir_fd=descriptor)
    folder.rmdir()


def _remove_folder(path: Path) -> None:
    opened = os.open(path, _AS_FOLDER)
    try:
        os.fchmod(opened, _OWN)
        empty(opened)
    finally:
        os.close(opened)
    path.rmdir()


def _made_bell() -> int:
    made = ctypes.CDLL(None, use_errno=True).inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if made < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "inotify_init1")
    return int(made)


def _unmounted(events: bytes) -> Iterator[int]:
    at = 0
    while at + _EVENT_BYTES <= len(events):
        watch, mask, _, length = (
            int.from_bytes(events[at + n : at + n + 4], "little") for n in (0, 4, 8, 12)
        )
        if mask & _UNMOUNTED:
            yield watch
        at += _EVENT_BYTES + length


def _unusable(folder: Path, problem: OSError) -> Refused:
    said = (problem.strerror or str(problem)).lower()
    what = "no more of its watches" if problem.errno == errno.EMFILE else said
    return Refused(
        Code.ENGINE_FAILED,
        f"no layer could be made in `{folder}`: {what}",
        help_line="make room there, or use `--layer memory`",
    )
