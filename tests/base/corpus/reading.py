"""How a person reads safe text back, and what must never be in it: for tests, apart from the code."""

import re
import unicodedata

# Written down here a second time on purpose: the tests must not trust the tables they test.
NEVER_SHOWN = {
    *map(
        chr, [*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5]
    ),
    *map(chr, [*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x2028, 0x202F)]),
    *map(chr, [*range(0x2060, 0x2070), 0x2800, 0x3164, 0xFEFF, 0xFFA0, *range(0xFE00, 0xFE10)]),
    *map(chr, [*range(0xFFF0, 0xFFFD), *range(0xE0000, 0xE1000), *range(0xD800, 0xE000)]),
}
HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}


def read_back(shown: str) -> str:
    """The text that a rendering stands for, by the rule the documentation gives to people."""
    text, at = "", 0
    while opening := re.compile(r"(\\+)([ux])\{").search(shown, at):
        backslashes = len(opening[1])
        text += shown[at : opening.start()] + "\\" * (backslashes // 2)
        at = opening.end(1)
        if backslashes % 2:
            escape = re.compile(r"([0-9a-f]+)(?:\*([0-9]+))?\}").match(shown, opening.end())
            assert escape, shown
            point = int(escape[1], 16) + (0xDC00 if opening[2] == "x" else 0)
            text += chr(point) * int(escape[2] or 1)
            at = escape.end()
    return text + shown[at:]


def read_back_block(shown: str) -> str:
    """The text inside a frame."""
    body = ""
    for row in shown.split("\n")[1:-1]:
        body += ("\n" if row[0] == "│" else "") + row[2:]
    return read_back(body[1:])


def columns(row: str) -> int:
    """What a terminal needs for `row`."""
    return sum(2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1 for char in row)


def assert_harmless(shown: str) -> None:
    """Every character is printable and drawn."""
    for char in shown:
        assert char.isprintable(), ascii(char)
        assert char not in NEVER_SHOWN, ascii(char)
        assert char == " " or unicodedata.category(char) not in HIDDEN_CATEGORIES, ascii(char)
