"""What a power cut may leave on disk: a program's calls, written down by `strace` and played again.

Kill -9 shows nothing about durability, because the system goes on and writes what it was given. So
here a folder is built anew from the calls alone. What was synced is there. Of what was written since
the last sync of its file, any part may be there, sector by sector and in any order; and a name that
appeared or went since the last sync of its folder may be there or not. Of what a failed sync was to
write, nothing need ever be there: the system forgets it, and the next sync succeeds.
"""

import codecs
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

SECTOR = 512
_CALLS = "openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,rename,link"
_LINE = re.compile(r"(?:\d+ +)?(?P<name>\w+)\((?P<args>.*)\) += (?P<result>-?\d+)(?:<.*>| .*)?")
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_FD = r"\d+<([^>]*)>"
_OPEN = re.compile(rf"AT_FDCWD(?:<[^>]*>)?, {_TEXT}, ([A-Z_|]+)")
_WRITE = re.compile(rf"{_FD}, {_TEXT}, \d+(?:, (\d+))?")
_TRUNCATE = re.compile(rf"{_FD}, (\d+)")
_SYNC = re.compile(_FD)
_NAME = re.compile(_TEXT)

Chooses = Callable[[], bool]


@dataclass(slots=True)
class _File:
    """What is on disk of a file, and what is on its way there: writes, and lengths it was cut to."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def forget(self) -> None:
        self.pending.clear()

    def sync(self) -> None:
        for offset, content in self.pending:
            _apply(self.durable, offset, content)
        self.pending.clear()

    def after_cut(self, chooses: Chooses) -> bytes:
        left = bytearray(self.durable)
        for offset, content in self.pending:
            if content is None:
                if chooses():
                    _apply(left, offset, None)
                continue
            for start in range(0, len(content), SECTOR):
                if chooses():
                    _apply(left, offset + start, content[start : start + SECTOR])
        return bytes(left)


def _apply(content: bytearray, offset: int, written: bytes | None) -> None:
    if written is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(written)] = written


class Disk:
    """One folder as the disk has it; told of every call in turn."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.said = ""
        self.files: dict[str, _File] = {}
        self._durable_names: dict[str, _File] = {}
        for path in folder.iterdir():
            self.files[path.name] = _File(bytearray(path.read_bytes()))
        self._durable_names.update(self.files)

    def play(self, line: str) -> str | None:
        """Takes one line of the trace; returns the name of the call if it was about this folder."""
        call = _LINE.fullmatch(line)
        if call is None:
            return None
        name, args, has_failed = call["name"], call["args"], int(call["result"]) < 0
        if name in ("fsync", "fdatasync"):
            return self._sync(name, _path(_SYNC, args), has_failed=has_failed)
        if has_failed:
            return None
        if name == "openat":
            found = _OPEN.match(args)
            path = Path(_decoded(found[1]).decode()) if found else Path()
            if path.parent == self._folder and found and "O_CREAT" in found[2]:
                self.files.setdefault(path.name, _File())
                return name
        elif name in ("write", "pwrite64"):
            return self._write(name, args)
        elif name == "ftruncate":
            found = _TRUNCATE.match(args)
            if found and Path(found[1]).parent == self._folder:
                self.files[Path(found[1]).name].pending.append((int(found[2]), None))
                return name
        elif name in ("unlink", "rename", "link"):
            path = _path(_NAME, args)
            if path.parent == self._folder:
                assert name == "unlink", f"{name} is not known here"
                del self.files[path.name]
                return name
        return None

    def _sync(self, name: str, path: Path, *, has_failed: bool) -> str | None:
        if path == self._folder and not has_failed:
            self._durable_names = dict(self.files)
        elif path.parent == self._folder and has_failed:
            self.files[path.name].forget()
        elif path.parent == self._folder:
            self.files[path.name].sync()
        else:
            return None
        return name

    def _write(self, name: str, args: str) -> str | None:
        found = _WRITE.match(args)
        assert found is not None, args
        content, path = _decoded(found[2]), Path(found[1])
        if args.startswith("1<"):
            self.said += content.decode()
            return name
        if path.parent != self._folder:
            return None
        assert found[3] is not None, "a file of the store is written without a place"
        self.files[path.name].pending.append((int(found[3]), content))
        return name

    def cut(self, into: Path, chooses: Chooses) -> None:
        """Lays out in a new folder what may be there after a power cut at this moment."""
        into.mkdir()
        for name in {**self._durable_names, **self.files}:
            before, now = self._durable_names.get(name), self.files.get(name)
            left = before if before is now or not chooses() else now
            if left is not None:
                (into / name).write_bytes(left.after_cut(chooses))


def trace(argv: Sequence[str], log: Path, *faults: str, status: int = 0) -> Iterator[str]:
    """Runs the program to its end, with these faults put in; the lines of its trace."""
    settings = ["-qq", "-y", "-s", "70000", "-o", str(log), "-e", f"trace={_CALLS}"]
    for fault in faults:
        settings += ["-e", f"inject={fault}"]
    program = shutil.which("strace")
    assert program is not None
    ended = subprocess.run(
        [program, "-f", *settings, "--", *argv], check=False, capture_output=True
    )
    assert ended.returncode == status, ended.stderr
    with log.open(encoding="ascii") as lines:
        for line in lines:
            yield line.rstrip("\n")


def nothing() -> bool:
    """Of what was not synced, nothing is there."""
    return False


def everything() -> bool:
    """All is there, as after a kill."""
    return True


def some(seed: int) -> Chooses:
    """A part of it is there, another one for each seed."""
    random = Random(seed)  # noqa: S311 - not a secret
    share = random.random()
    return lambda: random.random() < share


def _path(pattern: re.Pattern[str], args: str) -> Path:
    found = pattern.match(args)
    assert found is not None, args
    return Path(_decoded(found[1]).decode())


def _decoded(text: str) -> bytes:
    content: bytes = codecs.escape_decode(text.encode("ascii"))[0]  # type: ignore[attr-defined]
    return content
