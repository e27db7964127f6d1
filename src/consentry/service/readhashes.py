"""Digests of the files that a run read, within a budget of bytes.

What is hashed are the bytes that the host's file has when the run is over. Where it is known which
file the run opened, and as it was then, another file and one that was changed since have no digest.
Nor has a file that cannot be opened without following a link, that is no plain file, or for which the
budget is too small. Those without a digest are counted. Programs are big and the same in every run:
their digests are remembered, and what is remembered costs nothing of the budget.
"""

import hashlib
import os
import stat
from collections.abc import Sequence
from typing import Final

from consentry.base.canonical import Digest
from consentry.enforce.engine import FileState
from consentry.enforce.filecalls import open_beneath
from consentry.enforce.hashcache import HashCache

BUDGET_BYTES: Final = 1 << 30
MOST_LISTED: Final = 100

_PART: Final = 1 << 20


class ReadHashes:
    """One budget, for the files of one run."""

    def __init__(self, budget: int = BUDGET_BYTES, programs: HashCache | None = None) -> None:
        self._left = budget
        self._programs = programs
        self._known: dict[str, Digest | None] = {}
        self.left_out: list[str] = []
        self.left_out_count = 0

    def digest_of(self, path: str, opened: Sequence[FileState] = ()) -> Digest | None:
        """The digest of the file at this absolute path of the host, or None.

        `opened` are the states in which the run opened it, where they are known.
        """
        return self._digest(path, opened, None)

    def digest_of_program(self, path: str) -> Digest | None:
        """As above, remembered from run to run where that is safe."""
        return self._digest(path, (), self._programs)

    def _digest(
        self, path: str, opened: Sequence[FileState], memory: HashCache | None
    ) -> Digest | None:
        if path not in self._known:
            self._known[path] = self._hashed(path, set(opened), memory)
            if self._known[path] is None:
                self.left_out_count += 1
                if len(self.left_out) < MOST_LISTED:
                    self.left_out.append(path)
        return self._known[path]

    def _hashed(self, path: str, opened: set[FileState], memory: HashCache | None) -> Digest | None:
        top = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            flags = os.O_RDONLY | os.O_NONBLOCK
            found = open_beneath(top, os.fsencode(path).lstrip(b"/"), flags, crosses_mounts=True)
        except OSError:
            return None
        finally:
            os.close(top)
        try:
            told = os.fstat(found)
            remembered = None if memory is None else memory.known(told)
            if remembered is not None:
                return remembered
            if not stat.S_ISREG(told.st_mode) or told.st_size > self._left:
                return None
            if opened and opened != {_state_of(told)}:
                return None
            digest = self._read(found)
            if memory is not None and digest is not None:
                memory.remember(told, digest)
            # Changed while it was read, it is not what was opened either.
            return digest if not opened or opened == {_state_of(os.fstat(found))} else None
        except OSError:
            return None
        finally:
            os.close(found)

    def _read(self, descriptor: int) -> Digest | None:
        summed = hashlib.sha256()
        while part := os.read(descriptor, _PART):
            self._left -= len(part)
            if self._left < 0:
                return None
            summed.update(part)
        return Digest(f"sha256:{summed.hexdigest()}")


def _state_of(told: os.stat_result) -> FileState:
    return FileState(told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
