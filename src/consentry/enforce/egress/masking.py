"""Masks words in bytes that pass in parts, wherever the parts are cut.

Each letter of a word becomes a `*`, so that no length that was told changes. Only the words themselves
are found: what was encoded in any other way passes.
"""

from collections.abc import Sequence
from typing import Final

MASK: Final = b"*"


class Masking:
    """One stream; the words must not be empty."""

    def __init__(self, words: Sequence[bytes]) -> None:
        self._words = words
        self._longest = max(map(len, words), default=1)
        self._held = b""
        self.count = 0

    def masked(self, part: bytes) -> bytes:
        """What may be passed on now; the end of it is held, while it could be the start of a word."""
        ready = self._without(self._held + part)
        keep = next(
            (
                size
                for size in range(min(self._longest - 1, len(ready)), 0, -1)
                if self._begins(ready[-size:])
            ),
            0,
        )
        self._held = ready[len(ready) - keep :]
        return ready[: len(ready) - keep]

    def rest(self) -> bytes:
        """What was held, when nothing follows."""
        rest, self._held = self._held, b""
        return rest

    def _begins(self, end: bytes) -> bool:
        return any(word.startswith(end) for word in self._words)

    def _without(self, content: bytes) -> bytes:
        for word in self._words:
            self.count += content.count(word)
            content = content.replace(word, MASK * len(word))
        return content
