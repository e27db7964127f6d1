"""Dependencies that a single Python file asks for in a comment at its top.

# /// script
# dependencies = ["requests"]
# ///
"""

import re
from typing import Final

from consentry.examine.atoms import Extraction
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.keyed import add_document
from consentry.examine.dependencies.nodewalk import scalars_in, values_at
from consentry.examine.dependencies.requirementtext import add_requirement
from consentry.examine.dependencies.tomltext import toml_document

_BEGINS: Final = re.compile(r"# /// script\s*")
_MOST_BLOCKS: Final = 4
_ENDS: Final = re.compile(r"# ///\s*")


def has_inline_script(content: bytes) -> bool:
    """Whether it is worth looking."""
    return b"# /// script" in content


@reader
def _extract(text: str, findings: Findings) -> None:
    lines = text.splitlines()
    blocks = [number for number, line in enumerate(lines, 1) if _BEGINS.fullmatch(line)]
    # A file may have one; of several, which one counts depends on who reads it.
    for first in blocks[:_MOST_BLOCKS]:
        _add_block(lines, first, findings)
    if len(blocks) > _MOST_BLOCKS:
        raise ValueError("it has too many blocks of dependencies")


def _add_block(lines: list[str], first: int, findings: Findings) -> None:
    block: list[str] = []
    end = 0
    for at in range(first, len(lines)):
        if not lines[at].startswith("#"):
            break
        block.append(lines[at])
        if _ENDS.fullmatch(lines[at]):
            end = len(block) - 1
    text = "\n".join(line[2:] for line in block[:end])
    root = toml_document(text)
    for listed in values_at(root, "dependencies"):
        for scalar in scalars_in(listed):
            add_requirement(scalar.text, first + scalar.mark.line, findings)
    add_document("pyproject", root, findings)


def extract_inline_script(content: bytes) -> Extraction:
    """The dependencies alone; what the file does is the Python extractor's to say."""
    return _extract(content)
