"""Builds the box from inside: the root file system and the layers.

Runs in the first process of the new namespaces, by a flat plan that was made outside: a list of
steps, nothing to decide here. Every path that is bound was looked at when the plan was made; the
plan says which file that was, and the box is not built when another one is found at that name now.

Two callers, one plan. An ordinary user enters a user namespace of their own and may mount there.
Root stays outside of one while mounting, reaches the workspace through mounts that show its files
as those of another user, and becomes that user before anything of the program runs: host uid 0 is
never mapped.
"""

import os

from consentry.enforce.native import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

NEW_NAMESPACES = (
    calls.CLONE_NEWNS
    | calls.CLONE_NEWPID
    | calls.CLONE_NEWNET
    | calls.CLONE_NEWIPC
    | calls.CLONE_NEWUTS
)

_ATTRIBUTES = {
    "ro": calls.MOUNT_ATTR_RDONLY,
    "nosuid": calls.MOUNT_ATTR_NOSUID,
    "nodev": calls.MOUNT_ATTR_NODEV,
    "noexec": calls.MOUNT_ATTR_NOEXEC,
    "idmap": 0,
    "socketless": 0,
}
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = (
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
)
_COPY_BYTES = 1 << 20
_USUAL_STORE = 512 << 20
_KIND, _FOLDER, _FILE, _LINK = 0o170000, 0o040000, 0o100000, 0o120000


class Replaced(Exception):
    """Another file is now at a name that the plan had looked at."""


