"""What somebody means who names code: a file, a folder, an archive, or an installed distribution.

A path that exists is meant before a distribution of the same name; `./name` can only be a path.
"""

import os
import stat
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.service.sourcefolder import FileSource, FolderSource
from consentry.service.sources import Source

_TAR: Final = (".tar.gz", ".tgz", ".tar")
_ZIP: Final = (".whl", ".zip", ".egg", ".pyz")
_OTHER_ARCHIVES: Final = (".tar.bz2", ".tar.xz", ".tar.zst", ".tbz2", ".txz", ".7z", ".rar")


def find_code(given: str, site: str | None = None) -> Source:
    """The source that is meant; raises `UsageProblem` where there is none, or it cannot be read.

    Args:
        given: a path, or the name of a distribution.
        site: the folder to look for the distribution in, if not in this interpreter's.
    """
    try:
        status = os.stat(given)  # noqa: PTH116 - as it was typed
    except ValueError:
        raise _unusable(given, "it is no path") from None
    except OSError as problem:
        if isinstance(problem, FileNotFoundError | NotADirectoryError):
            return _installed(given, site)
        raise _unusable(given, (problem.strerror or "cannot be read").lower()) from problem
    try:
        return _on_disk(given, status)
    except BadInput as problem:
        raise _unusable(given, problem.message, problem.help_line) from problem


def _on_disk(given: str, status: os.stat_result) -> Source:
    path = Path(given)
    if stat.S_ISDIR(status.st_mode):
        return FolderSource(path, f"folder `{given}`")
    if not stat.S_ISREG(status.st_mode):
        raise _unusable(given, "is neither a file nor a folder")
    name = path.name.lower()
    if name.endswith(_OTHER_ARCHIVES):
        raise _unusable(
            given, "it is packed in a way that is not read", "pack it as .tar.gz or .zip"
        )
    if not name.endswith((*_TAR, *_ZIP)):
        return FileSource(path, f"file `{given}`")
    try:
        handle = path.open("rb")
    except OSError as problem:
        raise _unusable(given, (problem.strerror or "cannot be read").lower()) from problem
    try:
        if name.endswith(_ZIP):
            from consentry.service.ziparchive import ZipSource  # noqa: PLC0415 - only for them

            return ZipSource(path, handle, f"archive `{given}`")
        from consentry.service.tararchive import TarSource  # noqa: PLC0415 - only for them

        return TarSource(name, handle, f"archive `{given}`")
    except BaseException:
        handle.close()
        raise


def _installed(given: str, site: str | None) -> Source:
    from consentry.service.distributionplace import (  # noqa: PLC0415 - only where nothing else is meant
        find_distribution,
        own_sites,
    )

    if site is not None and not os.path.isdir(site):  # noqa: PTH112 - as it was typed
        raise _unusable(site, "is not a folder")
    found = find_distribution(given, own_sites() if site is None else (Path(site),))
    if found is None:
        where = "this interpreter has" if site is None else f"`{site}` has"
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"there is no file or folder `{given}`, and {where} no distribution of that name",
            help_line="name a path; `--site` names another folder of installed distributions",
        )
    return found


def _unusable(given: str, why: str, help_line: str | None = None) -> UsageProblem:
    return UsageProblem(Code.FILE_UNUSABLE, f"`{given}`: {why}", help_line=help_line)
