"""Private copies of the bytes that a permit names: read once, sealed, hashed, and then run.

A file that was hashed by its name, or by an open descriptor, can be rewritten before it runs. What is
hashed here is a copy in memory that nobody can change any more, and that copy is what the engine puts
at the file's own path inside the box. It is hashed when somebody asks, because a big program takes a
while: a box that waits for its permit can be built from the copy meanwhile.
"""

import fcntl
import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement
from consentry.enforce.streams import write_all

MOST_BYTES: Final = 256 << 20

_PART: Final = 1 << 20


class SealedFile:
    """A file as it was: where, and a descriptor of the copy, whose bytes stay what they are."""

    __slots__ = ("_digest", "descriptor", "path")

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor
        self._digest: Digest | None = None

    @property
    def digest(self) -> Digest:
        """Of the copy; taken once."""
        if self._digest is None:
            self._digest = _digest_of(self.descriptor)
        return self._digest

    def close(self) -> None:
        """Lets go of the copy."""
        os.close(self.descriptor)


def seal(path: Path) -> SealedFile:
    """Copies a plain file into memory, where it stays as it is."""
    source = _opened(path)
    copy = os.memfd_create("sealed", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        size = 0
        while part := os.read(source, _PART):
            size += len(part)
            if size > MOST_BYTES:
                raise _unusable(path, f"it has more than {MOST_BYTES} bytes")
            os.write(copy, part)
        fcntl.fcntl(copy, fcntl.F_ADD_SEALS, _seals())
    except BaseException:
        os.close(copy)
        raise
    finally:
        os.close(source)
    return SealedFile(path, copy)


def seal_content(path: Path, content: bytes) -> SealedFile:
    """The same for bytes that lie in no file: inside, and only there, they are found at that path."""
    copy = os.memfd_create("sealed", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        write_all(copy, content)
        fcntl.fcntl(copy, fcntl.F_ADD_SEALS, _seals())
    except BaseException:
        os.close(copy)
        raise
    return SealedFile(path, copy)


def _digest_of(copy: int) -> Digest:
    """By place, because whoever was handed the copy has the same position in it."""
    summed, part, size = hashlib.sha256(), bytearray(_PART), 0
    with memoryview(part) as seen:
        while count := os.preadv(copy, [part], size):
            summed.update(seen[:count])
            size += count
    return Digest(f"sha256:{summed.hexdigest()}")


def _seals() -> int:
    """Asked for when it is needed: only Linux has them, and this module is loaded elsewhere too."""
    return fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def require_permitted(permit: Permit, wanted: Confinement, sealed: Sequence[SealedFile]) -> None:
    """Raises unless the permit was spent, and for this program, these words and these bytes."""
    order = permit.order
    if permit.spent_at is None:
        raise _refused(permit, "was not spent")
    if order.arguments != wanted.program.line:
        raise _refused(permit, "is for other arguments")
    if not wanted.surface <= order.surface:
        raise _refused(permit, "is for a smaller surface")
    if [each.path for each in sealed] != list(wanted.program.copies):
        raise _refused(permit, "is for other files")
    for each in sealed:
        if order.digests.get(str(each.path)) != each.digest:
            raise _refused(permit, f"does not name the bytes of `{each.path}`")


def _opened(path: Path) -> int:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags)
    except OSError as problem:
        raise _unusable(path, (problem.strerror or "cannot be read").lower()) from problem
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _unusable(path, "it is not a plain file")
    return descriptor


def _unusable(path: Path, why: str) -> Refused:
    return Refused(Code.PROGRAM_UNSTARTABLE, f"`{path}`: {why}")


def _refused(permit: Permit, why: str) -> Refused:
    return Refused(Code.PERMIT_REFUSED, f"`{permit.permit_id}` {why}, so nothing was started")
