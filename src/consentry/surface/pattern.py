r"""One pattern over paths, programs or names: how it is written, and its canonical spelling.

    latex/main.tex      exactly that path, relative to the workspace
    latex/*.tex         `*` and `?` stay within one name, and match names that start with a dot
    latex/**/*.tex      `**` as a whole name is zero or more folders
    latex/              the folder and all below; `latex/**` is the same
    /usr/share/fonts/   absolute; `~/notes/` is below the user's home
    \* \? \\            those characters themselves; `\xNN` is a byte that is not UTF-8
    ABSOLUTE_PATH       the mark for "some absolute path" (GUARD); a file of that name is
                        written ./ABSOLUTE_PATH

Rules kept: bytes are compared, with no folding of case or Unicode; `?` is one character, and a
byte that is not UTF-8 counts as one; `.`, empty names and `..` are removed lexically, and a `..`
that leaves is refused; `parse(str(p)) == p`. Links are never
resolved here: whoever binds a pattern to a real tree does that once, before.

Patterns with different anchors never match the same thing: whether `/home/u/ws/a` is `a` in the
workspace is known only to the caller that binds both.
"""

import re
from enum import Enum, StrEnum
from typing import Literal, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass

ABSOLUTE_PATH_MARK = "ABSOLUTE_PATH"
MOST_CHARACTERS = 4096  # PATH_MAX: nothing longer can be opened


class Anchor(StrEnum):
    """What a pattern is relative to. Two anchors never meet."""

    WORKSPACE = "workspace"
    ABSOLUTE = "absolute"
    HOME = "home"
    COMMAND = "command"
    NAME = "name"
    MARK = "mark"


class Vocabulary(StrEnum):
    """What the pattern is about, which decides how a spelling without `/` is read."""

    PATH = "path"
    COMMAND = "command"
    NAME = "name"


class Wildcard(Enum):
    """The three wildcards."""

    ONE = "?"
    MANY = "*"
    FOLDERS = "**"


Part: TypeAlias = str | Wildcard
Wild: TypeAlias = tuple[Part, ...]
Segment: TypeAlias = str | Wild | Literal[Wildcard.FOLDERS]
"""A literal name, a name with wildcards in it, or `FOLDERS`."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A parsed pattern; equal when spelled the same, which is narrower than matching the same."""

    vocabulary: Vocabulary
    anchor: Anchor
    segments: tuple[Segment, ...]
    text: str
    prefix: tuple[str, ...]
    """The leading literal names; what follows them, if anything, begins with a wildcard."""

    @classmethod
    def parse(cls, text: str, vocabulary: Vocabulary = Vocabulary.PATH) -> "Pattern":
        """Reads a pattern; raises `surface-pattern` or `surface-pattern-leaves`."""
        _check_characters(text)
        if vocabulary is Vocabulary.NAME:
            return cls._made(vocabulary, Anchor.NAME, (_read_name(text),))
        if vocabulary is Vocabulary.PATH and text == ABSOLUTE_PATH_MARK:
            return cls._made(vocabulary, Anchor.MARK, (ABSOLUTE_PATH_MARK,))
        anchor, rest = _split_anchor(text, vocabulary)
        if anchor is Anchor.COMMAND:
            return cls._made(vocabulary, anchor, (_read_name(rest),))
        segments = _read_segments(text, rest)
        if vocabulary is Vocabulary.COMMAND and not segments:
            raise BadInput(Code.SURFACE_PATTERN, f"`{text}` is a folder and names no program")
        return cls._made(vocabulary, anchor, segments)

    @classmethod
    def literal(
        cls,
        anchor: Anchor,
        names: tuple[str, ...],
        *,
        and_below: Literal[Wildcard.FOLDERS] | None = None,
    ) -> "Pattern":
        """A path pattern for exactly these names, wildcards in them taken literally."""
        for name in names:
            if name in ("", ".", "..") or "/" in name or "\0" in name:
                raise BadInput(Code.SURFACE_PATTERN, f"`{name}` is not the name of a file")
        segments: tuple[Segment, ...] = names
        if and_below is not None:
            segments = (*names, and_below)
        return cls._made(Vocabulary.PATH, anchor, segments)

    @classmethod
    def _made(
        cls, vocabulary: Vocabulary, anchor: Anchor, segments: tuple[Segment, ...]
    ) -> "Pattern":
        prefix: list[str] = []
        for segment in segments:
            if not isinstance(segment, str):
                break
            prefix.append(segment)
        text = _spell(vocabulary, anchor, segments)
        _check_length(text)
        return cls(vocabulary, anchor, segments, text, tuple(prefix))

    def spelled_like(self, names: tuple[str, ...]) -> str:
        """How a path of these names would be spelled under this anchor, however long it is."""
        return _spell(self.vocabulary, self.anchor, names)

    def with_segments(self, segments: tuple[Segment, ...]) -> "Pattern":
        """The same anchor with other segments."""
        return Pattern._made(self.vocabulary, self.anchor, segments)

    @property
    def is_literal(self) -> bool:
        """Whether it matches exactly one thing."""
        return len(self.prefix) == len(self.segments)

    @property
    def is_tree(self) -> bool:
        """Whether it is a folder of literal names and all below it."""
        return len(self.segments) == len(self.prefix) + 1 and self.segments[-1] is Wildcard.FOLDERS

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pattern):
            return NotImplemented
        return self.text == other.text and self.vocabulary is other.vocabulary

    def __hash__(self) -> int:
        return hash(self.text)


