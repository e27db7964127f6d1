"""Sorts the entries of the bibliography by their keys."""

import re
from pathlib import Path

for path in sorted(Path("latex").rglob("*.bib")):
    text = path.read_text("utf-8")
    entries = [each.strip() for each in re.split(r"(?m)^(?=@)", text) if each.strip()]
    entries.sort(key=lambda entry: entry.partition("{")[2].partition(",")[0])
    path.write_text("\n\n".join(entries) + "\n", "utf-8")
    print(f"{path}: {len(entries)} entries, sorted")
