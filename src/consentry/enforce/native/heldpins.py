"""What a held call is about, pinned before anybody is asked, and what is done with it after a yes.

A name is followed once. What it led to is kept open without having been opened (`O_PATH`), and what is
shown to the person is the name that the kernel gives of that very thing. After a yes the same thing is
opened again through that descriptor, or a name is made in the folder that is kept: whoever changes names
meanwhile, inside or outside, changes nothing of it.

Four trees are followed. Every folder to be listed, and what is read in a layer, is reached through the
box's own mounts, where a folder leads to nothing but the box; what is written in a layer, through a mount
of that layer that can be written. Any other file is read through a copy of the host's tree that cannot be
written. What is written elsewhere is reached in the host's own tree. Only files and folders are ever
opened: no device, no socket, no pipe.
"""

import ctypes
import errno
import os

from consentry.enforce.native import calls
from consentry.enforce.native.heldrules import CREATE, MKDIR, OPEN, HeldRules, Wanted
from consentry.enforce.native.heldtrees import read_only_tree, writable_layers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

BOX, LAYER, HOST, CLONE = "box", "layer", "host", "clone"
_OF_THE_BOX = (BOX, LAYER)
_KIND, _FOLDER, _FILE = 0o170000, 0o040000, 0o100000
_NO_NAMES = (b"", b".", b"..")
_FOLLOWED = calls.RESOLVE_IN_ROOT | calls.RESOLVE_NO_MAGICLINKS
_MADE = calls.RESOLVE_BENEATH | calls.RESOLVE_NO_SYMLINKS | calls.RESOLVE_NO_MAGICLINKS
_KEPT_FLAGS = (
    os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_TRUNC | os.O_SYNC | os.O_DSYNC | os.O_DIRECT
    | os.O_DIRECTORY | os.O_NOATIME
)  # fmt: skip
_OWN_MASK = 0o022
# Bits that lend a file's owner to whoever runs it are given by nobody here.
_MOST_MODE = 0o1777


class Pin:
    """A thing that is kept, or a folder and the name to be made in it."""

    __slots__ = ("descriptor", "identity", "is_made", "name", "path", "tree", "umask", "wanted")

    def __init__(
        self, wanted: Wanted, tree: str, descriptor: int, path: bytes, name: "bytes | None"
    ) -> None:
        self.wanted = wanted
        self.tree = tree
        self.descriptor = descriptor
        self.path = path
        self.name = name
        # In a layer a file becomes another one when it is first written, and nobody else is there.
        self.identity = (0, 0) if tree in _OF_THE_BOX else _identity_of(descriptor)
        self.umask = _OWN_MASK
        self.is_made = False
        """Whether there is now what was to be made."""

    def key(self, access: str) -> "tuple[str, bytes, int, int]":
        """What an answer is remembered by: a kind of access to this very thing, by this name."""
        return (access, self.path, *self.identity)

    def close(self) -> None:
        """Lets go of it."""
        os.close(self.descriptor)


