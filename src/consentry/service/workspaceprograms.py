"""The programs that a workspace's tools start: what an acceptance covers besides documents.

A manifest that is accepted at a level where nobody is asked would otherwise run whatever its script
has become since. Covered are the files that a tool's digest covers: the program, its interpreter and
its script, where they lie in the workspace or anybody but root may change them. What those load or
start by themselves is not.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from consentry.base.canonical import Digest
from consentry.base.errors import ConsentryError
from consentry.base.values import replace
from consentry.declare.tool import ToolManifest
from consentry.enforce.hashcache import hashed
from consentry.enforce.ownership import is_roots_alone
from consentry.service.programbinding import found_at
from consentry.service.programsearch import find_program
from consentry.service.surroundings import Surroundings


def programs_in(
    workspace: Path, manifests: Iterable[ToolManifest], around: Surroundings
) -> dict[str, Digest]:
    """The digests of these programs by their path from the workspace, or their whole path.

    What is missing is left out.
    """
    here = replace(around, cwd=workspace)
    files = (file for each in manifests for file in _files(each, workspace, here))
    found: dict[str, Digest] = {}
    for file in dict.fromkeys(files):
        real = Path(os.path.realpath(file))
        if any(_is_somebodys(path, workspace) for path in (file, real)):
            digest = _digest(real)
            if digest is not None:
                found[_name(file, workspace)] = digest
    return found


def _is_somebodys(path: Path, workspace: Path) -> bool:
    return path.is_relative_to(workspace) or not is_roots_alone(path)


def _name(path: Path, workspace: Path) -> str:
    return str(path.relative_to(workspace) if path.is_relative_to(workspace) else path)


def _files(manifest: ToolManifest, workspace: Path, here: Surroundings) -> Iterator[Path]:
    lines = [(each.command, *each.arguments) for each in manifest.capabilities.commands]
    folder, entry = workspace, manifest.entrypoint
    if entry is not None:
        lines.append((entry.command, *entry.arguments))
        folder = workspace / entry.working_directory
    for words in lines:
        try:
            path = find_program(words[0], here)
            yield from found_at(path, words, folder).files
        except ConsentryError:
            # It cannot be started as it is; a program that comes later is another file.
            continue


def _digest(path: Path) -> Digest | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return hashed(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
