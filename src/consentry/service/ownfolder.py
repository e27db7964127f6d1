"""Documents of the user's own configuration folder that no workspace ever has a say in.

Read are `plugin-policy.yaml` and `trusted-keys.json`. A folder or file that somebody else may change,
or that a workspace leads to, is refused, not passed over: to read nothing would be to ask for nothing.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, FilesystemRace, Refused, UsageProblem, Where
from consentry.base.paths import SandboxedPath
from consentry.enforce.hops import leads_through
from consentry.enforce.ownership import stranger_over_file, stranger_over_folder
from consentry.service.places import Workspace, reason
from consentry.service.races import recorded
from consentry.service.surroundings import Surroundings, configuration_base, owners_of_ours

MOST_BYTES: Final = 4 << 20
_LOCK: Final = ".trusted-keys.lock"


def own_folder(around: Surroundings) -> Path:
    """The user's configuration folder, whether it is there or not."""
    base = configuration_base(around)
    if base.path is None:
        raise UsageProblem(Code.CONFIG_MISSING, "there is no configuration folder of yours")
    return base.path / "consentry"


def read_own(around: Surroundings, name: str, workspace: Workspace | None = None) -> bytes | None:
    """The content of one of these documents, or None where there is none."""
    folder = own_folder(around)
    file = folder / name
    try:
        os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:  # whether there is one cannot be told
        raise _unusable(file, problem) from problem
    require_own(around, folder, file, workspace)
    try:
        return SandboxedPath.create(folder, name).unwrap().read(MOST_BYTES, on_race=recorded)
    except FilesystemRace as race:
        race.at(Where(str(file)))
        raise
    except (ConsentryError, OSError) as problem:
        raise _unusable(file, problem) from problem


def write_own(around: Surroundings, name: str, content: bytes) -> None:
    """Puts one of these documents in place, whole or not at all; makes the folder on first use."""
    folder = own_folder(around)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.path.lexists(folder / name):
            require_own(around, folder, folder / name, None)
            present = SandboxedPath.create(folder, name).unwrap()
            present.replace(content, on_race=recorded)
        else:
            fresh = SandboxedPath.create_new(folder, name).unwrap()
            fresh.write_new(content, on_race=recorded)
    except FilesystemRace as race:
        race.at(Where(str(folder / name)))
        raise
    except (ConsentryError, OSError) as problem:
        raise _unusable(folder / name, problem) from problem


@contextmanager
def changing_own(around: Surroundings) -> Iterator[None]:
    """One change at a time: whoever reads, changes and writes does it within."""
    folder = own_folder(around)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open(folder / _LOCK, flags, 0o600)
    except OSError as problem:
        raise _unusable(folder, problem) from problem
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            os.close(lock)


def require_own(
    around: Surroundings, folder: Path, file: Path, workspace: Workspace | None
) -> None:
    """Raises where somebody else may change the file, or a workspace leads to it."""
    if workspace is not None and leads_through(file, workspace.path, Path("/")):
        raise Refused(
            Code.CONFIG_UNSAFE, f"`{file}` lies in the workspace, and nothing of it counts"
        )
    owners = owners_of_ours(around)
    try:
        stranger = stranger_over_folder(folder, *owners) or stranger_over_file(file, *owners)
    except OSError as problem:
        raise _unusable(file, problem) from problem
    if stranger is not None:
        raise Refused(Code.CONFIG_UNSAFE, stranger)


def _unusable(file: Path, problem: Exception) -> UsageProblem:
    said = reason(problem) if isinstance(problem, OSError) else str(problem)
    return UsageProblem(Code.CONFIG_FILE, f"`{file}`: {said}")
