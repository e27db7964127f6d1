"""Small trees with planted faults, for the tests of the checks."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from checks.tree import Tree

Plant = Callable[[Mapping[str, str]], Tree]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Writes files below a fresh folder and returns the tree they make."""

    def planted(files: Mapping[str, str]) -> Tree:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Tree(tmp_path)

    return planted
