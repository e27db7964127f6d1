"""Folders of programs, as a run that may start only some sees them: those programs and their links.

Landlock decides what can be started by its name. The loader, which every program needs, can be started
too, and would load any other program that it can read; so there is no other one to be read where
programs lie.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from consentry.enforce.engines.container.mounting import CLOSED_BYTES, Bound, InMemory
from consentry.enforce.native.runtime import PROGRAM_FOLDERS

_OPEN: Final = 0o755
_ALTERNATIVES: Final = "/etc/alternatives/"


def covered_programs(
    allowed: Sequence[Path],
    beside: Path,
    folders: Iterable[str] = PROGRAM_FOLDERS,
) -> Iterator[Bound | InMemory]:
    """A folder with nothing else in it over each that has programs; made in the folder `beside`."""
    real = {os.path.realpath(each) for each in allowed}
    for number, name in enumerate(folders):
        folder = Path(name)
        if not folder.is_dir() or folder.is_symlink():
            continue
        shown = sorted(path for path in real if Path(path).is_relative_to(folder))
        links = dict(_links_to(folder, real))
        if not shown and not links:
            yield InMemory(name, CLOSED_BYTES, 0o555, is_writable=False)
            continue
        made = beside / f"programs{number}"
        made.mkdir(mode=_OPEN)
        made.chmod(_OPEN)
        for path in shown:
            # Something to mount the program over.
            place = made / Path(path).relative_to(folder)
            place.parent.mkdir(mode=_OPEN, parents=True, exist_ok=True)
            place.touch(mode=0o444)
        for link, target in links.items():
            (made / link).symlink_to(target)
        yield Bound(str(made), name)


def _links_to(folder: Path, real: set[str]) -> Iterator[tuple[str, str]]:
    """The links that lead to one of the programs; few are followed, for there are many."""
    links = _links(str(folder), folder.stat().st_mtime_ns)
    known = {Path(path).name for path in real}
    found: set[str] = set()
    while True:
        more = {
            name
            for name, (_, leads_to) in links.items()
            if leads_to in known and name not in found and os.path.realpath(folder / name) in real
        }
        if not more:
            break
        found |= more
        known |= more
    yield from ((name, links[name][0]) for name in sorted(found))


@lru_cache(maxsize=64)
def _links(folder: str, changed: int) -> dict[str, tuple[str, str]]:  # noqa: ARG001 - by when it was
    """Each link of a folder: where it leads, and the name of what is there."""
    links: dict[str, tuple[str, str]] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                target = last = os.readlink(entry.path)  # noqa: PTH115 - there are hundreds
                if target.startswith(_ALTERNATIVES):
                    with suppress(OSError):
                        last = os.readlink(target)  # noqa: PTH115 - as above
                links[entry.name] = target, last.rpartition("/")[2]
    return links
