r"""Cuts untrusted text into pieces: shown as it came, or as an escape. The heart of `safetext`.

The pieces, joined, are the rendering; what each of them took from the input adds up to the input.
Nothing here knows about limits, frames or pages, and nothing outside `safetext` needs this module.

An escape is `\u{hex}` or `\x{hex}`, with `*count` behind the digits when it stands for several of the
same. Reading backwards is always possible: a `u{` or `x{` with an odd number of backslashes before it
opens an escape, and the other backslashes of that run stand for half as many; an even number is
typed text, again for half as many; backslashes anywhere else stand for themselves.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from consentry.base.invisible import (
    FindingKind,
    is_mark,
    is_right_to_left,
    is_shown,
    kind_of_hidden,
    may_carry,
)

WIDEST_GAP = 16
"""So many spaces in a row are layout; more are padding."""
MOST_LINE_FEEDS = 3
"""So many line feeds in a row are layout; more are padding."""
MOST_MARKS = 4
"""So many marks on one letter are writing (Hebrew and Tibetan need them); more are a stack."""

# Nothing but a short cut: what Latin-1 prints, without the backslash, whole words at a time. Wider
# ranges would cost milliseconds when the pattern is compiled.
_COMMON = r"[!-\[\]-~\xa1-\xac\xae-\xff]+"
_WORDS = re.compile(rf"{_COMMON}(?: {_COMMON})*")
_ASCII = r"[!-\[\]-~]+"
_ASCII_WORDS = re.compile(rf"{_ASCII}(?: {_ASCII})*")
_RUN = re.compile(r"(.)\1*", re.DOTALL)


class Piece(NamedTuple):
    """A stretch of the input, as it is shown. Plain words may be split further, nothing else."""

    shown: str
    taken: int
    kind: FindingKind | None = None

    def is_verbatim(self) -> bool:
        """Whether the input stands in the output as it came."""
        is_shown_kind = self.kind is None or self.kind is FindingKind.RIGHT_TO_LEFT
        return is_shown_kind and len(self.shown) == self.taken

    def atoms(self, *, backwards: bool = False) -> "Iterator[Piece]":
        """The smallest parts that may be separated by a line break or an omission."""
        if len(self.shown) > 1 and self.is_verbatim() and not is_mark(self.shown[-1]):
            return (Piece(char, 1) for char in (reversed(self.shown) if backwards else self.shown))
        return iter((self,))


def cut(
    text: str,
    *,
    widest_gap: int = WIDEST_GAP,
    keep_lines: bool = False,
    only_ascii: bool = False,
) -> list[Piece]:
    """The pieces of `text`; with `keep_lines`, single line feeds stay what they are.

    With `only_ascii`, every other letter is an escape too, one for each.
    """
    return _Scanner(
        text, widest_gap=widest_gap, keep_lines=keep_lines, only_ascii=only_ascii
    ).pieces()


def joined(pieces: Iterable[Piece]) -> str:
    """What a reader sees."""
    return "".join(piece.shown for piece in pieces)


def left_out(count: int) -> str:
    """What stands where `count` characters are missing."""
    return f"\\u{{{count} left out}}"


class _Scanner:
    """Cuts a text into what is shown as it came and what is shown as an escape."""

    def __init__(self, text: str, *, widest_gap: int, keep_lines: bool, only_ascii: bool) -> None:
        self._text = text
        self._only_ascii = only_ascii
        self._widest_gap = widest_gap
        self._keep_lines = keep_lines
        self._at = 0
        self._pieces: list[Piece] = []

    def pieces(self) -> list[Piece]:
        """All of them, in order."""
        text = self._text
        plain = _ASCII_WORDS if self._only_ascii else _WORDS
        while self._at < len(text):
            char = text[self._at]
            if words := plain.match(text, self._at):
                self._show(words[0])
            elif char == " ":
                self._spaces(self._run())
            elif char == "\\":
                self._backslashes(self._run())
            elif char == "\n":
                self._line_feeds(self._run())
            elif not is_shown(char):
                self._hidden(char)
            elif self._only_ascii:
                self._escape(char, 1, FindingKind.FOREIGN)
            elif is_mark(char):
                self._mark(char)
            else:
                self._show(char, FindingKind.RIGHT_TO_LEFT if is_right_to_left(char) else None)
        return self._pieces

    def _run(self) -> int:
        """How many times the character at hand is repeated."""
        if not self._text.startswith(self._text[self._at], self._at + 1):
            return 1
        run = _RUN.match(self._text, self._at)
        return run.end() - self._at if run else 1

    def _show(self, text: str, kind: FindingKind | None = None) -> None:
        self._pieces.append(Piece(text, len(text), kind))
        self._at += len(text)

    def _escape(self, char: str, count: int, kind: FindingKind) -> None:
        last = self._pieces[-1] if self._pieces else None
        if last and last.is_verbatim() and last.shown[-1] == "\\":
            self._pieces[-1:] = [Piece("\\\\", 1)] * last.taken
        self._pieces.append(Piece(_escaped(char, count, kind), count, kind))
        self._at += count

    def _spaces(self, count: int) -> None:
        end = self._at + count
        after = self._text[end : end + 1]
        at_edge = not after or (after == "\n" if self._keep_lines else self._at == 0)
        if at_edge or count > self._widest_gap:
            self._escape(" ", count, FindingKind.PADDING)
        else:
            self._show(" " * count)

    def _backslashes(self, count: int) -> None:
        end = self._at + count
        if self._text.startswith(("u{", "x{"), end):
            opening = self._text[end : end + 2]  # kept with its backslash, which it explains
            self._pieces += [Piece("\\\\", 1, FindingKind.ESCAPE_LOOKALIKE)] * (count - 1)
            self._pieces.append(Piece("\\\\" + opening, 3, FindingKind.ESCAPE_LOOKALIKE))
            self._at = end + 2
        else:
            self._show("\\" * count)

    def _line_feeds(self, count: int) -> None:
        if count > MOST_LINE_FEEDS:
            self._escape("\n", count, FindingKind.PADDING)
        elif self._keep_lines:
            self._pieces += [Piece("\n", 1, FindingKind.LAYOUT)] * count
            self._at += count
        else:
            self._escape("\n", count, FindingKind.LAYOUT)

    def _hidden(self, char: str) -> None:
        kind = kind_of_hidden(char)
        count = self._run()
        if char == "\r" and count == 1 and self._text.startswith("\n", self._at + 1):
            kind = FindingKind.LAYOUT
        self._escape(char, count, kind)

    def _mark(self, mark: str) -> None:
        """A mark joins the letter it is drawn on, so that the two are never torn apart."""
        last = self._pieces[-1] if self._pieces else None
        if last is None or not last.is_verbatim():
            self._escape(mark, self._run(), FindingKind.COMBINING_STACK)
            return
        text = last.shown
        before, letter = ("", text) if is_mark(text[-1]) else (text[:-1], text[-1])
        if len(letter) > MOST_MARKS or not may_carry(letter[0], mark):
            self._escape(mark, self._run(), FindingKind.COMBINING_STACK)
            return
        self._pieces.pop()
        if before:
            self._pieces.append(Piece(before, len(before)))
        self._pieces.append(Piece(letter + mark, len(letter) + 1, last.kind))
        self._at += 1


def _escaped(char: str, count: int, kind: FindingKind) -> str:
    if kind is FindingKind.UNDECODABLE_BYTE:
        what = f"x{{{ord(char) - 0xDC00:x}"
    else:
        what = f"u{{{ord(char):x}"
    return f"\\{what}*{count}}}" if count > 1 else f"\\{what}}}"
