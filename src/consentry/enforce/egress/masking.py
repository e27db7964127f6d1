"""Masks words in an answer, as far as they stand there literally and in one piece.

Each letter of a word becomes a `*`, so that no length that was told changes. The head of an answer is
looked at whole, and so is each that comes before it to say that there is more to come (1xx). Of what follows nothing is held back to wait for the rest of a word: when bytes come
would tell the program how far its guess is right. So a word that is cut, or encoded in any way, passes;
this is against slips, and no boundary.
"""

import re
from collections.abc import Sequence
from typing import Final

MASK: Final = b"*"

_END_OF_HEAD: Final = b"\r\n\r\n"
_MOST_HEAD: Final = 64 << 10
_MORE_TO_COME: Final = re.compile(rb"HTTP/1\.[01] 1[0-9][0-9](?<!101)(?![0-9])")


class Masking:
    """One answer; the words must not be empty, the longer ones first."""

    def __init__(self, words: Sequence[bytes]) -> None:
        self._words = words
        self._head = b""
        self._is_in_head = True

    def masked(self, part: bytes) -> bytes:
        """What may be passed on now: nothing before the head is whole."""
        if not self._is_in_head:
            return self._without(part)
        self._head += part
        passed = b""
        while _END_OF_HEAD in self._head:
            head, end, self._head = self._head.partition(_END_OF_HEAD)
            passed += self._without(head + end)
            if _MORE_TO_COME.match(head) is None:
                self._is_in_head = False
                return passed + self.rest()
        if len(self._head) > _MOST_HEAD:
            self._is_in_head = False
            return passed + self.rest()
        return passed

    def rest(self) -> bytes:
        """What there was of a head, when nothing follows."""
        head, self._head = self._head, b""
        return self._without(head)

    def _without(self, content: bytes) -> bytes:
        for word in self._words:
            content = content.replace(word, MASK * len(word))
        return content
