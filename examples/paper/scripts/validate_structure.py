"""Says which sections main.tex names, and whether they are there."""

import re
import sys
from pathlib import Path

main = Path("latex/main.tex").read_text("utf-8")
named = re.findall(r"\\input\{([^}]+)\}", main)
missing = [name for name in named if not Path(f"{name}.tex").is_file()]
print(f"{len(named)} sections are named, {len(missing)} of them missing")
for name in missing:
    print(f"missing: {name}.tex")
sys.exit(1 if missing else 0)
