"""Words of the shell as far as they are constant: quotes and escapes undone, variables filled in.

A word that is not known to its end has the part that is, which is enough to tell where a path leads
or which host an address names. `~` and `$HOME` are written `~`. The folder of the script itself and
the current folder, in the spellings that scripts have for them, are `.`.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from consentry.examine.syntaxtree import Syntax

MOST_TEXT: Final = 64 * 1024
MOST_NESTED: Final = 16

_GLOB: Final = re.compile(r"[*?\[{]")
_ESCAPED: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES: Final = re.compile(r'\\([$`"\\\n])')
_ANSI: Final = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b"}
_SELF: Final = (
    r"(?:\$0|\$\{0\}|\$\{?BASH_SOURCE(?:\[0\])?\}?|\$\{BASH_SOURCE\[0\]:-\$0\}|\$\{\(%\):-%x\})"
)
_FOLDER: Final = (
    rf"(?:\$\(dirname(?:--)?{_SELF}\)|\$\{{0%/\*\}}|\$\{{BASH_SOURCE(?:\[0\])?%/\*\}}|\.)"
)
_HERE: Final = re.compile(
    rf"{_FOLDER}|\$\((?:cd(?:--)?(?:-P)?{_FOLDER}(?:>/dev/null)?(?:2>&1)?&&)?pwd(?:-P)?\)"
    rf"|\$\(dirname(?:--)?\$\((?:readlink(?:-f)?|realpath){_SELF}\)\)"
    r"|\$\(gitrev-parse--show-toplevel\)"
)


class Word(NamedTuple):
    """A word; `text` is all of it, or its beginning when it is not whole."""

    text: str
    is_whole: bool = True
    tail: str = ""
    """How a word ends that is not whole."""

    template: str | None = None
    """A word that is not whole for variables alone, with an argument in place of each."""

    outline: str = ""
    """A word that is not whole, with an argument in place of each part that is computed."""

    @property
    def constant(self) -> str | None:
        """The text; None when a part is computed."""
        return self.text if self.is_whole else None


COMPUTED: Final = Word("", is_whole=False)
ARGUMENT: Final = "$1"
"""Stands for a variable in code whose words it is among."""

PIPE: Final = "/dev/fd/"
"""Where what another command writes is read from."""

Lookup = Callable[[Syntax, str], Word]


def read_word(node: Syntax, lookup: Lookup, nested: int = 0) -> Word:
    """The word that a node stands for; `lookup` answers for variables."""
    read = _BY_KIND.get(node.kind)
    return COMPUTED if read is None else read(node, lookup, nested)


def _together(node: Syntax, lookup: Lookup, nested: int) -> Word:
    if nested > MOST_NESTED:
        return COMPUTED
    parts = [read_word(child, lookup, nested + 1) for child in node.children]
    word = joined(parts)
    if word.is_whole:
        return word
    last = parts[-1]
    outline = "".join(part.text if part.is_whole else part.outline or ARGUMENT for part in parts)
    return word._replace(
        tail=last.text if last.is_whole else last.tail, outline=outline[:MOST_TEXT]
    )


def joined(parts: list[Word]) -> Word:
    """The parts as one word, up to the first that is not whole."""
    text = ""
    for part in parts:
        text += part.text
        if not part.is_whole or len(text) > MOST_TEXT:
            return Word(text[:MOST_TEXT], is_whole=False)
    return Word(text)


def _plain(text: str) -> Word:
    bare = _ESCAPED.sub("", text)
    if _GLOB.search(bare):
        start = re.match(r"(?:\\.|[^*?\[{\\])*", text, re.DOTALL)
        return Word(_ESCAPED.sub(_unescaped, start[0] if start else ""), is_whole=False)
    return Word(_ESCAPED.sub(_unescaped, text))


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _ansi(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        number = int(code, 16)
        return chr(number) if number < 0x110000 else "\ufffd"  # noqa: PLR2004 - the last of Unicode
    if found[4]:
        return chr(int(found[4], 8))
    return _ANSI_LETTERS.get(found[5], found[5])


def _quoted(node: Syntax, lookup: Lookup, nested: int) -> Word:
    if nested > MOST_NESTED:
        return COMPUTED
    start = node.start + (2 if node.source[node.start : node.start + 1] == b"$" else 1)
    parts: list[Word] = []
    template = ""
    is_filled = True
    for child in node.children:
        if child.kind == "string_content":
            continue
        before = _between(node, start, child.start)
        filled = read_word(child, lookup, nested + 1)
        is_filled &= filled.is_whole or child.kind in ("simple_expansion", "expansion")
        template += before.text + (filled.text if filled.is_whole else ARGUMENT)
        parts += [before, filled]
        start = child.end
    after = _between(node, start, node.end - 1)
    word = joined([*parts, after])
    if word.is_whole:
        return word
    template += after.text
    return word._replace(
        tail=after.text,
        template=template if is_filled else None,
        outline=template[:MOST_TEXT],
    )


def _between(node: Syntax, start: int, end: int) -> Word:
    text = node.source[start:end].decode("utf-8", "replace")
    return Word(_ESCAPED_IN_QUOTES.sub(_unescaped, text))


def _expanded(node: Syntax, lookup: Lookup) -> Word:
    if _HERE.fullmatch(_squeezed(node)):
        return Word(".")
    names = [child for child in node.children if child.kind == "variable_name"]
    is_simple = len(node.children) == 1 and len(names) == 1
    text = node.text
    if not is_simple or text.startswith(("${!", "${#")):
        return COMPUTED
    return lookup(node, names[0].text)


def _substituted(node: Syntax) -> Word:
    if node.end - node.start < 200 and _HERE.fullmatch(_squeezed(node)):  # noqa: PLR2004
        return Word(".")
    return COMPUTED


def _squeezed(node: Syntax) -> str:
    return re.sub(r'["\s]', "", node.text)


Reader = Callable[[Syntax, Lookup, int], Word]
_UNQUOTED: Final = ("word", "extglob_pattern", "variable_name", "test_operator", "regex")
_BY_KIND: Final[dict[str, Reader]] = {
    **dict.fromkeys(_UNQUOTED, lambda node, _, __: _plain(node.text)),
    "number": lambda node, _, __: Word(node.text),
    "file_descriptor": lambda node, _, __: Word(node.text),
    "raw_string": lambda node, _, __: Word(node.text[1:-1]),
    "ansi_c_string": lambda node, _, __: Word(_ANSI.sub(_ansi, node.text[2:-1])),
    "string": _quoted,
    "translated_string": _quoted,
    "simple_expansion": lambda node, lookup, _: _expanded(node, lookup),
    "expansion": lambda node, lookup, _: _expanded(node, lookup),
    "command_substitution": lambda node, _, __: _substituted(node),
    "process_substitution": lambda _, __, ___: Word(PIPE, is_whole=False),
    "concatenation": _together,
    "command_name": _together,
}
