"""The compact tables of the guard are those that people edit: `python -m checks.knowledge --write`."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from checks.finding import Finding
from checks.tree import Tree
from consentry.examine.knowledge.tables import BadTable, compile_tables

FOLDER = "src/consentry/examine/knowledge/"
TABLE = f"{FOLDER}knowledge.table"
SOURCES = ("stdlib_*.toml", "thirdparty_*.toml")
_WRITE = "run `python -m checks.knowledge --write`"


def check(tree: Tree) -> Iterator[Finding]:
    """Yields a row that has not the form, and tables that were changed without the compact file."""
    sources = {
        path: tree.text(path)
        for path in tree.matching(FOLDER)
        if any(Path(path).match(pattern) for pattern in SOURCES)
    }
    if not sources:
        return
    try:
        made = compile_tables(sources)
    except BadTable as problem:
        yield Finding(FOLDER, 1, str(problem))
        return
    if TABLE not in tree.paths or (tree.root / TABLE).read_bytes() != made:
        yield Finding(TABLE, 1, f"not what the tables say; {_WRITE}")


def main() -> int:
    """Writes the compact file."""
    parser = argparse.ArgumentParser(prog="python -m checks.knowledge", description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help=f"write {TABLE}")
    parser.parse_args()
    folder = Path(FOLDER)
    sources = {
        path.name: path.read_text(encoding="utf-8")
        for pattern in SOURCES
        for path in folder.glob(pattern)
    }
    made = compile_tables(sources)
    Path(TABLE).write_bytes(made)
    print(f"{TABLE}: {len(made):,} bytes from {len(sources)} tables")
    return 0


if __name__ == "__main__":
    sys.exit(main())
