"""The driver's own folder: what one run's container is given, and what is left of runs that were killed.

One folder for each driver that lives, locked by it, and in it one for each run, called as its
container, and one with what all of them are given alike. Whoever comes next finds the folders of those
that are gone, ends their containers by those names, and removes them.
"""

import fcntl
import inspect
import marshal
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from consentry.base.values import dataclass
from consentry.enforce.engines.container import starter
from consentry.enforce.engines.container.report import Report
from consentry.enforce.native import calls, restraint
from consentry.enforce.native.parent import own_folder, sweep_folders

INTERPRETER: Final = "python"
_SETTINGS: Final = "settings"
_MOST_TOLD: Final = 1 << 14
PREFIX: Final = "consentry-container-"
_PARTS: Final = (calls, restraint, starter)
_LOADER: Final = """\
import marshal, sys, types
for name, code in marshal.load(open(sys.argv[1] + "/start", "rb")):
    above, _, last = name.rpartition(".")
    whole = ""
    for part in above.split("."):
        whole = whole + "." + part if whole else part
        sys.modules.setdefault(whole, types.ModuleType(whole)).__path__ = []
    module = sys.modules[name] = types.ModuleType(name)
    setattr(sys.modules[above], last, module)
    exec(code, module.__dict__)
module.main(sys.argv[1])
"""


def starting_words(inside: str) -> tuple[str, ...]:
    """What the container's first process is started with; its folder is seen at `inside`."""
    # It lies elsewhere than where it was installed, so it is told its home by a variable.
    return (f"{inside}/{INTERPRETER}", "-s", "-S", "-P", "-c", _LOADER, inside)


def starter_code() -> bytes:
    """The first process's code, for an interpreter of this very version."""
    parts = [
        (each.__name__, compile(inspect.getsource(each), each.__name__, "exec", dont_inherit=True))
        for each in _PARTS
    ]
    return marshal.dumps(parts)


class DriversFolder:
    """The folder of one driver."""

    def __init__(self, kind: str) -> None:
        """`kind` is the engine's name."""
        self._prefix = f"{PREFIX}{kind}-"
        self.path, self._lock = own_folder(self._prefix)
        self._alike = self.of_run(_SETTINGS)
        self.settings = str(self._alike.path)

    def sweep(self, end_container: Callable[[str], None]) -> None:
        """Ends and removes what others of this kind left behind."""
        sweep_folders(self._prefix, lambda folder: _empty(folder, end_container))

    def give_interpreter(self) -> str:
        """A copy of ours that can be started and, by whoever is in the box, not be read.

        Landlock lets no program start it again, and the loader would have to read it.
        """
        with Path(os.path.realpath(sys.executable)).open("rb") as source:
            return self._alike.copy(INTERPRETER, source.fileno(), 0o111)

    def of_run(self, name: str) -> "RunFolder":
        """A new one for the container of that name."""
        path = Path(self.path, name)
        path.mkdir(mode=0o700)
        return RunFolder(path, Path(self.path, _SETTINGS))

    def close(self, end_container: Callable[[str], None]) -> None:
        """Removes it with all that is left in it."""
        _empty(self._lock, end_container)
        Path(self.path).rmdir()
        os.close(self._lock)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """What one container is given."""

    path: Path
    alike: Path

    def share(self, content: bytes, mode: int) -> str:
        """A file that every run has alike, bound read-only; made once for each content."""
        place = self.alike / f"{mode:03o}-{sha256(content).hexdigest()}"
        if not place.exists():
            # Another thread may be about to make it, and none is to see half of it.
            own = self.write(f"alike-{place.name}", content, mode)
            Path(own).replace(place)
        return str(place)

    def write(self, name: str, content: bytes, mode: int) -> str:
        """A new file; where it lies."""
        place = self.path / name
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fchmod(descriptor, mode)
        return str(place)

    def copy(self, name: str, source: int, mode: int) -> str:
        """The bytes of an open file, from its beginning; where they lie."""
        place = self.path / name
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            offset = 0
            while sent := os.sendfile(descriptor, source, offset, 1 << 30):
                offset += sent
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)
        return str(place)

    def held(self) -> int:
        """A lock that the first process finds open when we are gone; the caller's to close."""
        lock = os.open(self.path / "alive", os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def give_report(self, owner: int) -> str:
        """The file that the first process writes its report to; nobody else may."""
        place = self.write("report", b"", 0o600)
        if os.geteuid() == 0:
            os.chown(place, owner, owner)
        return place

    def report(self) -> "Report":
        """What the first process told so far."""
        try:
            with (self.path / "report").open("rb") as file:
                return Report.read(file.read(_MOST_TOLD))
        except OSError:
            return Report()

    def remove(self) -> None:
        """With all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)


def order_of(wish: Mapping[str, Any]) -> bytes:
    """As the first process reads it."""
    return marshal.dumps(dict(wish))


def _empty(folder: int, end_container: Callable[[str], None]) -> None:
    # Their settings last: it takes them to end a container.
    for name in sorted(os.listdir(folder), key=lambda each: each == _SETTINGS):
        if name != _SETTINGS:
            end_container(name)
        shutil.rmtree(name, dir_fd=folder)