def parts_of(segment: Segment) -> tuple[Part, ...]:
    """The literal runs and wildcards of one segment."""
    return segment if isinstance(segment, tuple) else (segment,)


def _check_characters(text: str) -> None:
    if not text:
        raise BadInput(Code.SURFACE_PATTERN, "an empty pattern matches nothing and is refused")
    _check_length(text)
    if "\0" in text:
        raise BadInput(Code.SURFACE_PATTERN, f"`{text}` contains a NUL byte, which no path can")


def _check_length(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise BadInput(
            Code.SURFACE_PATTERN, f"a pattern has more than {MOST_CHARACTERS} characters"
        )


def _split_anchor(text: str, vocabulary: Vocabulary) -> tuple[Anchor, str]:
    if text.startswith("/"):
        return Anchor.ABSOLUTE, text[1:] or "./"
    if text == "~" or text.startswith("~/"):
        return Anchor.HOME, text[2:] or ("." if text == "~" else "./")
    if text.startswith("~"):
        raise BadInput(
            Code.SURFACE_PATTERN,
            f"`{text}` begins with another user's home",
            help_line=f"write the absolute path, or `./{text}` for a file of that name",
        )
    if vocabulary is Vocabulary.COMMAND and "/" not in text:
        return Anchor.COMMAND, text
    return Anchor.WORKSPACE, text


def _read_name(text: str) -> Segment:
    if "/" in text or "=" in text:
        raise BadInput(Code.SURFACE_PATTERN, f"`{text}` is a name and cannot contain `/` or `=`")
    if text in (".", ".."):
        raise BadInput(Code.SURFACE_PATTERN, f"`{text}` names no program")
    segment = _read_segment(text, text)
    # In a single name there are no folders to span.
    return (Wildcard.MANY,) if segment is Wildcard.FOLDERS else segment


def _read_segments(text: str, rest: str) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    for raw in rest.split("/"):
        if raw in ("", "."):
            continue
        if raw == "..":
            _climb(text, segments)
            continue
        segment = _read_segment(text, raw)
        if segment is Wildcard.FOLDERS and segments and segments[-1] is Wildcard.FOLDERS:
            continue
        segments.append(segment)
    if rest.endswith("/") and not (segments and segments[-1] is Wildcard.FOLDERS):
        segments.append(Wildcard.FOLDERS)
    return tuple(segments)


def _climb(text: str, segments: list[Segment]) -> None:
    if not segments:
        raise BadInput(Code.SURFACE_PATTERN_LEAVES, f"`{text}` leaves the folder it is relative to")
    if segments[-1] is Wildcard.FOLDERS:
        raise BadInput(
            Code.SURFACE_PATTERN,
            f"`{text}` has `..` after `**`, which has no single meaning",
            help_line="write the folder it should end in",
        )
    segments.pop()


_PIECE = re.compile(r"\\x[0-9A-Fa-f]{2}|\\.|[*?]|[^\\*?]+|\\", re.DOTALL)


def _read_segment(text: str, raw: str) -> Segment:
    """A name between two slashes: literal, wild, or `FOLDERS` when it is exactly `**`."""
    if raw == "**":
        return Wildcard.FOLDERS
    pieces: list[bytes | Wildcard] = []
    for piece in _PIECE.findall(raw):
        if piece in ("*", "?"):
            pieces.append(Wildcard(piece))
            continue
        content = _literal_bytes(text, piece)
        if pieces and isinstance(pieces[-1], bytes):
            pieces[-1] += content
        else:
            pieces.append(content)
    parts = _with_wildcards_in_order(pieces)
    if len(parts) == 1 and isinstance(parts[0], str):
        return parts[0]
    # A name is never empty and never `.`, so these two need no `?` to say so.
    if parts[-2:] == [Wildcard.ONE, Wildcard.MANY] and parts[:-2] in ([], ["."]):
        parts.pop(-2)
    return tuple(parts)


def _literal_bytes(text: str, piece: str) -> bytes:
    try:
        if not piece.startswith("\\"):
            return piece.encode("utf-8", "surrogateescape")
        if piece in ("\\*", "\\?", "\\\\"):
            return piece[1:].encode()
        if piece.startswith("\\x") and bytes.fromhex(piece[2:]) >= b"\x80":
            return bytes.fromhex(piece[2:])
    except UnicodeEncodeError:
        raise BadInput(
            Code.SURFACE_PATTERN, f"`{text}` contains half of a surrogate pair, which no path can"
        ) from None
    raise BadInput(Code.SURFACE_PATTERN, f"`{text}` has a stray backslash at `{piece}`")


def _with_wildcards_in_order(pieces: list[bytes | Wildcard]) -> list[Part]:
    """Runs of wildcards in one spelling: all `?` first, then at most one `*`."""
    parts: list[Part] = []
    ones, many = 0, False
    for piece in [*pieces, b""]:
        if isinstance(piece, Wildcard):
            ones += piece is Wildcard.ONE
            many |= piece is Wildcard.MANY
            continue
        parts.extend([Wildcard.ONE] * ones)
        if many:
            parts.append(Wildcard.MANY)
        ones, many = 0, False
        if piece:
            parts.append(piece.decode("utf-8", "surrogateescape"))
    return parts


def _spell(vocabulary: Vocabulary, anchor: Anchor, segments: tuple[Segment, ...]) -> str:
    """The canonical spelling, from which `parse` makes the same pattern again."""
    if anchor is Anchor.MARK:
        return ABSOLUTE_PATH_MARK
    tree = bool(segments) and segments[-1] is Wildcard.FOLDERS
    names = [_spell_segment(segment) for segment in (segments[:-1] if tree else segments)]
    body = "/".join(names) + ("/" if tree and names else "")
    if anchor in (Anchor.COMMAND, Anchor.NAME):
        return body
    if anchor is Anchor.ABSOLUTE:
        return f"/{body}" if names or tree else "/."
    if anchor is Anchor.HOME:
        return f"~/{body}" if names or tree else "~"
    if not names:
        return "./" if tree else "."
    bare_word = vocabulary is Vocabulary.COMMAND and "/" not in body
    needs_dot = bare_word or body.startswith("~") or body == ABSOLUTE_PATH_MARK
    return f"./{body}" if needs_dot else body


_NEEDS_ESCAPE = re.compile(r"[*?\\\udc80-\udcff]")


def _spell_segment(segment: Segment) -> str:
    return "".join(
        _NEEDS_ESCAPE.sub(_escape, part) if isinstance(part, str) else part.value
        for part in parts_of(segment)
    )


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    byte = ord(character) - 0xDC00
    return f"\\x{byte:02x}" if byte >= 0 else f"\\{character}"
