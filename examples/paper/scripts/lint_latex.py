"""Looks for common slips: doubled words, and spaces at the end of a line."""

import re
import sys
from pathlib import Path

found = []
for path in sorted(Path("latex").rglob("*.tex")):
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        doubled = re.search(r"\b(\w+) \1\b", line)
        if doubled:
            found.append(f"{path}:{number}: `{doubled.group(0)}` stands twice")
        if line != line.rstrip():
            found.append(f"{path}:{number}: space at the end of the line")
print("\n".join(found) if found else "nothing to complain of")
sys.exit(1 if found else 0)
