"""What the guard and its peers read in the bench: Python's own library, and the labelled samples.

Both are copied flat into a folder of the bench's own, because several peers leave out files by the
folders that they lie in, tests for one. What is installed below the library is not of it.
"""

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.examine.corpus.reader import Sample, samples


@dataclass(frozen=True, slots=True)
class Reading:
    """Python files in one folder."""

    folder: Path
    files: tuple[Path, ...]
    lines: int
    size: int

    @classmethod
    def of(cls, folder: Path, contents: list[bytes]) -> Self:
        """The contents as files of that folder, in their order."""
        folder.mkdir(parents=True)
        files = []
        for number, content in enumerate(contents):
            path = folder / f"file{number:05}.py"
            path.write_bytes(content)
            files.append(path)
        lines = sum(content.count(b"\n") for content in contents)
        return cls(folder, tuple(files), lines, sum(map(len, contents)))

    def contents(self) -> list[bytes]:
        """What is in the files."""
        return [path.read_bytes() for path in self.files]


def library_in(folder: Path, every: int) -> Reading:
    """Python's own library, or every so many of its files."""
    top = Path(sysconfig.get_path("stdlib"))
    paths = sorted(
        path for path in top.rglob("*.py") if "site-packages" not in path.relative_to(top).parts
    )
    return Reading.of(folder, [path.read_bytes() for path in paths[::every]])


def samples_in(folder: Path) -> tuple[Reading, dict[str, Sample]]:
    """The labelled samples, and which file is which."""
    labelled = samples()
    reading = Reading.of(folder, [sample.content for sample in labelled])
    named = {path.name: each for path, each in zip(reading.files, labelled, strict=True)}
    return reading, named