class HeldPins:
    """Pins what the calls of one run are about, and opens it."""

    def __init__(self, wish: "Mapping[str, Any]", rules: HeldRules, pid: int) -> None:
        """`pid` is a process of the box, which waits."""
        self._rules = rules
        self._wish = wish
        self._roots: dict[str, int] = {}
        self._roots[BOX] = os.open(b"/proc/%d/root" % pid, os.O_PATH | os.O_CLOEXEC)
        # Before the program has run: later, their names may lead elsewhere.
        made = writable_layers(pid, wish, rules.layered) if rules.layered else []
        self._layers = dict(zip(rules.layered, made, strict=True))
        self._made: set[tuple[int, int]] = set()

    def pin(self, wanted: Wanted) -> "Pin | None":
        """What the call is about; None where nothing can be done about it here."""
        tree = self._tree_for(wanted)
        if tree is None:
            return None
        place, flags = wanted.place, wanted.flags & os.O_NOFOLLOW
        if wanted.verb != OPEN:
            place, flags = place.rpartition(b"/")[0] or b"/", os.O_DIRECTORY
        kept, above = self._followed(tree, place, flags)
        if kept < 0:
            return None
        pin: Pin | None = None
        try:
            pins = self._pin_thing if wanted.verb == OPEN else self._pin_folder
            pin = pins(wanted, tree, kept, above)
        finally:
            if pin is None:
                os.close(kept)  # however it ended: a program may try a million names
        return pin

    def _tree_for(self, wanted: Wanted) -> str | None:
        if self._rules.layer_of(wanted.place) is not None:
            if wanted.writes:
                return LAYER
            return BOX if wanted.is_found else None  # what is not in the layer is not there
        if wanted.is_folder and wanted.is_found and wanted.verb == OPEN:
            return BOX
        return HOST if wanted.writes else CLONE

    def _pin_thing(self, wanted: Wanted, tree: str, kept: int, above: bytes) -> "Pin | None":
        # What the question will call a folder is one: a name may lead elsewhere by now.
        kind = _FOLDER if wanted.is_folder else _FILE
        is_fit = os.fstat(kept).st_mode & _KIND == kind
        is_unlisted = kind == _FOLDER and (tree != BOX or wanted.writes)
        if not is_fit or is_unlisted or (tree not in _OF_THE_BOX and not _may(kept, wanted)):
            return None
        return self._named(Pin(wanted, tree, kept, above + _name_of(kept), None))

    def _pin_folder(self, wanted: Wanted, tree: str, kept: int, above: bytes) -> "Pin | None":
        name = wanted.place.rpartition(b"/")[2]
        if name in _NO_NAMES or _exists(name, kept):
            return None
        if tree not in _OF_THE_BOX and not _may(kept, wanted):
            return None
        path = (above + _name_of(kept)).rstrip(b"/") + b"/" + name
        return self._named(Pin(wanted, tree, kept, path, name))

    def _named(self, pin: Pin) -> "Pin | None":
        """Unless it has no name any more, or one at which nothing is held."""
        is_gone = pin.path.endswith(b" (deleted)") and os.fstat(pin.descriptor).st_nlink == 0
        elsewhere = self._rules.is_never_held(pin.path) or (
            pin.tree not in _OF_THE_BOX and self._rules.layer_of(pin.path) is not None
        )
        return None if is_gone or elsewhere or not pin.path.startswith(b"/") else pin

    def _followed(self, tree: str, place: bytes, flags: int = 0) -> "tuple[int, bytes]":
        """What is there, or an error below zero; and where the tree begins that it was found in."""
        above, follows = b"", _FOLLOWED
        if tree == LAYER:
            above = self._rules.layer_of(place) or b""
            if above not in self._layers:
                return -errno.EACCES, above  # the folder that a layer lies in
            root, place = self._layers[above], place[len(above) :] or b"/"
            # Names are those of the box, without links; the tree's own would lead out of the layer.
            follows |= calls.RESOLVE_NO_SYMLINKS
        else:
            if tree not in self._roots:
                self._roots[tree] = _opened_root(tree)
            root = self._roots[tree]
        how = (ctypes.c_uint64 * 3)(os.O_PATH | os.O_CLOEXEC | flags, 0, follows)
        return calls.openat2_quickly(root, place, ctypes.byref(how)), above

    def is_in_box(self, folder: bytes) -> bool:
        """Whether the program sees such a folder."""
        kept, _ = self._followed(BOX, folder, os.O_DIRECTORY)
        if kept >= 0:
            os.close(kept)
        return kept >= 0

    def carry_out(self, pin: Pin) -> int | None:
        """Does what was asked for; what was opened is the caller's to pass on and to close."""
        does: Callable[[Pin], int | None]
        does = {OPEN: self._open, CREATE: self._create, MKDIR: self._mkdir}[pin.wanted.verb]
        if pin.tree not in _OF_THE_BOX or not self._wish["is_root"]:
            return does(pin)
        # What a root caller's program makes in its layer is not root's.
        calls.set_file_user(*self._wish["ids"])
        try:
            return does(pin)
        finally:
            calls.set_file_user(0, 0)

    def _open(self, pin: Pin) -> int:
        flags = pin.wanted.flags & _KEPT_FLAGS | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return _as_wanted(os.open(b"/proc/self/fd/%d" % pin.descriptor, flags), pin.wanted)

    def _create(self, pin: Pin) -> int:
        flags = pin.wanted.flags & _KEPT_FLAGS & ~os.O_TRUNC
        flags |= os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
        mode = pin.wanted.mode & _MOST_MODE
        opened = self._at(pin, flags | os.O_CREAT | os.O_EXCL, mode)
        if opened == -errno.EEXIST and not pin.wanted.flags & os.O_EXCL:
            # Another thread of the run may have had it made; nobody was asked about any other file.
            opened = self._at(pin, flags, 0)
            if opened >= 0 and _identity_of(opened) not in self._made:
                os.close(opened)
                opened = -errno.EACCES
            elif opened >= 0 and pin.wanted.flags & os.O_TRUNC:
                os.truncate(b"/proc/self/fd/%d" % opened, 0)  # only now, that it is the run's own
        if opened < 0:
            raise OSError(-opened, os.strerror(-opened))
        made = _identity_of(opened)
        self._made.add(made)
        pin.is_made = True
        if pin.tree not in _OF_THE_BOX:
            pin.identity = made
        return _as_wanted(opened, pin.wanted)

    @staticmethod
    def _at(pin: Pin, flags: int, mode: int) -> int:
        how = (ctypes.c_uint64 * 3)(flags, mode, _MADE)
        os.umask(pin.umask)
        try:
            return calls.openat2_quickly(pin.descriptor, pin.name or b"", ctypes.byref(how))
        finally:
            os.umask(_OWN_MASK)

    @staticmethod
    def _mkdir(pin: Pin) -> None:
        os.umask(pin.umask)
        try:
            mode = pin.wanted.mode & _MOST_MODE
            os.mkdir(pin.name or b"", mode, dir_fd=pin.descriptor)
        finally:
            os.umask(_OWN_MASK)

    def close(self) -> None:
        """Lets go of the trees."""
        for root in (*self._roots.values(), *self._layers.values()):
            os.close(root)


def _opened_root(tree: str) -> int:
    if tree == CLONE:
        return read_only_tree()
    return os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def _identity_of(descriptor: int) -> "tuple[int, int]":
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _name_of(kept: int) -> bytes:
    return os.readlink(b"/proc/self/fd/%d" % kept)  # noqa: PTH115 - bytes, and quick


def _exists(name: bytes, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _may(kept: int, wanted: Wanted) -> bool:
    """Whether the caller could do it: nobody is asked for what no yes would open."""
    mode = os.R_OK if wanted.reads else 0
    if wanted.verb != OPEN:
        mode = os.W_OK | os.X_OK
    elif wanted.writes:
        mode |= os.W_OK
    return os.access(b"/proc/self/fd/%d" % kept, mode)


def _as_wanted(opened: int, wanted: Wanted) -> int:
    """Opened without waiting for anybody; the program may wait if it wants to."""
    if not wanted.flags & os.O_NONBLOCK:
        os.set_blocking(opened, True)
    return opened
