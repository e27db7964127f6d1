"""Runs the fence over files and folders: finds the Python source, reads it through jails, and reports.

In a folder, source is what ends in `.py` or `.pyw`, and what has no ending and names Python in its
first line. Nothing is left out in silence: what is not source is counted, and what cannot be looked at
(a link that leads out, a pipe, a folder without the right to read, a file that is too large or changes
meanwhile) is a finding. A link to a file is read as what it leads to; a link to a folder of the same
tree is not followed, as that folder is read under its own name.

Files are found with their names as they are; nothing here is confined, and nothing is run.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, FilesystemRace, TooLarge, UsageProblem
from consentry.base.paths import RaceSink, SandboxedPath
from consentry.base.result import Err, Ok
from consentry.base.values import dataclass
from consentry.examine.fence.check import check_source
from consentry.examine.fence.findings import PACKAGE_HOMES, Family, FenceFinding, FenceScope, Rule
from consentry.examine.fence.report import FenceReport
from consentry.examine.python.source import MOST_BYTES

MOST_FILES: Final = 200_000
ENDINGS: Final = (".py", ".pyw")

_FIRST_BYTES: Final = 256
_PACKAGE: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Pardon:
    """What is not held against the rules of tokens: real paths of homes, and of folders of tests."""

    homes: frozenset[tuple[str, Family]] = frozenset()
    tests: tuple[str, ...] = ()
    heeds_comments: bool = False

    def scope(self, shown: str, real: str) -> FenceScope:
        """The scope of one file, by the name that it is shown under."""
        homes = tuple((shown, family) for home, family in self.homes if home == real)
        is_test = any(real.startswith(f"{folder}/") for folder in self.tests)
        folder = shown[: shown.rfind("/") + 1]
        tests = (folder,) if is_test else ()
        return FenceScope(homes, tests, heeds_comments=self.heeds_comments)


NOTHING_PARDONED: Final = Pardon()


def pardon_of(homes: Sequence[str], tests: Sequence[str]) -> Pardon:
    """The homes of this installation, those that were named, and the folders of tests."""
    own = {(str(_PACKAGE / path), family) for path, family in PACKAGE_HOMES}
    named = {(_real(home), family) for home in homes for family in Family}
    return Pardon(frozenset(own | named), tuple(map(_real, tests)), heeds_comments=True)


def fence_over(names: Sequence[str], pardon: Pardon, on_race: RaceSink) -> FenceReport:
    """What the fence says of these files and of all source in these folders."""
    run = _Run(pardon, on_race)
    for name in names:
        run.take(name)
    findings = sorted(
        set(run.findings), key=lambda each: (each.path, each.line, each.column, each.rule)
    )
    return FenceReport(tuple(findings), run.files, run.pardoned, tuple(run.others))


class _Run:
    """One run; every file is read once, under the name it is met with first."""

    def __init__(self, pardon: Pardon, on_race: RaceSink) -> None:
        self.pardon = pardon
        self.on_race = on_race
        self.findings: list[FenceFinding] = []
        self.files = 0
        self.pardoned = 0
        self.others: list[str] = []
        self._seen: set[str] = set()

    def take(self, name: str) -> None:
        """One argument: a file, or a folder with everything in it."""
        path = Path(name)
        if not os.path.lexists(path):
            raise UsageProblem(Code.FILE_UNUSABLE, f"`{name}`: there is no such file or folder")
        if path.is_dir() and not path.is_symlink():
            for relative in self._found(path, name):
                self._read(path, relative, _joined(name, relative))
        else:
            self._read(path.parent, path.name, name)

    # ---- what is in a folder

    def _found(self, root: Path, name: str) -> Iterator[str]:
        """The source below a folder, by relative names, in their order."""
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                there = SandboxedPath.create(root, folder or ".").unwrap()
                names = there.names(on_race=self.on_race)
            except (FilesystemRace, ConsentryError, OSError) as problem:
                self._cannot(_joined(name, folder), problem)
                continue
            inner = []
            for each in names:
                relative = f"{folder}/{each}" if folder else each
                match self._kind(root, relative, _joined(name, relative)):
                    case "folder":
                        inner.append(relative)
                    case "source":
                        yield relative
            waiting += reversed(inner)

    def _kind(self, root: Path, relative: str, shown: str) -> str:
        """`source`, `folder`, or nothing where it is neither; what is odd is reported."""
        try:
            status = os.lstat(root / relative)
            if stat.S_ISLNK(status.st_mode):
                return self._linked(root, relative, shown)
        except OSError as problem:
            self._cannot(shown, problem)
            return ""
        if stat.S_ISDIR(status.st_mode):
            return "folder"
        if not stat.S_ISREG(status.st_mode):
            self._say(shown, "is neither a plain file nor a folder")
            return ""
        if relative.endswith(ENDINGS) or self._names_python(root, relative):
            return "source"
        self.others.append(shown)
        return ""

    def _linked(self, root: Path, relative: str, shown: str) -> str:
        """A link: what it leads to must lie in the folder, and a folder is read under its own name."""
        match SandboxedPath.create(root, relative):
            case Err(_):
                self._say(shown, "is a link that leads out of the folder, or nowhere")
            case Ok(there) if relative.endswith(ENDINGS) and not Path(there).is_dir():
                return "source"
            case _:
                self.others.append(shown)
        return ""

    def _names_python(self, root: Path, relative: str) -> bool:
        """Whether a file without an ending says in its first line that Python runs it."""
        if "." in relative.rpartition("/")[2]:
            return False
        try:
            opened = SandboxedPath.create(root, relative).unwrap().open(on_race=self.on_race)
        except (FilesystemRace, ConsentryError, OSError):
            return True  # reading it will say what is wrong
        try:
            first = os.read(opened, _FIRST_BYTES).split(b"\n", 1)[0]
        except OSError:
            return True
        finally:
            os.close(opened)
        return first.startswith(b"#!") and b"python" in first

    # ---- one file

    def _read(self, jail: Path, relative: str, shown: str) -> None:
        if self.files >= MOST_FILES:
            raise UsageProblem(Code.FILE_UNUSABLE, f"there are more than {MOST_FILES:,} files")
        real = _real(jail / relative)
        if shown in self._seen:
            return
        self._seen.add(shown)
        self.files += 1
        try:
            there = SandboxedPath.create(jail, relative).unwrap()
            content = there.read(MOST_BYTES, on_race=self.on_race)
        except TooLarge:
            self._say(shown, f"has more than {MOST_BYTES:,} bytes")
            return
        except (FilesystemRace, ConsentryError, OSError) as problem:
            self._cannot(shown, problem)
            return
        scope = self.pardon.scope(shown, real)
        self.pardoned += bool(scope.homes or scope.tests)
        self.findings += check_source(shown, content, scope)

    def _cannot(self, shown: str, problem: Exception) -> None:
        said = problem.strerror if isinstance(problem, OSError) else str(problem)
        self._say(shown, f"cannot be read: {(said or 'for no reason given').lower()}")

    def _say(self, shown: str, said: str) -> None:
        self.findings.append(FenceFinding(shown, 1, 1, Rule.UNREADABLE, f"the file {said}"))


def _joined(name: str, relative: str) -> str:
    if not relative or name == ".":
        return relative or name
    return f"{name.rstrip('/')}/{relative}" if name != "/" else f"/{relative}"


def _real(path: str | Path) -> str:
    return os.path.realpath(path)
