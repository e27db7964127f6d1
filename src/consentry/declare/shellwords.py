"""Which programs a line of shell names, by its look; nothing is run and nothing is expanded.

A guess for proposals, never for decisions: a line that hides what it starts is not seen through, and
what is not found here is refused by the box when it is tried.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Final

_MOST_LETTERS: Final = 4096
_PROGRAM: Final = re.compile(r"(?:\./)?[A-Za-z0-9_][A-Za-z0-9_.+/-]{0,199}")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
# What is put in for a variable, or for what another command prints, is not known here.
_EXPANDED: Final = re.compile(r"\$(?:\([^()]*\)|\{[^{}]*\}|\w+|.)|`[^`]*`")
_SEPARATORS: Final = frozenset(";|&()")
# Words of the shell itself, which are no programs on any PATH.
_OF_THE_SHELL: Final = frozenset(
    ("break", "case", "cd", "continue", "do", "done", "elif", "else", "esac", "eval", "exec", "exit",
     "export", "fi", "for", "function", "if", "in", "local", "return", "set", "shift", "source",
     "then", "trap", "ulimit", "umask", "unset", "until", "wait", "while")
)  # fmt: skip
_NAMES_FOLLOW: Final = frozenset(("case", "for", "function"))


def programs_in(line: str) -> Iterator[str]:
    """The words that stand where a program is named, each as it is written."""
    known = _EXPANDED.sub("$", line[:_MOST_LETTERS])
    lexer = shlex.shlex(known, posix=True, punctuation_chars=";|&()<>")
    lexer.whitespace_split = True
    is_command = True
    try:
        for word in lexer:
            if set(word) <= _SEPARATORS:
                is_command = True
            elif is_command and not _ASSIGNMENT.match(word):
                is_command = word in _OF_THE_SHELL - _NAMES_FOLLOW - {"cd", "export", "set"}
                if word not in _OF_THE_SHELL and _PROGRAM.fullmatch(word):
                    yield word
    except ValueError:
        # A quotation without an end; what stood before it was said.
        return
