"""Which runs go on right now, how one is ended when its consent is revoked, and which were cut off.

A run leaves a small file in the state directory before its permit is made, called by the event that
decides it, and holds a lock on it until it is on record: whoever revokes the consent later than that
finds the file, and whoever revokes it earlier has the permit refused. A lock ends with its process, so
what a killed one left behind is told apart; `lostruns` puts such a run on record. To end a run a second file is put beside the first; the process that stays with the box looks
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

from consentry.base.errors import ConsentryError, LedgerProblem
from consentry.base.values import dataclass
from consentry.decide.fields import Fields
from consentry.decide.session import Leader
from consentry.service.leader import this_process

FOLDER: Final = "running"

_FIELDS: Final = ("consentId", "process", "trigger", "workspace", "folder")
_NOTE: Final = ".json"
_END: Final = ".end"
_MOST_BYTES: Final = 1 << 16
_PATIENCE_S: Final = 20.0
_PAUSE_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class RunningRun:
    """One run that goes on: under which consent, and in which process."""

    name: str
    consent_id: str | None
    process: Leader


@dataclass(frozen=True, slots=True)
class RunNote:
    """What is noted of a run besides its decision: under which consent, set off by what, and where."""

    consent_id: str | None
    trigger: str
    workspace: str
    folder: str


@dataclass(frozen=True, slots=True)
class RunningRuns:
    """The runs of one state directory."""

    state: Path

    @property
    def folder(self) -> Path:
        """Where they are noted."""
        return self.state / FOLDER

    @contextmanager
    def noted(self, name: str, note_of: RunNote) -> Iterator[Callable[[], bool]]:
        """Notes a run for as long as the block lasts; hands out whether it was told to end.

        A block that the ledger ends leaves the note: the next start records the run.
        """
        self.folder.mkdir(mode=0o700, exist_ok=True)
        note, end = self.folder / f"{name}{_NOTE}", self.folder / f"{name}{_END}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(note, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            document = {
                "consentId": note_of.consent_id,
                "process": this_process().to_json(),
                "trigger": note_of.trigger,
                "workspace": note_of.workspace,
                "folder": note_of.folder,
            }
            os.write(descriptor, json.dumps(document).encode())
            yield lambda: os.path.lexists(end)
        except LedgerProblem:
            raise
        except BaseException:
            self._remove(note)
            raise
        else:
            self._remove(note)
        finally:
            os.close(descriptor)

    def cut_off(self) -> Iterator[tuple[str, RunNote | None]]:
        """The decisions whose process is gone, each locked until the next is asked for, then removed."""
        for note in sorted(self.folder.glob(f"*{_NOTE}")):
            try:
                descriptor = os.open(note, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(descriptor).st_nlink:
                    yield note.name.removesuffix(_NOTE), _note_in(descriptor)
                    self._remove(note)
            except BlockingIOError:
                continue  # it goes on
            finally:
                os.close(descriptor)

    def going_on(self) -> list[RunningRun]:
        """Those that go on; what was left behind is none of them."""
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
                return None  # nobody has it: its process is gone
            fields = Fields(json.loads(os.read(descriptor, _MOST_BYTES)), _FIELDS)
            process = Leader.from_json(fields.value("process"))
            name = note.name.removesuffix(_NOTE)
            return RunningRun(name, fields.optional_text("consentId"), process)
        except (ValueError, ConsentryError, OSError):
            return None  # just begun, and not written yet: its permit is not made either
        finally:
            os.close(descriptor)

    def _remove(self, note: Path) -> None:
        for each in (note, note.with_suffix(_END)):
            with suppress(OSError):
                each.unlink()


def _note_in(descriptor: int) -> RunNote | None:
    """What a note says; None where its process was killed while it wrote it."""
    try:
        fields = Fields(json.loads(os.read(descriptor, _MOST_BYTES)), _FIELDS)
        return RunNote(
            fields.optional_text("consentId"),
            fields.text("trigger"),
            fields.text("workspace"),
            fields.text("folder"),
        )
    except (ValueError, ConsentryError):
        return None
