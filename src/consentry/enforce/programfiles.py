"""Looks at a program's file: is it a script, and for whom; which loader does the kernel start it with.

Reads only the beginning of a file, which is a stranger's. Follows as many interpreters of scripts as
the kernel does, and no more.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass

MOST_INTERPRETERS: Final = 5

_HEAD_BYTES: Final = 4096
_SHEBANG_BYTES: Final = 256
_ELF: Final = b"\x7fELF"
_PT_INTERP: Final = 3


@dataclass(frozen=True, slots=True)
class Started:
    """What the kernel opens to start a program: the file, its interpreters, the loaders."""

    program: Path
    interpreters: tuple[Path, ...]
    loaders: tuple[Path, ...]
    spelled: tuple[Path, ...] = ()
    """The interpreters as scripts name them, links and all."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All of them, without repeats."""
        return tuple(dict.fromkeys((self.program, *self.interpreters, *self.loaders)))


def look_at_program(path: Path) -> Started:
    """Follows the first lines of scripts; raises when the kernel would refuse to start it."""
    program = Path(os.path.realpath(path))
    interpreters: list[Path] = []
    spelled: list[Path] = []
    loaders: list[Path] = []
    current = program
    while True:
        head = _head(current)
        if head.startswith(b"#!"):
            if len(interpreters) == MOST_INTERPRETERS:
                raise _unstartable(path, "its interpreter is a script for a script, too often")
            for each in _interpreters(head, path):
                current = Path(os.path.realpath(each))
                interpreters.append(current)
                spelled.append(Path(each))
            continue
        if head.startswith(_ELF):
            loader = _loader(head)
            if loader is not None:
                loaders.append(Path(os.path.realpath(loader)))
        return Started(program, tuple(interpreters), tuple(loaders), tuple(spelled))


def _head(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as problem:
        raise _unstartable(path, (problem.strerror or "cannot be read").lower()) from problem
    try:
        return os.read(descriptor, _HEAD_BYTES)
    except OSError as problem:
        raise _unstartable(path, (problem.strerror or "cannot be read").lower()) from problem
    finally:
        os.close(descriptor)


def _interpreters(head: bytes, path: Path) -> Iterator[str]:
    """The interpreter that the first line names; `env` stands for the one it looks up as well."""
    line = head[2:_SHEBANG_BYTES].partition(b"\n")[0].strip()
    words = line.split(None, 1)
    if not words:
        raise _unstartable(path, "its first line names no interpreter")
    yield os.fsdecode(words[0])
    if words[0].endswith(b"/env") and len(words) > 1:
        named = next((w for w in words[1].split() if not w.startswith(b"-") and b"=" not in w), b"")
        for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
            candidate = os.path.join(folder, os.fsdecode(named))  # noqa: PTH118 - may be absolute
            if named and os.access(candidate, os.X_OK):
                yield candidate
                return
        raise _unstartable(
            path, f"its first line asks for `{os.fsdecode(named)}`, which is nowhere"
        )


def _loader(head: bytes) -> str | None:
    """The loader that a program for this kind of machine names, if it names one."""
    is_wide = head[4:5] == b"\x02"
    if not is_wide:
        return None
    table = int.from_bytes(head[32:40], "little")
    size, count = (int.from_bytes(head[at : at + 2], "little") for at in (54, 56))
    for at in range(table, min(table + size * count, len(head) - 56), max(size, 56)):
        if int.from_bytes(head[at : at + 4], "little") == _PT_INTERP:
            start = int.from_bytes(head[at + 8 : at + 16], "little")
            length = int.from_bytes(head[at + 32 : at + 40], "little")
            return os.fsdecode(head[start : start + length].rstrip(b"\0")) or None
    return None


def _unstartable(path: Path, why: str) -> Refused:
    return Refused(Code.PROGRAM_UNSTARTABLE, f"`{path}`: {why}")
