"""Code of one language within another: a command line in Python, Python in a command line.

Languages contain each other in circles, and readers must not know each other in circles: whoever meets
code of another language asks here, and the reader is found by its name when it is needed.
"""

from enum import StrEnum
from importlib import import_module

from consentry.examine.atoms import Extraction


class Language(StrEnum):
    """Languages by the module and the name of their reader."""

    SHELL = "consentry.examine.shell:extract_shell"
    PYTHON = "consentry.examine.python.extract:extract_python"


def read_inner(language: Language, content: bytes) -> Extraction:
    """What the code gives, read as a file of its own."""
    module, _, name = language.value.partition(":")
    found: Extraction = getattr(import_module(module), name)(content)
    return found
