"""Finds what a command line starts: the program, the script it is given, and what both need.

A program is found as a shell would find it. The stand-ins that version managers put on PATH are not
programs but scripts that look for one; the program behind such a shim is taken instead, by the
version files that lie there as plain text, and nothing of the manager is run.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.enforce.programfiles import Started
from consentry.service.surroundings import Surroundings
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.protected import ProtectedRoots

SCRIPT_ENDINGS: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_TAKES_A_SCRIPT: Final = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|bash|sh|dash|zsh|ksh|fish|lua|luajit|php|tclsh"
    r"|Rscript|julia|awk|gawk|mawk)[\d.]*"
)
_CODE_FOLLOWS: Final = frozenset({"-c", "-m", "-e", "-E", "--eval", "-p", "--print", "-r"})
_NAMES_A_FILE: Final = frozenset({"-f", "--file"})
_SHIMS: Final = "shims"
_VERSION_FILES: Final = (".python-version", ".ruby-version", ".node-version", ".tool-versions")
_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_MOST_VERSION_BYTES: Final = 4096


def find_program(name: str, around: Surroundings) -> Path:
    """The program that the line names, as a shell would find it; raises when there is none."""
    if name == "" or "\0" in name:
        raise UsageProblem(Code.PROGRAM_UNKNOWN, f"`{name}` is not the name of a program")
    require_text(name)
    if "/" in name:
        return _named(name, around)
    is_there = False
    for folder in around.environ.get("PATH", "").split(":"):
        if not folder.startswith("/"):
            continue
        candidate = Path(folder, name)
        if not _is_file(candidate):
            continue
        is_there = True
        if os.access(candidate, os.X_OK):
            program = _behind_shim(candidate, around.cwd) if _is_shim(candidate) else candidate
            if program is not None:
                return program
    if is_there:
        raise Refused(Code.PROGRAM_UNSTARTABLE, f"`{name}` on PATH is not an executable file")
    raise UsageProblem(
        Code.PROGRAM_UNKNOWN,
        f"no folder of PATH has a program `{name}`",
        help_line=_help_for_script(name),
    )


def is_script(name: str) -> bool:
    """Whether a name is that of JavaScript or TypeScript, by its ending."""
    return name.endswith(SCRIPT_ENDINGS)


def _help_for_script(name: str) -> str | None:
    if not is_script(name):
        return None
    return f"a script for Deno: `consentry exec --engine deno -- {name}`"


def require_text(name: str) -> str:
    """The name itself, when records and rules can spell it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{name}` is not UTF-8",
            help_line="rename the file, or reach it through a link whose name is UTF-8",
        ) from None
    return name


def script_of(words: tuple[str, ...], program: Path, folder: Path) -> Path | None:
    """The file that an interpreter is told to run, if the line names one."""
    if _TAKES_A_SCRIPT.fullmatch(program.name) is None:
        return None
    for index, word in enumerate(words[1:], start=1):
        if word in _CODE_FOLLOWS and words[index - 1] not in _NAMES_A_FILE:
            return None
        if not word.startswith("-") and "\0" not in word:
            path = Path(os.path.realpath(folder / word))
            if _is_file(path):
                return path
    return None


def is_system(path: Path) -> bool:
    """Whether it lies in the folders that are there for every program."""
    return any(path.is_relative_to(root) for root in _SYSTEM)


def prefix_of(program: Path, protected: ProtectedRoots) -> Path | None:
    """`prefix` of `prefix/bin/program`, where programs are installed with what they need.

    Never a folder that holds more than that: a home, or anything with a protected root in it.
    """
    if is_system(program) or program.parent.name != "bin":
        return None
    prefix = program.parent.parent
    if len(prefix.parts) <= 2 or not (prefix / "lib").is_dir():  # noqa: PLR2004 - a root's child
        return None
    tree = Pattern.literal(Anchor.ABSOLUTE, prefix.parts[1:], and_below=Wildcard.FOLDERS)
    return None if protected.within(tree) else prefix


def prefixes_of(path: Path, started: Started, protected: ProtectedRoots) -> Iterator[Path]:
    """What programs outside the system's folders need: where they are installed."""
    seen: set[Path] = set()
    for each in (path, *started.spelled, started.program, *started.interpreters):
        prefix = prefix_of(each, protected)
        if prefix is not None and prefix not in seen:
            seen.add(prefix)
            yield prefix


def _named(name: str, around: Surroundings) -> Path:
    path = Path(os.path.normpath((around.cwd or Path("/")) / name))
    if not os.path.lexists(path):
        raise UsageProblem(Code.PROGRAM_UNKNOWN, f"`{name}` does not exist")
    if not _is_file(path) or not os.access(path, os.X_OK):
        raise Refused(
            Code.PROGRAM_UNSTARTABLE,
            f"`{name}` is not an executable file",
            help_line=_help_for_script(name),
        )
    if _is_shim(path):
        return _behind_shim(path, around.cwd) or path
    return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_shim(program: Path) -> bool:
    root = program.parent.parent
    return program.parent.name == _SHIMS and bool(_installations(root))


def _installations(root: Path) -> tuple[Path, ...]:
    """Where a version manager keeps what it installed: by version, or by tool and version."""
    folders: list[Path] = [root / "versions"]
    with suppress(OSError):
        folders += sorted((root / "installs").iterdir())
    return tuple(folder for folder in folders if folder.is_dir())


def _behind_shim(shim: Path, folder: Path | None) -> Path | None:
    root = shim.parent.parent
    installations = _installations(root)
    for version in _versions(root, folder):
        for installed in installations:
            candidate = installed / version / "bin" / shim.name
            if _is_file(candidate) and os.access(candidate, os.X_OK):
                return candidate
    return None


def _versions(root: Path, folder: Path | None) -> Iterator[str]:
    """The versions that are asked for: by files from here upwards, then by the manager's own."""
    above: Iterable[Path] = () if folder is None else (folder, *folder.parents)
    files = [each / name for each in above for name in _VERSION_FILES]
    for path in (*files, root / "version"):
        try:
            with path.open("rb") as handle:
                content = handle.read(_MOST_VERSION_BYTES)
        except OSError:
            continue
        for word in content.decode("utf-8", "replace").split():
            if _VERSION.fullmatch(word):
                yield word


def started_path(path: Path, started: Started, visible: Iterable[Path]) -> Path:
    """The name to start it by: as it was found, where that name exists in the box."""
    is_visible = is_system(path) or any(path.is_relative_to(root) for root in visible)
    return path if is_visible else started.program


def is_protected(path: Path, protected: ProtectedRoots) -> bool:
    """Whether no grant opens it; what cannot be judged counts as protected."""
    try:
        return protected.over(Pattern.literal(Anchor.ABSOLUTE, path.parts[1:])) is not None
    except ConsentryError:
        return True
