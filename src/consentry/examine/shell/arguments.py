"""The words of a command line, told apart: options with their values, and operands."""

import re
from typing import Final

from consentry.base.values import dataclass, field
from consentry.examine.shell.commandtable import CommandRow
from consentry.examine.shell.words import COMPUTED, Word

_NO_VALUE: Final = ("flag", "value?")
_LETTERS: Final = re.compile(r"-[A-Za-z0-9#?]")


@dataclass(slots=True)
class Arguments:
    """What a program was given."""

    options: list[tuple[str, Word | None]] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    has_unknown_option: bool = False

    def has(self, names: tuple[str, ...] | frozenset[str]) -> bool:
        """Whether one of these options is given."""
        return any(name in names for name, _ in self.options)


def tell_apart(row: CommandRow, words: list[Word]) -> Arguments:
    """Options and operands of the words behind the name of a program."""
    told = Arguments()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        text = word.text
        if row.bundled and at == 1 and word.is_whole and re.fullmatch(r"[A-Za-z]+", text):
            text = f"-{text}"
        if text == "--" and word.is_whole:
            told.operands += words[at:]
            break
        if not text.startswith("-") or text == "-":
            told.operands.append(word)
            if row.stops:
                told.operands += words[at:]
                break
            continue
        at = _option(row, told, Word(text, word.is_whole), words, at)
    return told


def _option(row: CommandRow, told: Arguments, word: Word, words: list[Word], at: int) -> int:
    """Takes one word of options; the place of the next word."""
    name, equals, value = word.text.partition("=")
    if word.text.startswith("--") or row.words or name in row.options:
        kind = row.options.get(name)
        if equals:
            told.options.append((name, Word(value, word.is_whole)))
        elif kind is None or kind in _NO_VALUE or not word.is_whole:
            told.has_unknown_option |= kind is None
            told.options.append((name, None))
        else:
            told.options.append((name, words[at] if at < len(words) else COMPUTED))
            return at + 1
        return at
    letters = word.text[1:]
    for place, letter in enumerate(letters):
        option = f"-{letter}"
        kind = row.options.get(option)
        if kind is None or kind in _NO_VALUE:
            told.has_unknown_option |= kind is None and _LETTERS.fullmatch(option) is not None
            told.options.append((option, None))
            if kind == "value?":
                return at
            continue
        rest = letters[place + 1 :]
        if rest or not word.is_whole:
            told.options.append((option, Word(rest, word.is_whole)))
            return at
        told.options.append((option, words[at] if at < len(words) else COMPUTED))
        return at + 1
    return at
