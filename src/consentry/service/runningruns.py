"""Which runs under a stored consent go on right now, and how one is ended when the consent is revoked.

A run leaves a small file in the state directory before its permit is made, and holds a lock on it while
it lasts: whoever revokes the consent later than that finds the file, and whoever revokes it earlier has
the permit refused. A lock ends with its process, so what a killed one left behind is told apart and
removed. To end a run a second file is put beside the first; the process that stays with the box looks
for it at least once a second, ends everything in the box, and records how it ended.

Only runs of this state directory are seen: another machine on the same ledger ends its own.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass
from consentry.decide.fields import Fields
from consentry.decide.session import Leader
from consentry.service.leader import this_process

FOLDER: Final = "running"

_FIELDS: Final = ("consentId", "process")
_NOTE: Final = ".json"
_END: Final = ".end"
_MOST_BYTES: Final = 4096
_PATIENCE_S: Final = 20.0
_PAUSE_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class RunningRun:
    """One run that goes on: under which consent, and in which process."""

    name: str
    consent_id: str
    process: Leader


@dataclass(frozen=True, slots=True)
class RunningRuns:
    """The runs of one state directory."""

    state: Path

    @property
    def folder(self) -> Path:
        """Where they are noted."""
        return self.state / FOLDER

    @contextmanager
    def noted(self, name: str, consent_id: str) -> Iterator[Callable[[], bool]]:
        """Notes a run for as long as the block lasts; hands out whether it was told to end."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        note, end = self.folder / f"{name}{_NOTE}", self.folder / f"{name}{_END}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(note, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            document = {"consentId": consent_id, "process": this_process().to_json()}
            os.write(descriptor, json.dumps(document).encode())
            yield lambda: os.path.lexists(end)
        finally:
            for each in (note, end):
                with suppress(OSError):
                    each.unlink()
            os.close(descriptor)

    def going_on(self) -> list[RunningRun]:
        """Those that go on; what was left behind is removed."""
        found = []
        for note in sorted(self.folder.glob(f"*{_NOTE}")):
            run = self._read(note)
            if run is not None:
                found.append(run)
        return found

    def end(self, consent_id: str) -> list[RunningRun]:
        """Ends those under that consent and waits until they are gone; which they were."""
        told = [each for each in self.going_on() if each.consent_id == consent_id]
        for each in told:
            (self.folder / f"{each.name}{_END}").touch(mode=0o600)
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline and self._any_of(told):
            time.sleep(_PAUSE_S)
        return told

    def _any_of(self, told: list[RunningRun]) -> bool:
        names = {each.name for each in told}
        return any(each.name in names for each in self.going_on())

    def _read(self, note: Path) -> RunningRun | None:
        try:
            descriptor = os.open(note, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._remove(note)  # nobody has it: its process is gone
                return None
            fields = Fields(json.loads(os.read(descriptor, _MOST_BYTES)), _FIELDS)
            process = Leader.from_json(fields.value("process"))
            return RunningRun(note.name.removesuffix(_NOTE), fields.text("consentId"), process)
        except (ValueError, ConsentryError, OSError):
            return None  # just begun, and not written yet: its permit is not made either
        finally:
            os.close(descriptor)

    def _remove(self, note: Path) -> None:
        for each in (note, note.with_suffix(_END)):
            with suppress(OSError):
                each.unlink()
