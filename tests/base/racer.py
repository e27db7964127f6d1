"""Tries every operation of a `SandboxedPath` while another process swaps at full speed.

    python racer.py FOLDER SWAPPED TRIES USER HOW

`SWAPPED` is what the other process exchanges with a link that leads out of the jail: the `file` itself
or the `folder` it lies in. `USER` is the number of the user to become. `HOW` is `kernel` (openat2),
`walk` (without it), or `naive`: the same operations by name, the control taken away. Prints as JSON,
for each operation, how often it was tried, refused as a race, done, and how often it reached the secret.

The exchange is one system call (`renameat2` with `RENAME_EXCHANGE`), so that the name always exists and
is a link about half of the time. What an operation has used up is put back through descriptors that
were opened before the swapping began.
"""

import ctypes
import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from consentry.base import openat2
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, FilesystemRace
from consentry.base.paths import SandboxedPath

SECRET = b"the secret outside"
INSIDE = b"inside"
PLANTED = b"planted"
MOST_TRIES = 3_000_000
LEAST_OF_EACH = 5


@dataclass
class Tally:
    """What became of the tries of one operation."""

    tries: int = 0
    races: int = 0
    done: int = 0
    escapes: int = 0


class Ground:
    """A jail and a folder outside, with descriptors of both."""

    def __init__(self, top: Path, swapped: str) -> None:
        self.jail, self.outside = top / "jail", top / "outside"
        (self.jail / "sub").mkdir(parents=True)
        self.outside.mkdir()
        self.sub = os.open(self.jail / "sub", os.O_RDONLY | os.O_DIRECTORY)
        self.out = os.open(self.outside, os.O_RDONLY | os.O_DIRECTORY)
        self.is_file = swapped == "file"
        put(self.out, "file", SECRET)
        (self.outside / "only-outside").touch()
        self.refresh()
        if self.is_file:
            self.pair = (self.sub, "file", "link")
        else:
            self.pair = (os.open(self.jail, os.O_RDONLY | os.O_DIRECTORY), "sub", "link")
            (self.jail / "link").symlink_to("../outside")
        self.paths = {
            each: path_for(self, each)
            for each in SAFE
            if not self.is_file or each not in IN_FOLDERS_ONLY
        }

    def refresh(self) -> None:
        """Puts back what an operation may have used up."""
        put(self.sub, "file", INSIDE)
        if self.is_file:
            os.symlink("../../outside/file", "fresh", dir_fd=self.sub)
            os.rename("fresh", "link", src_dir_fd=self.sub, dst_dir_fd=self.sub)
        for name in ("new", "made"):
            drop(self.sub, name)

    def was_reached(self) -> bool:
        """Whether anything was written, made or removed outside; puts it back."""
        reached = sorted(names_in(self.out)) != ["file", "only-outside"]
        if not reached:
            opened = os.open("file", os.O_RDONLY, dir_fd=self.out)
            reached = os.read(opened, 100) != SECRET
            os.close(opened)
        if reached:
            put(self.out, "file", SECRET)
            for name in ("new", "made"):
                drop(self.out, name)
        return reached


def put(folder: int, name: str, content: bytes) -> None:
    """A file of that content, in one step."""
    opened = os.open("fresh", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=folder)
    os.write(opened, content)
    os.close(opened)
    os.rename("fresh", name, src_dir_fd=folder, dst_dir_fd=folder)


def names_in(folder: int | SandboxedPath) -> tuple[str, ...]:
    """What lies in a folder, by descriptor or by name."""
    with os.scandir(folder) as found:
        return tuple(each.name for each in found)


def drop(folder: int, name: str) -> None:
    """Whatever has the name is gone."""
    for remove in (os.unlink, os.rmdir):
        try:
            remove(name, dir_fd=folder)
        except OSError:
            continue


def silent(_: object) -> None:
    """The sink; the exception is counted."""


