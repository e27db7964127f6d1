"""Code that stands inside a script: text for an interpreter, or a file that one runs."""

import hashlib
import re
from collections.abc import Callable
from typing import Final

from consentry.examine.atoms import ANYTHING, Extraction, reading, starting
from consentry.examine.constanttargets import path_pattern
from consentry.examine.shell.findings import Findings
from consentry.examine.shell.sedscripts import is_plain_sed
from consentry.examine.shell.targets import is_nothing, paths
from consentry.examine.shell.words import ARGUMENT, Word
from consentry.surface.dimensions import LoadLevel
from consentry.surface.pattern import ABSOLUTE_PATH_MARK

MOST_DEEP: Final = 6
"""Code inside code inside code, and so on, is not followed deeper."""

_AWK_POWERS: Final = re.compile(
    r"system|getline|[|>]|(?<![\w.])@|ENVIRON|ARGV|ARGC|SYMTAB|FUNCTAB|close|/inet/"
)
_SUBSTITUTION: Final = re.compile(
    r"\s*(?:s|tr|y)([/|#,!:@])(?:(?!\1)[^\\$@`]|\\.|\$(?=\1))*\1[^$@`]*\1[gimsx]*;?\s*"
)


class Code:
    """Reads code inside of a script with the reader of its language."""

    def __init__(
        self, findings: Findings, depth: int, shell: Callable[[bytes, int], Extraction]
    ) -> None:
        self._findings = findings
        self._depth = depth
        self._shell = shell

    def text(self, language: str, word: Word, line: int, reason: str) -> None:
        """Code as text."""
        if language in ("sed", "awk", "perl"):
            self._small(language, word, line, reason)
            return
        if language == "shell":
            self._script(word, line, reason)
            return
        text = word.constant
        if text is None:
            self._findings.load(line, reason)
            return
        content = text.encode("utf-8", "replace")
        match language:
            case "python":
                from consentry.examine.python.extract import (  # noqa: PLC0415 - for few
                    extract_python,
                )

                self._findings.include(extract_python(content), line)
            case "javascript":
                from consentry.examine.javascript import (  # noqa: PLC0415 - for few
                    extract_javascript,
                )

                self._findings.include(extract_javascript(content), line)
            case _:
                digest = hashlib.sha256(content).hexdigest()
                self._findings.unknown(f"{language} sha256:{digest}", line, reason)

    def _script(self, word: Word, line: int, reason: str) -> None:
        """Shell code; variables in it are words of commands, and may make others of them."""
        known = word.text if word.is_whole else word.template
        if known is None or known.startswith(ARGUMENT) or self._depth >= MOST_DEEP:
            self._findings.load(line, reason)
            return
        content = known.encode("utf-8", "replace")
        self._findings.include(self._shell(content, self._depth + 1), line)
        if not word.is_whole:
            self._findings.power((starting(ANYTHING),), line, reason)

    def _small(self, language: str, word: Word, line: int, reason: str) -> None:
        """Programs of a line or two, which mostly do nothing but change text."""
        text = word.text if word.is_whole else word.outline.replace(ARGUMENT, "x")
        is_known = word.is_whole or (word.text.strip() != "" and language != "perl")
        if language == "sed":
            is_plain = is_plain_sed(text)
        elif language == "awk":
            is_plain = _AWK_POWERS.search(text) is None
        else:
            is_plain = _SUBSTITUTION.fullmatch(text) is not None
        if not (is_known and is_plain):
            digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
            self._findings.unknown(f"{language} sha256:{digest}", line, reason)

    def file(self, language: str, word: Word, line: int, reason: str) -> None:
        """Code in a file: of the same tree it is read there, elsewhere nobody can tell."""
        if word.is_whole and is_nothing(word):
            return
        if not word.is_whole or "://" in word.text:
            self._findings.load(line, reason)
            return
        self._findings.power(paths(reading, word), line, reason)
        pattern = path_pattern(word.text)
        if pattern is None or pattern == ABSOLUTE_PATH_MARK or pattern.startswith(("/", "~")):
            self._findings.load(line, reason, LoadLevel.LIMITED)
        elif language == "other":
            self._findings.unknown(f"file {pattern}", line, "no extractor reads what runs here")
        else:
            self._findings.script(f"./{pattern.removeprefix('./')}", line)
