"""Digests of the files that a run read, within a budget of bytes.

What is hashed are the bytes that the host's file has when the run is over. A file that cannot be
opened without following a link, that is no plain file, or for which the budget is too small, has no
digest, and is counted.
"""

import hashlib
import os
import stat
from typing import Final

from consentry.base.canonical import Digest
from consentry.enforce.filecalls import open_beneath

BUDGET_BYTES: Final = 1 << 30
MOST_LISTED: Final = 100

_PART: Final = 1 << 20


class ReadHashes:
    """One budget, for the files of one run."""

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._left = budget
        self._known: dict[str, Digest | None] = {}
        self.left_out: list[str] = []
        self.left_out_count = 0

    def digest_of(self, path: str) -> Digest | None:
        """The digest of the file at this absolute path of the host, or None."""
        if path not in self._known:
            self._known[path] = self._hashed(path)
            if self._known[path] is None:
                self.left_out_count += 1
                if len(self.left_out) < MOST_LISTED:
                    self.left_out.append(path)
        return self._known[path]

    def _hashed(self, path: str) -> Digest | None:
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
            if not stat.S_ISREG(told.st_mode) or told.st_size > self._left:
                return None
            return self._read(found)
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