Act = Callable[[SandboxedPath], object]
SAFE: dict[str, Act] = {
    "open": lambda path: opened(path.open(on_race=silent)),
    "read": lambda path: path.read(100, on_race=silent),
    "write": lambda path: path.write(PLANTED, on_race=silent),
    "replace": lambda path: path.replace(PLANTED, on_race=silent),
    "status": lambda path: path.status(on_race=silent).st_ino,
    "remove": lambda path: path.remove(on_race=silent),
    "names": lambda path: path.names(on_race=silent),
    "write_new": lambda path: path.write_new(PLANTED, on_race=silent),
    "make_folder": lambda path: path.make_folder(on_race=silent),
}
# The same by name, as code does that trusts a path it has checked before.
NAIVE: dict[str, Act] = {
    "open": lambda path: opened(os.open(path, os.O_RDONLY)),
    "read": lambda path: Path(path).read_bytes(),
    "write": lambda path: Path(path).write_bytes(PLANTED),
    "replace": lambda path: Path(path).write_bytes(PLANTED),
    "status": lambda path: Path(path).stat().st_ino,
    "remove": lambda path: Path(path).unlink(),
    "names": names_in,
    "write_new": lambda path: Path(path).write_bytes(PLANTED),
    "make_folder": lambda path: Path(path).mkdir(),
}
READING = ("open", "read", "status", "names")
# Removing a name never follows it, and what is new is no link: only the folder above can lead away.
IN_FOLDERS_ONLY = ("names", "write_new", "make_folder", "remove")


def opened(descriptor: int) -> bytes:
    """What a descriptor gives to read."""
    try:
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)


def path_for(ground: Ground, operation: str) -> SandboxedPath:
    """The path as it is made before the swapping begins."""
    if operation == "names":
        return SandboxedPath.create(ground.jail, "sub").unwrap()
    if operation in ("write_new", "make_folder"):
        name = "new" if operation == "write_new" else "made"
        return SandboxedPath.create_new(ground.jail, f"sub/{name}").unwrap()
    return SandboxedPath.create(ground.jail, "sub/file").unwrap()


def is_secret(answer: object, ground: Ground) -> bool:
    """Whether an operation returned something of what lies outside."""
    if isinstance(answer, tuple):
        return "only-outside" in answer
    if isinstance(answer, int) and answer > len(SECRET):
        return answer == os.stat("file", dir_fd=ground.out).st_ino
    return answer == SECRET


def tried(ground: Ground, operation: str, least: int, *, is_naive: bool) -> Tally:
    """Tries one operation until it was tried often enough, and refused as well as done."""
    tally = Tally()
    act = (NAIVE if is_naive else SAFE)[operation]
    is_reading = operation in READING
    path = ground.paths[operation]
    while tally.tries < MOST_TRIES:
        seen = tally.escapes if is_naive else min(tally.races, tally.done)
        if tally.tries >= least and seen >= LEAST_OF_EACH:
            break
        tally.tries += 1
        try:
            answer = act(path)
            tally.done += 1
            tally.escapes += is_secret(answer, ground)
        except FilesystemRace:
            tally.races += 1
        except (OSError, ConsentryError):
            pass
        if not is_reading:
            ground.refresh()
            tally.escapes += ground.was_reached()
    return tally


def swap_for_ever(folder: int, one: str, other: str) -> None:
    """Exchanges two names for as long as the process that is attacked lives."""
    libc = ctypes.CDLL(None)
    names = os.fsencode(one), os.fsencode(other)
    attacked = os.getppid()
    while os.getppid() == attacked:
        for _ in range(1000):
            libc.renameat2(folder, names[0], folder, names[1], 2)
    os._exit(0)


def become(top: Path, user: int) -> None:
    """Works as that user, in a folder of theirs."""
    if os.geteuid() == user:
        return
    os.chown(top, user, user)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def main() -> None:
    """One swapper beside all operations, one after the other."""
    top, swapped, tries, user, how = sys.argv[1:]
    assert Code.FILESYSTEM_RACE.remedy, "read while we still may"
    become(Path(top), int(user))
    if how == "walk":
        openat2.beneath = lambda *_: -errno.ENOSYS
    ground = Ground(Path(top), swapped)
    swapper = os.fork()
    if not swapper:
        swap_for_ever(*ground.pair)
    try:
        tallies = {
            each: asdict(tried(ground, each, int(tries), is_naive=how == "naive"))
            for each in ground.paths
        }
    finally:
        os.kill(swapper, signal.SIGKILL)
        os.waitpid(swapper, 0)
    sys.stdout.write(json.dumps(tallies))


if __name__ == "__main__":
    main()
