"""What a command does: a program that is started, and what it makes of its words.

Commands of the shell itself are no programs; those that run code or other commands are looked into.
So are programs whose words are a command again (`sudo`, `env`, `xargs`, `find -exec`).
"""

import re
from typing import TYPE_CHECKING, Final

from consentry.examine.atoms import ANYTHING, connecting, seeing
from consentry.examine.constanttargets import program_atom
from consentry.examine.javascript.effects import bare_atoms
from consentry.examine.shell.arguments import Arguments, tell_apart
from consentry.examine.shell.code import Code
from consentry.examine.shell.commandtable import CommandRow, command_row, shell_words
from consentry.examine.shell.findings import Findings
from consentry.examine.shell.operands import Operands
from consentry.examine.shell.places import Place
from consentry.examine.shell.words import COMPUTED, Word

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_WRAPPED: Final = 16
"""So many programs may start each other on one line."""

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_STANDARD_INPUT: Final = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_FROM_INPUT: Final = "-s"
_RUNS_REST: Final = frozenset({"builtin", "coproc", "noglob", "nocorrect", "-"})
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_WRITES: Final = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})


class Running:
    """Adds what commands do to the findings of a script."""

    def __init__(self, findings: Findings, code: Code) -> None:
        self._findings = findings
        self._code = code
        self._operands = Operands(findings, code, self.run)
        self._special: dict[str, Callable[[list[Word], Place], None]] = {
            "eval": self._eval,
            "source": self._source,
            ".": self._source,
            "trap": self._trap,
            "alias": self._alias,
            "enable": self._enable,
            "hash": self._hash,
            "set": self._shown,
            "declare": self._shown,
            "typeset": self._shown,
            "test": self.tested,
            "[": self.tested,
        }

    def run(self, words: list[Word], place: Place, wrapped: int = 0) -> None:
        """One command, from its first word on."""
        if not words:
            return
        if wrapped > MOST_WRAPPED:
            self._findings.load(place.line, place.reason)
            return
        name = words[0].constant
        if name is None:
            self._start(None, place)
            return
        if not name or (wrapped == 0 and place.is_function(name)):
            return
        if self._builtin(name, words[1:], place, wrapped):
            return
        self._start(name, place)
        row = command_row(name)
        if row is not None:
            self._apply(row, words[1:], place, wrapped)

    def _start(self, name: str | None, place: Place) -> None:
        self._findings.power((program_atom(name),), place.line, place.reason)

    # ---- commands of the shell ---------------------------------------------------------------

    def _builtin(self, name: str, words: list[Word], place: Place, wrapped: int) -> bool:
        """Whether the command is one of the shell; what it runs is looked into."""
        special = self._special.get(name)
        if special is not None:
            special(words, place)
        elif name in ("command", "exec"):
            self._run_rest(name, words, place, wrapped)
        elif name in _RUNS_REST:
            self.run(words, place, wrapped + 1)
        else:
            return name in shell_words().builtins
        return True

    def _eval(self, words: list[Word], place: Place) -> None:
        known = [word.text for word in words if word.is_whole]
        whole = Word(" ".join(known)) if len(known) == len(words) else COMPUTED
        if words:
            self._code.text("shell", whole, place.line, place.reason)

    def _source(self, words: list[Word], place: Place) -> None:
        if words:
            self._code.file("shell", words[0], place.line, place.reason)

    def _trap(self, words: list[Word], place: Place) -> None:
        if len(words) > 1 and words[0].text not in ("-", "-p", "-l", ""):
            self._code.text("shell", words[0], place.line, place.reason)
        elif words and not words[0].is_whole:
            self._findings.load(place.line, place.reason)

    def _enable(self, words: list[Word], place: Place) -> None:
        if any(word.text.startswith("-f") for word in words):
            self._findings.load(place.line, place.reason)

    def _hash(self, words: list[Word], place: Place) -> None:
        """`hash -p FILE NAME` makes a name mean that file."""
        if any(not word.is_whole or re.match(r"-\w*p", word.text) for word in words):
            self._start(None, place)

    def _shown(self, words: list[Word], place: Place) -> None:
        if not words:
            self._findings.power((seeing(ANYTHING),), place.line, place.reason)

    def _run_rest(self, name: str, words: list[Word], place: Place, wrapped: int) -> None:
        while words and words[0].text.startswith("-"):
            option = words[0].text
            if name == "command" and ("v" in option.lower()):
                return
            words = words[2 if name == "exec" and option.endswith("a") else 1 :]
        self.run(words, place, wrapped + 1)

    def _alias(self, words: list[Word], place: Place) -> None:
        for word in words:
            _, equals, text = word.text.partition("=")
            if equals:
                self._code.text("shell", Word(text, word.is_whole), place.line, place.reason)

    def tested(self, words: list[Word], place: Place) -> None:
        """Files that a test looks at."""
        self._operands.tested(words, place)

    # ---- programs ----------------------------------------------------------------------------

    def _apply(self, row: CommandRow, words: list[Word], place: Place, wrapped: int) -> None:
        if row.name == "find":
            self._find(words, place, wrapped)
            return
        told = tell_apart(row, words)
        self._findings.power(bare_atoms(row.effects), place.line, place.reason)
        targets = self._options(row, told, place)
        first = told.operands[0] if told.operands else None
        if row.first and first is not None:
            below = row.first.get(first.text) if first.is_whole else None
            if below is not None:
                self._apply(below, told.operands[1:], place, wrapped)
                return
            if not first.is_whole:
                every = [effect for each in row.first.values() for effect in each.effects]
                self._findings.power(bare_atoms(every), place.line, place.reason)
        if not told.operands:
            self._findings.power(bare_atoms(row.alone), place.line, place.reason)
        if row.stops and told.has_unknown_option and "command" in "".join(row.operands):
            self._start(None, place)
        if row.stdin is not None:
            self._standard_input(row, told, place)
        targets |= self._operands.apply(row, told, place, wrapped)
        if row.needs_target and not targets:
            self._findings.power((connecting(),), place.line, place.reason)
        if told.has(row.writes_with) or (row.writes_unless and not told.has(row.writes_unless)):
            self._operands.value("write", COMPUTED, place)

    def _options(self, row: CommandRow, told: Arguments, place: Place) -> bool:
        """What the values of options are; whether one of them names a place of the network."""
        has_target = False
        for name, value in told.options:
            kind = row.options.get(name)
            if kind is not None and value is not None:
                has_target |= self._operands.value(kind, value, place)
        return has_target

    def _standard_input(self, row: CommandRow, told: Arguments, place: Place) -> None:
        """Code that comes in where no file was named."""
        is_named = bool(told.operands) and told.operands[0].text not in _STANDARD_INPUT
        is_told = told.has(row.script_options - {_FROM_INPUT})
        is_asked = _FROM_INPUT in row.script_options and told.has((_FROM_INPUT,))
        if is_told or (is_named and not is_asked):
            return
        text = place.standard_input()
        if text is not None:
            self._code.text(row.stdin or "other", text, place.line, place.reason)

    def _find(self, words: list[Word], place: Place, wrapped: int) -> None:
        folders: list[Word] = []
        at = 0
        while at < len(words) and not words[at].text.startswith(("-", "(", "!")):
            folders.append(words[at])
            at += 1
        folders = folders or [Word(".")]
        for folder in folders:
            self._operands.value("read", folder, place)
        while at < len(words):
            word = words[at]
            at += 1
            if word.text in _FIND_RUNS:
                start = at
                while at < len(words) and words[at].text not in (";", "+"):
                    at += 1
                self.run(words[start:at], place, wrapped + 1)
            elif word.text in _FIND_WRITES and at < len(words):
                self._operands.value("write", words[at], place)
            elif word.text == "-delete":
                for folder in folders:
                    self._operands.value("write", folder, place)

    # ---- assignments -------------------------------------------------------------------------

    def assigned(self, name: str, value: Word, place: Place) -> None:
        """A variable that is set for a program; some make it load code, or name a program."""
        words = shell_words()
        name = name.partition("[")[0]
        if name in _TAKEN_FOR_NAMES:
            self._start(None, place)
        elif name in _PROMPTS and (not value.is_whole or _SUBSTITUTES.search(value.text)):
            self._findings.load(place.line, place.reason)
        if name in words.loading_variables:
            is_setting = name == "NODE_OPTIONS" and value.is_whole and not _LOADS.search(value.text)
            if not is_setting and value != Word(""):
                self._findings.load(place.line, place.reason)
        elif name in words.starting_variables and value != Word(""):
            program = (value.constant or "").split()
            self._findings.power(
                (program_atom(program[0] if program else None),), place.line, place.reason
            )


_TAKEN_FOR_NAMES: Final = frozenset({"BASH_CMDS", "BASH_ALIASES"})
_PROMPTS: Final = frozenset({"PS0", "PS1", "PS2", "PS4"})
_SUBSTITUTES: Final = re.compile(r"\$\(|`")
_LOADS: Final = re.compile(r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)\b")


def assignment_of(word: Word) -> tuple[str, Word] | None:
    """`NAME=value` as a word."""
    if _ASSIGNMENT.match(word.text) is None:
        return None
    name, _, value = word.text.partition("=")
    return name.rstrip("+"), Word(value, word.is_whole)
