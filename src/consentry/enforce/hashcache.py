"""Digests of big files that only root can change, remembered by what the kernel says of them.

An interpreter is hashed once and then known by device, inode, size, times of change. A file that its
user could rewrite is hashed each time: whoever may write a file may also set its times back.
"""

import hashlib
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import Refused

_PART: Final = 1 << 20
_WRITABLE_BY_OTHERS: Final = 0o022
_ENTRY: Final = re.compile(rb"([0-9a-f-]+) (sha256:[0-9a-f]{64})\n")
_LONGEST_ENTRY: Final = 512


class HashCache:
    """One small file for each remembered digest, in a folder of our own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def digest_of(self, path: Path) -> Digest:
        """The digest of a plain file, remembered where that is safe."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as problem:
            said = (problem.strerror or "cannot be read").lower()
            raise Refused(Code.PROGRAM_UNSTARTABLE, f"`{path}`: {said}") from problem
        try:
            found = os.fstat(descriptor)
            return self.known(found) or self.remember(found, hashed(descriptor))
        finally:
            os.close(descriptor)

    def known(self, found: os.stat_result) -> Digest | None:
        """The digest of an open file, if it is remembered as it is now."""
        if not _may_be_remembered(found):
            return None
        key = _key(found)
        try:
            descriptor = os.open(self._file(key), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            content = os.read(descriptor, _LONGEST_ENTRY)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        entry = _ENTRY.fullmatch(content)
        if entry is None or entry[1].decode() != key:
            return None
        return Digest(entry[2].decode())

    def remember(self, found: os.stat_result, digest: Digest) -> Digest:
        """Gives the digest back; of a file as it was before its bytes were read."""
        return self._write(_key(found), digest) if _may_be_remembered(found) else digest

    def _write(self, key: str, digest: Digest) -> Digest:
        """Written whole or not at all; a folder that cannot be written only costs time."""
        fresh = self._folder / f".{os.getpid()}-{key[:32]}"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            fresh.write_text(f"{key} {digest}\n", "ascii")
            fresh.replace(self._file(key))
        except OSError:
            with suppress(OSError):
                fresh.unlink()
        return digest

    def _file(self, key: str) -> Path:
        device, inode, *_ = key.split("-")
        return self._folder / f"{device}-{inode}"


def _key(found: os.stat_result) -> str:
    values = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return "-".join(f"{value:x}" for value in values)


def _may_be_remembered(found: os.stat_result) -> bool:
    """Root could change the file and the memory of it alike, so root remembers every file."""
    if not stat.S_ISREG(found.st_mode):
        return False
    is_roots = found.st_uid == 0 and not found.st_mode & _WRITABLE_BY_OTHERS
    return is_roots or os.getuid() == 0


def hashed(descriptor: int) -> Digest:
    """The digest of what is left to be read."""
    summed = hashlib.sha256()
    while part := os.read(descriptor, _PART):
        summed.update(part)
    return Digest(f"sha256:{summed.hexdigest()}")
