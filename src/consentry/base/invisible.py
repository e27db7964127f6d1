"""Which characters a reader cannot see, or cannot see truly, and why.

The rule is an allow list with exceptions: a character is shown when Python's Unicode tables call it
printable (letters, marks, numbers, punctuation, symbols and U+0020) and it is not in the table of
invisible characters below. Everything else has a kind. New invisible characters of later Unicode
versions are therefore escaped until this Python knows them as printable.

It does not judge likeness: a Cyrillic letter that looks like a Latin one is an ordinary letter here.
"""

from enum import StrEnum
from unicodedata import bidirectional, category


class FindingKind(StrEnum):
    """Why a piece of text is worth a second look."""

    ANSI = "ansi"
    """ESC, and the eight-bit controls that open or close a terminal command."""
    CONTROL = "control"
    """Every other C0 or C1 control, and DEL."""
    LAYOUT = "layout"
    """Line feeds (with their carriage return) and tabs: ordinary in a text, odd in a name."""
    BIDI = "bidi"
    """Marks, embeddings, overrides and isolates that reorder what is read."""
    RIGHT_TO_LEFT = "right-to-left"
    """Letters written from right to left: shown as they are, but neighbours may change places."""
    ZERO_WIDTH = "zero-width"
    TAG = "tag"
    VARIATION_SELECTOR = "variation-selector"
    INVISIBLE = "invisible"
    """Other characters that draw nothing: fillers, blanks, soft hyphen, annotations."""
    ODD_SPACE = "odd-space"
    """Spaces other than U+0020, and the line and paragraph separators."""
    PRIVATE_USE = "private-use"
    UNASSIGNED = "unassigned"
    """Not a character in this Python's Unicode version; noncharacters too."""
    SURROGATE = "surrogate"
    UNDECODABLE_BYTE = "undecodable-byte"
    PADDING = "padding"
    """Spaces at an edge, a long run of spaces, or a long run of line feeds."""
    COMBINING_STACK = "combining-stack"
    """Marks or Hangul vowels and finals piled on one letter, or with no letter to sit on."""
    ESCAPE_LOOKALIKE = "escape-lookalike"
    """Typed text that reads like one of our own escapes."""
    FOREIGN = "foreign"
    """A letter that is no ASCII, where only ASCII can be shown; never found otherwise."""


def _table(*ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(chr(point) for first, last in ranges for point in range(first, last + 1))


_TERMINAL_COMMANDS = frozenset("\x1b\x90\x98\x9b\x9c\x9d\x9e\x9f")
"""ESC, DCS, SOS, CSI, ST, OSC, PM, APC."""

_BIDI = _table((0x061C, 0x061C), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069))
_ZERO_WIDTH = _table((0x180E, 0x180E), (0x200B, 0x200D), (0x2060, 0x2060), (0xFEFF, 0xFEFF))
_FIRST_TAG, _LAST_TAG = "\U000e0000", "\U000e007f"

# Unicode calls the characters of the next two tables marks, letters or symbols, yet they draw nothing.
_VARIATION_SELECTORS = _table(
    (0x180B, 0x180D),  # Mongolian free variation selectors one to three
    (0x180F, 0x180F),  # Mongolian free variation selector four
    (0xFE00, 0xFE0F),  # variation selectors 1 to 16
    (0xE0100, 0xE01EF),  # variation selectors 17 to 256
)
_BLANKS = _table(
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul choseong and jungseong fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x2800, 0x2800),  # braille pattern blank
    (0x2D7F, 0x2D7F),  # Tifinagh consonant joiner
    (0x303F, 0x303F),  # ideographic half fill space
    (0x3164, 0x3164),  # Hangul filler
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xFFFC, 0xFFFC),  # object replacement character
    (0x1107F, 0x1107F),  # Brahmi number joiner
    (0x11A47, 0x11A47),  # Zanabazar square subjoiner
    (0x11A99, 0x11A99),  # Soyombo subjoiner
    (0x13441, 0x13442),  # Egyptian hieroglyph full and half blank
    (0x16FE4, 0x16FE4),  # Khitan small script filler
    (0x1BC9D, 0x1BC9D),  # Duployan thick letter selector
    (0x1D159, 0x1D159),  # musical symbol null notehead
)

# Letters by category, yet terminals give them no column: they are drawn into the syllable before them.
_CONJOINING = _table(
    (0x1160, 0x11FF),  # Hangul vowels and final consonants
    (0xD7B0, 0xD7C6),  # old vowels
    (0xD7CB, 0xD7FB),  # old final consonants
)
_HANGUL_BASES = (("\u1100", "\u115e"), ("\ua960", "\ua97c"), ("\uac00", "\ud7a3"))

_BY_TABLE = {
    **dict.fromkeys(_TERMINAL_COMMANDS, FindingKind.ANSI),
    **dict.fromkeys("\t\n", FindingKind.LAYOUT),
    **dict.fromkeys(_BIDI, FindingKind.BIDI),
    **dict.fromkeys(_ZERO_WIDTH, FindingKind.ZERO_WIDTH),
    **dict.fromkeys(_VARIATION_SELECTORS, FindingKind.VARIATION_SELECTOR),
    **dict.fromkeys(_BLANKS, FindingKind.INVISIBLE),
}
_BY_CATEGORY = {
    "Cc": FindingKind.CONTROL,
    "Cf": FindingKind.INVISIBLE,
    "Cn": FindingKind.UNASSIGNED,
    "Co": FindingKind.PRIVATE_USE,
    "Cs": FindingKind.SURROGATE,
    "Zl": FindingKind.ODD_SPACE,
    "Zp": FindingKind.ODD_SPACE,
    "Zs": FindingKind.ODD_SPACE,
}


def is_shown(char: str) -> bool:
    """Whether `char` may stand in the output as it is."""
    return char.isprintable() and char not in _BY_TABLE


def kind_of_hidden(char: str) -> FindingKind:
    """Why a character that is not shown is not shown."""
    if _FIRST_TAG <= char <= _LAST_TAG:
        return FindingKind.TAG
    if "\udc80" <= char <= "\udcff":  # what Python's `surrogateescape` makes of a stray byte
        return FindingKind.UNDECODABLE_BYTE
    return _BY_TABLE.get(char) or _BY_CATEGORY.get(category(char), FindingKind.INVISIBLE)


def is_mark(char: str) -> bool:
    """Whether `char` is drawn onto the character before it."""
    return char >= "\u0300" and (category(char)[0] == "M" or char in _CONJOINING)


def may_carry(base: str, mark: str) -> bool:
    """Whether `mark` belongs on `base`: a letter or number, and one of its kind.

    A Latin one carries only Latin marks; a Hangul vowel or final needs a Hangul syllable.
    """
    if mark in _CONJOINING:
        return any(first <= base <= last for first, last in _HANGUL_BASES)
    return base.isalnum() and (base >= "\u0300" or "\u0300" <= mark <= "\u036f")


def is_right_to_left(char: str) -> bool:
    """Whether `char` is a letter of a script written from right to left."""
    return char >= "\u0590" and bidirectional(char) in {"R", "AL"}
