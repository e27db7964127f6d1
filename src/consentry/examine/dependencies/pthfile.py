"""`.pth` files: lines that Python runs at every start, and folders that it then loads code from."""

import re
from typing import Final

from consentry.examine.atoms import loading
from consentry.examine.dependencies.codeparts import add_python
from consentry.examine.dependencies.findings import Findings, reader
from consentry.surface.dimensions import LoadLevel

_RUN: Final = re.compile(r"import[ \t]")


@reader
def extract_pth(text: str, findings: Findings) -> None:
    """Reads a `.pth` file; lines end where Python ends them."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        if _RUN.match(line):
            findings.power(loading(LoadLevel.ANY), number, "this line runs at every start")
            add_python(line, number, findings)
        else:
            reason = f"code is loaded from {line.strip()[:200]}"
            findings.power(loading(LoadLevel.LIMITED), number, reason)
