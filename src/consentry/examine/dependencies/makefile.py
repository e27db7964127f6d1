"""Makefiles: recipes, and commands that run while the file is read.

A variable that is set once to a constant is filled in; one that the file does not set comes from the
environment; what functions of make give is computed. Recipes are read as scripts, line by line.
"""

import re
from collections.abc import Iterator
from typing import Final

from consentry.examine.dependencies.codeparts import add_script, add_words
from consentry.examine.dependencies.findings import COMPUTED_WORD, Findings, reader
from consentry.examine.dependencies.packages import add_reference

_ASSIGNMENT: Final = re.compile(
    r"(?:override |export |define )*\s*([\w.-]+)\s*(:::?=|::?=|\?=|\+=|!=|=)\s*(.*)", re.DOTALL
)
_RULE: Final = re.compile(r"[^\t#=:][^=:]*::?(?!=)")
_SIMPLE: Final = re.compile(
    r"\$(?:\(([\w.-]+)\)|\{([\w.-]+)\}|([@<^?*+|%]|\([@<^?*+|%][DF]\)|[A-Za-z]))"
)
_CALLED: Final = re.compile(r"\$[({](?:shell|eval|call|foreach|file)\s")
_INCLUDED: Final = re.compile(r"[-s]?include\s+(.*)")
_MADE: Final = {"MAKE": "make", "RM": "rm -f", "CC": "cc", "CXX": "g++", "AR": "ar", "CPP": "cc -E", "LD": "ld", "AS": "as", "INSTALL": "install", "MAKEFLAGS": "", "CURDIR": ".", "SHELL": "sh", "LEX": "lex", "YACC": "yacc", "FC": "f77", "MAKECMDGOALS": COMPUTED_WORD, "MAKEFILE_LIST": COMPUTED_WORD}  # fmt: skip
_MOST_ROUNDS: Final = 8
_MOST_VALUE: Final = 512
_MOST_FILLED_IN: Final = 64 << 20


class _Variables:
    """Names with their values, and how much may still be filled in."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values
        self._left = _MOST_FILLED_IN

    def take(self, characters: int) -> None:
        """Counts what was filled in; raises `ValueError` where it is too much."""
        self._left -= characters
        if self._left < 0:
            raise ValueError("its variables expand to too much")


@reader
def extract_makefile(text: str, findings: Findings) -> None:
    """Reads `Makefile`, `GNUmakefile` and `*.mk`."""
    lines = list(_logical_lines(text))
    variables = _variables(lines)
    shell = variables.values["SHELL"]
    if not re.search(r"(?:^|/)(?:ba|da|z|k)?sh\b", shell):
        add_words(shell.split(), 1, findings)
    in_rule = in_define = False
    prefix = next((value[:1] for _, name, value in _assigned(lines) if name == ".RECIPEPREFIX"), "")
    for number, line in lines:
        in_define = (in_define or line.startswith("define ")) and not line.startswith("endef")
        if line.startswith("\t") or (prefix and line.startswith(prefix)):
            _add_recipe(line[1:], number, variables, findings)
        elif in_define:
            _add_recipe(line, number, variables, findings)
        else:
            in_rule = bool(_RULE.match(line)) and not _ASSIGNMENT.fullmatch(line)
            _add_other(line, number, variables, findings)
            if in_rule and ";" in line:
                _add_recipe(line.partition(";")[2], number, variables, findings)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    waiting: list[str] = []
    began = 1
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r")
        if not waiting:
            began = number
        waiting.append(line)
        if line.endswith("\\"):
            continue
        yield began, "\n".join(waiting)
        waiting = []
    if waiting:
        yield began, "\n".join(waiting)


def _assigned(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    for number, line in lines:
        found = None if line.startswith(("\t", "#")) else _ASSIGNMENT.fullmatch(line)
        if found is not None:
            yield number, found[1], found[3].replace("\\\n", " ").partition(" #")[0].strip()


def _variables(lines: list[tuple[int, str]]) -> _Variables:
    """Names with the one value they have; a name that is set to several is computed."""
    values: dict[str, str] = {}
    for _, name, value in _assigned(lines):
        is_again = name in values and values[name] != value
        values[name] = COMPUTED_WORD if is_again or len(value) > _MOST_VALUE else value
    return _Variables({**_MADE, **values})


def _filled_in(text: str, variables: _Variables) -> str:
    """A line as the shell gets it; raises `ValueError` for one that grows too much."""
    for _ in range(_MOST_ROUNDS):
        variables.take(text.count("$") * _MOST_VALUE if "$" in text else 0)
        filled = _SIMPLE.sub(lambda found: _value(found, variables), text.replace("$$", "\0"))
        filled = filled.replace("\0", "$$")
        if filled == text:
            break
        text = filled
    return _without_functions(text).replace("$$", "$").replace("\1", "$")


def _value(found: re.Match[str], variables: _Variables) -> str:
    name = found[1] or found[2]
    if name is None:
        return "\1{1}"
    known = variables.values.get(name)
    if known is None:
        return f"\1{{{name}}}" if re.fullmatch(r"[A-Za-z_]\w*", name) else "\1{1}"
    return known.replace(COMPUTED_WORD, "\1{1}")


def _without_functions(text: str) -> str:
    """`$(wildcard *.c)` and its like as words that are computed; brackets are counted."""
    out: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("$$", at):
            out.append("$$")
            at += 2
        elif text[at] == "$" and text[at + 1 : at + 2] in ("(", "{"):
            at = _closing(text, at + 1)
            out.append("\1{1}")
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def _closing(text: str, opening: int) -> int:
    """The place behind the bracket that closes the one there."""
    begins, ends = text[opening], ")" if text[opening] == "(" else "}"
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == begins) - (text[at] == ends)
        if depth == 0:
            return at + 1
    return len(text)


def _add_recipe(line: str, number: int, variables: _Variables, findings: Findings) -> None:
    _add_called(line, number, variables, findings)
    add_script(_filled_in(line.lstrip(" \t@+-"), variables), number, findings)


def _add_other(line: str, number: int, variables: _Variables, findings: Findings) -> None:
    """Everything that is no recipe: what runs when the file is read."""
    if line.lstrip().startswith("#"):
        return
    _add_called(line, number, variables, findings)
    found = _ASSIGNMENT.fullmatch(line)
    if found is not None and found[2] == "!=":
        add_script(_filled_in(found[3], variables), number, findings)
    included = _INCLUDED.fullmatch(line)
    if included is not None and "://" in included[1]:
        add_reference(included[1], number, findings)


def _add_called(line: str, number: int, variables: _Variables, findings: Findings) -> None:
    for found in _CALLED.finditer(line):
        if found[0].startswith(("$(shell", "${shell")):
            inner = line[found.end() : _closing(line, found.start() + 1) - 1]
            add_script(_filled_in(inner, variables), number, findings)
