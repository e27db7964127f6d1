"""`python -m bench.guardone FOLDER`: reads each Python file of a folder, on one core, nothing kept.

A process of its own, so that its processor time stands beside that of whole commands.
"""

import sys
from pathlib import Path

from consentry.examine.filekinds import FileKind
from consentry.service.extracting import read_one


def main() -> int:
    """Prints how much was found."""
    found = 0
    for path in sorted(Path(sys.argv[1]).glob("*.py")):
        found += len(read_one(FileKind.PYTHON, path.read_bytes()).found)
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