class Box:
    """The root file system while it is being built below `root`, an empty folder of the host."""

    def __init__(self, plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
        self._plan = plan
        self._files = files
        self._root: str = plan["root"]
        self._uid, self._gid = plan["ids"]
        self._is_root = plan["idmap"] is not None
        self.store: int | None = None
        self._store_bytes = 0
        self._layers = 0
        # For what is needed only while the box is built; it goes with the host's tree, at once, for
        # to give up a mount takes the kernel longer than to make one. Older kernels layer and bind
        # nothing that lies nowhere.
        self._beside = ""
        self._aside = 0

    def build(self) -> None:
        """Everything up to and including the change of root."""
        self.begin()
        self.finish()

    def begin(self) -> None:
        """A root in memory, and the steps of the plan in it."""
        calls.mount("none", "/", "", calls.MS_REC | calls.MS_SLAVE)
        flags = calls.MS_NOSUID | calls.MS_NODEV
        calls.mount("tmpfs", self._root, "tmpfs", flags, "mode=755")
        self._beside, self._root = self._root, f"{self._root}/root"
        os.mkdir(self._root)  # noqa: PTH102 - pathlib is slow to load
        calls.mount("tmpfs", self._root, "tmpfs", flags, "mode=755")
        self.take_steps()

    def go_on(self, plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
        """The rest of a plan, of which the beginning was carried out as the one before."""
        done = len(self._plan["steps"])
        self._plan, self._files = {**plan, "steps": plan["steps"][done:]}, files
        self.take_steps()

    def finish(self) -> None:
        """The change of root."""
        if self.store is not None:
            self._settle_size()
        os.chdir(self._root)
        calls.pivot_root(".", ".")
        calls.umount(".", calls.MNT_DETACH)
        os.chdir("/")
        flags = calls.MS_REMOUNT | calls.MS_BIND | calls.MS_RDONLY | calls.MS_NOSUID
        calls.mount("none", "/", "", flags | calls.MS_NODEV)

    @property
    def has_layer(self) -> bool:
        """Whether there is something in the store that could be taken over."""
        return self._layers > 0

    def take_steps(self) -> None:
        """Carries out the plan's steps, where the root is."""
        for step in self._plan["steps"]:
            getattr(self, f"_{step[0]}")(*step[1:])

    def hold(self, source: str, identity: "tuple[int, int] | None", *, shown_as: bool) -> int:
        """A place of the host, read-only and attached nowhere yet, for a root that is to come.

        With `shown_as`, its files are shown as another user's where the caller is root.
        """
        flags = calls.OPEN_TREE_CLONE | calls.OPEN_TREE_CLOEXEC | calls.AT_RECURSIVE
        tree = calls.open_tree(calls.AT_FDCWD, source, flags)
        _require_same(os.fstat(tree), identity, source)
        bits = calls.MOUNT_ATTR_RDONLY | calls.MOUNT_ATTR_NOSUID | calls.MOUNT_ATTR_NODEV
        how = calls.AT_EMPTY_PATH | calls.AT_RECURSIVE
        if self._is_root and shown_as:
            userns = self._files[self._plan["idmap"]]
            calls.mount_setattr(tree, "", calls.MOUNT_ATTR_IDMAP, calls.AT_EMPTY_PATH, userns)
        calls.mount_setattr(tree, "", bits, how)
        return tree

    def _at(self, path: str) -> str:
        return self._root + path

    def _dir(self, path: str, mode: int = 0o755) -> None:
        try:
            os.mkdir(self._at(path), mode)  # noqa: PTH102 - pathlib is slow to load
        except FileExistsError:
            return
        except FileNotFoundError:
            os.makedirs(self._at(path), mode)  # noqa: PTH103 - as above

    def _link(self, target: str, path: str) -> None:
        os.symlink(target, self._at(path))  # noqa: PTH211 - as above

    def _file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._at(path), flags, mode)
        os.write(descriptor, content)
        os.close(descriptor)

    def _tmpfs(self, path: str, size: int, mode: int, attributes: "Sequence[str]") -> None:
        options = f"size={size},nr_inodes={max(64, size >> 12)},mode={mode:o}"
        options += f",uid={self._uid},gid={self._gid}"
        flags = calls.MS_NOSUID | calls.MS_NODEV
        flags |= calls.MS_NOEXEC if "noexec" in attributes else 0
        self._dir(path)
        calls.mount("tmpfs", self._at(path), "tmpfs", flags, options)

    def _bind(
        self,
        source: str,
        path: str,
        attributes: "Sequence[str]",
        identity: "tuple[int, int] | None",
    ) -> None:
        self._bind_to(self._at(path), source, attributes, identity)

    def _bind_to(
        self,
        target: str,
        source: str,
        attributes: "Sequence[str]",
        identity: "tuple[int, int] | None",
    ) -> None:
        bits = sum(_ATTRIBUTES[name] for name in attributes)
        if "idmap" in attributes and self._is_root:
            flags = calls.OPEN_TREE_CLONE | calls.OPEN_TREE_CLOEXEC | calls.AT_RECURSIVE
            tree = calls.open_tree(calls.AT_FDCWD, source, flags)
            userns = self._files[self._plan["idmap"]]
            calls.mount_setattr(tree, "", calls.MOUNT_ATTR_IDMAP, calls.AT_EMPTY_PATH, userns)
            # What is mounted below may be of a kind that cannot be shown as another user's.
            calls.mount_setattr(tree, "", bits, calls.AT_EMPTY_PATH | calls.AT_RECURSIVE)
            _require_same(os.fstat(tree), identity, source)
            calls.move_mount(tree, target)
            os.close(tree)
            return
        calls.mount(source, target, "", calls.MS_BIND | calls.MS_REC)
        if identity is not None:
            _require_same(os.stat(target, follow_symlinks=False), identity, source)  # noqa: PTH116
        if bits:
            calls.mount_setattr(calls.AT_FDCWD, target, bits, calls.AT_RECURSIVE)

    def _view(
        self,
        source: str,
        path: str,
        attributes: "Sequence[str]",
        identity: "tuple[int, int] | None",
    ) -> None:
        """A folder to be read: files are what they are, sockets and pipes lead to nobody outside.

        No right to read covers talking to whoever listens there, and nothing but a file system in
        between keeps a bound socket from being reached. Where there can be none, none is needed.
        """
        if "socketless" in attributes:
            self._bind(source, path, attributes, identity)
            return
        lower = self._made_aside()
        self._bind_to(lower, source, attributes, identity)
        self._see_through(lower, path)

    def _made_aside(self) -> str:
        self._aside += 1
        made = f"{self._beside}/{self._aside}"
        os.mkdir(made)  # noqa: PTH102 - as above
        return made

    def _view_held(self, held: str, path: str, *attributes: str) -> None:
        """The same of a folder that lies elsewhere in this root already.

        Made for one run: whoever looks through one finds again what was there the first time.
        """
        self._see_through(self._at(held), path, *attributes)

    def _see_through(self, lower: str, path: str, *attributes: str) -> None:
        try:
            self._put_between(lower, path, *attributes)
        except OSError as problem:
            said = problem.strerror
            raise OSError(problem.errno, said, f"showing {path} without its sockets") from problem

    def _put_between(self, lower: str, path: str, *attributes: str) -> None:
        """A file system of its own, through which a folder is seen and nobody in it reached."""
        # The kernel wants two layers.
        layers = f"userxattr,lowerdir={lower}:{self._stored('nothing', 0o755)}"
        flags = calls.MS_RDONLY | calls.MS_NOSUID | calls.MS_NODEV
        flags |= calls.MS_NOEXEC if "noexec" in attributes else 0
        calls.mount("overlay", self._at(path), "overlay", flags, layers)

    def _show(self, path: str) -> None:
        """A part of the host's tree behind the grants; what cannot be shown so is not there."""
        lower = "/.consentry-lower"
        try:
            kind = os.lstat(path).st_mode & _KIND
            place = {_FOLDER: lower, _FILE: path}[kind]
            (self._dir if kind == _FOLDER else self._empty)(place)
            self._bind(path, place, ("ro", "nosuid", "nodev"), None)
            if kind == _FOLDER:
                self._dir(path)
                self._put_between(self._at(lower), path)
            elif os.lstat(self._at(path)).st_mode & _KIND != _FILE:
                self._take_back(path)
        except (OSError, KeyError):
            self._take_back(path)
        self._take_back(lower)

    def _take_back(self, path: str) -> None:
        """Whatever was put at that name is not there any more."""
        for undo in (_detach, os.rmdir, os.unlink):
            try:
                undo(self._at(path))
            except OSError:
                continue

    def _point(self, target: str, path: str) -> None:
        """A link of the host's tree, unless something is at its name already."""
        if not os.path.lexists(self._at(path)):
            self._link(target, path)

    def _cover(self, path: str) -> None:
        """Takes out of sight what is at that name now, and what comes there later."""
        try:
            kind = os.lstat(self._at(path)).st_mode & _KIND
        except FileNotFoundError:
            return
        if kind == _FOLDER:
            self._hide_folder(path)
        elif kind != _LINK:
            self._hide_file(path)

    def _empty(self, path: str) -> None:
        """Something to mount a file over, where there is nothing yet."""
        if not os.path.lexists(self._at(path)):
            self._file(path, b"")

    def _hide_folder(self, path: str) -> None:
        """Nothing can be seen or made below that name."""
        flags = calls.MS_NOSUID | calls.MS_NODEV | calls.MS_RDONLY
        calls.mount("tmpfs", self._at(path), "tmpfs", flags, "size=4k,nr_inodes=1,mode=0")

    def _hide_file(self, path: str) -> None:
        """The file of that name cannot be read or written."""
        calls.mount("/dev/null", self._at(path), "", calls.MS_BIND)
        bits = calls.MOUNT_ATTR_RDONLY | calls.MOUNT_ATTR_NODEV | calls.MOUNT_ATTR_NOEXEC
        calls.mount_setattr(calls.AT_FDCWD, self._at(path), bits, 0)

    def _limit(self, path: str, attributes: "Sequence[str]") -> None:
        """What is mounted there allows less from now on; what is mounted below it stays."""
        bits = sum(_ATTRIBUTES[name] for name in attributes)
        calls.mount_setattr(calls.AT_FDCWD, self._at(path), bits, 0)

    def _again(self, path: str, attributes: "Sequence[str]") -> None:
        """The same folder once more at its own name, allowing less."""
        target = self._at(path)
        calls.mount(target, target, "", calls.MS_BIND | calls.MS_REC)
        bits = sum(_ATTRIBUTES[name] for name in attributes)
        if bits:
            calls.mount_setattr(calls.AT_FDCWD, target, bits, calls.AT_RECURSIVE)

    def _copy(self, file: int, path: str, mode: int) -> None:
        """A private copy of bytes that were hashed outside, at the path they came from."""
        copy = f"{self._beside}/copy{file}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(copy, flags, mode)
        offset = 0
        while sent := os.sendfile(descriptor, self._files[file], offset, _COPY_BYTES):
            offset += sent
        os.fchmod(descriptor, mode)
        os.close(descriptor)
        target = self._at(path)
        calls.mount(copy, target, "", calls.MS_BIND)
        bits = calls.MOUNT_ATTR_RDONLY | calls.MOUNT_ATTR_NOSUID | calls.MOUNT_ATTR_NODEV
        calls.mount_setattr(calls.AT_FDCWD, target, bits, 0)

    def _layer(
        self,
        source: str | None,
        path: str,
        attributes: "Sequence[str]",
        identity: "tuple[int, int] | None",
        folders: "Sequence[str]",
    ) -> None:
        """What is written below `path` goes to a layer on top, and leaves the source as it is.

        `folders` are made in the layer from the start, for writable places that do not exist yet.
        """
        number = self._begin_layer(folders)
        if source is None:
            lower = self._stored(f"lower{number}", 0o755)
            self._mount_layer(number, lower, path, attributes)
            return
        lower = self._made_aside()
        self._bind_to(lower, source, ("ro", "idmap"), identity)
        self._mount_layer(number, lower, path, attributes)

    def _layer_held(
        self, held: str, path: str, attributes: "Sequence[str]", folders: "Sequence[str]"
    ) -> None:
        """The same over a folder that lies elsewhere in this root already."""
        self._mount_layer(self._begin_layer(folders), self._at(held), path, attributes)

    def _begin_layer(self, folders: "Sequence[str]") -> int:
        number = self._layers
        self._layers += 1
        if number in self._plan.get("disk", {}):
            return number  # they are there already
        upper = self._stored(f"upper{number}", 0o755)
        for made in folders:
            self._make_folders(upper, made)
        return number

    def _mount_layer(self, number: int, lower: str, path: str, attributes: "Sequence[str]") -> None:
        upper, scratch = self._layer_folders(number)
        options = f"userxattr,lowerdir={lower},upperdir={upper},workdir={scratch}"
        flags = calls.MS_NOSUID | calls.MS_NODEV
        flags |= calls.MS_NOEXEC if "noexec" in attributes else 0
        self._dir(path)
        calls.mount("overlay", self._at(path), "overlay", flags, options)
        if "bell" in self._plan:
            calls.tell_when_unmounted(self._files[self._plan["bell"]], self._at(path))

    def _layer_folders(self, number: int) -> "tuple[str, ...]":
        """Where a layer's files go, and what the kernel needs beside: in the store, or on the disk.

        What is on the disk is bound to a name of ours first, so that its path may be any.
        """
        names = (f"upper{number}", f"scratch{number}")
        if number not in self._plan.get("disk", {}):
            return tuple(self._stored(name, 0o755) for name in names)
        source, identity = self._plan["disk"][number]
        place = self._made_aside()
        self._bind_to(place, source, ("nosuid", "nodev"), identity)
        return tuple(f"{place}/{name}" for name in names)

    def _make_folders(self, base: str, below: str) -> None:
        for name in below.split("/"):
            base = f"{base}/{name}"
            if not os.path.lexists(base):
                os.mkdir(base, 0o755)  # noqa: PTH102 - as above
                os.chown(base, self._uid, self._gid)

    def _own(self, path: str, mode: int, attributes: "Sequence[str]") -> None:
        """A folder that is the run's own; what is put there is kept in the store."""
        place = self._stored(path.strip("/").replace("/", "-"), mode)
        self._dir(path)
        calls.mount(place, self._at(path), "", calls.MS_BIND)
        bits = sum(_ATTRIBUTES[name] for name in attributes)
        if bits:
            calls.mount_setattr(calls.AT_FDCWD, self._at(path), bits, 0)

    def _stored(self, name: str, mode: int) -> str:
        """A folder in the store: one file system for all that the run writes, with one size."""
        place = self._store_place()
        if self.store is None:
            self._store_bytes = self._plan.get("layer_bytes", _USUAL_STORE)
            options = f"{_sizes(self._store_bytes)},mode=700,uid={self._uid},gid={self._gid}"
            os.makedirs(place, exist_ok=True)  # noqa: PTH103 - as above
            calls.mount("tmpfs", place, "tmpfs", calls.MS_NOSUID | calls.MS_NODEV, options)
            self.store = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        folder = f"{place}/{name}"
        if not os.path.lexists(folder):
            os.mkdir(folder)  # noqa: PTH102 - as above
            os.chmod(folder, mode)  # noqa: PTH101 - as above
            os.chown(folder, self._uid, self._gid)
        return folder

    def _settle_size(self) -> None:
        """A store that was made ahead has the usual size, and the run may have another."""
        size = self._plan.get("layer_bytes", self._store_bytes)
        if size != self._store_bytes:
            flags = calls.MS_REMOUNT | calls.MS_NOSUID | calls.MS_NODEV
            calls.mount("none", self._store_place(), "", flags, _sizes(size))

    def _store_place(self) -> str:
        return f"{self._beside}/store" if self._beside else self._at(self._plan["store"])

    def _devices(self) -> None:
        self._tmpfs("/dev", 1 << 16, 0o755, ())
        for name in _DEVICES:
            self._file(f"/dev/{name}", b"")
            calls.mount(f"/dev/{name}", self._at(f"/dev/{name}"), "", calls.MS_BIND)
        for target, name in _DEVICE_LINKS:
            self._link(target, f"/dev/{name}")
        self._dir("/dev/pts")
        calls.mount(
            "devpts", self._at("/dev/pts"), "devpts", calls.MS_NOSUID | calls.MS_NOEXEC,
            "newinstance,ptmxmode=0666,mode=620",
        )  # fmt: skip
        self._own("/dev/shm", 0o1777, ("noexec",))  # noqa: S108 - the box's own
        calls.mount_setattr(
            calls.AT_FDCWD, self._at("/dev"), calls.MOUNT_ATTR_RDONLY | calls.MOUNT_ATTR_NOEXEC, 0
        )

    def _whole_proc(self) -> None:
        """Without anything over it: the kernel gives a fresh one only to those who see all of one."""
        self._dir("/proc")
        flags = calls.MS_NOSUID | calls.MS_NODEV | calls.MS_NOEXEC
        calls.mount("proc", self._at("/proc"), "proc", flags)

    def _proc(self, hidden: "Sequence[str]") -> None:
        self._dir("/proc")
        flags = calls.MS_NOSUID | calls.MS_NODEV | calls.MS_NOEXEC
        calls.mount("proc", self._at("/proc"), "proc", flags)
        for name in ("sys", "sysrq-trigger", "irq", "bus", "fs"):
            target = self._at(f"/proc/{name}")
            if os.path.exists(target):  # noqa: PTH110 - as above
                calls.mount(target, target, "", calls.MS_BIND | calls.MS_REC)
                calls.mount_setattr(
                    calls.AT_FDCWD, target, calls.MOUNT_ATTR_RDONLY, calls.AT_RECURSIVE
                )
        for name in hidden:
            if os.path.lexists(self._at(name)):
                self._hide_file(name)


def _sizes(size: int) -> str:
    return f"size={size},nr_inodes={max(256, size >> 12)}"


def _detach(path: str) -> None:
    calls.umount(path, calls.MNT_DETACH)


def _require_same(found: os.stat_result, identity: "tuple[int, int] | None", source: str) -> None:
    if identity is not None and (found.st_dev, found.st_ino) != identity:
        raise Replaced(source)
