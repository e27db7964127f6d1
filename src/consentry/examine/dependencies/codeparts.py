"""Code inside a document, a command line or a script or a cell: read by the extractor of its language.

Lines are those of the document. A command line also asks for packages by their names.
"""

import shlex
from collections.abc import Sequence

from consentry.examine.dependencies.askedpackages import packages_in_shell
from consentry.examine.dependencies.findings import COMPUTED_WORD, Findings


def add_script(text: str, line: int, findings: Findings) -> None:
    """Adds what a script or command line does, and the packages that it asks for by name."""
    if not text.strip():
        return
    from consentry.examine.shell import extract_shell  # noqa: PLC0415 - heavy

    findings.include(extract_shell(text.encode()), line)
    packages_in_shell(text, line, findings)


def add_words(words: Sequence[str], line: int, findings: Findings) -> None:
    """Adds what starting a program with these words does; no shell sees them."""
    if words:
        add_script(" ".join(map(_word, words)), line, findings)


def add_python(text: str, line: int, findings: Findings) -> None:
    """Adds what Python code does."""
    from consentry.examine.python.extract import extract_python  # noqa: PLC0415 - heavy

    findings.include(extract_python(text.encode()), line)


def add_javascript(text: str, line: int, findings: Findings) -> None:
    """Adds what JavaScript does."""
    from consentry.examine.javascript import extract_javascript  # noqa: PLC0415 - heavy

    findings.include(extract_javascript(text.encode()), line)


def _word(word: str) -> str:
    if COMPUTED_WORD not in word:
        return shlex.quote(word)
    # What is computed stays so; only what stands around it is a constant.
    return COMPUTED_WORD.join(part and shlex.quote(part) for part in word.split(COMPUTED_WORD))
