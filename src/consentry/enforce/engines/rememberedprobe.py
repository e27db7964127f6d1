"""What the probe of an engine has shown, kept in the state directory so that no run pays for it twice.

It stands for this very program file, kernel, user and code of ours; when any of them is another, the
engine is tried again. Whoever may write the state directory is believed: it is the caller's own.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from consentry.base.values import dataclass
from consentry.enforce.engine import Control, Held, Lacking, Probe
from consentry.enforce.violations import Truth

_FOLDER: Final = "engines"
_CONTROLS: Final = {each.value: each for each in Control}
_OURS_ALONE: Final = 0o600
_HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class RememberedProbe:
    """The memory of one engine; without a state directory there is none."""

    engine: str
    program: str
    state: Path | None
    uid: int
    also: str = ""
    """What it depends on besides, such as a daemon."""

    def read(self) -> Probe | None:
        """What was shown under the same circumstances."""
        if self.state is None:
            return None
        try:
            told = json.loads(self._file(self.state).read_bytes())
            return _probe(self.engine, told) if told["key"] == self._key() else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, shown: Probe) -> None:
        """Remembers it, if there is a place; one that could make no box is tried again."""
        if self.state is None or not shown.is_usable:
            return
        file = self._file(self.state)
        # It is a memory only: without it, the engine is tried again.
        with suppress(OSError):
            file.parent.mkdir(mode=0o700, exist_ok=True)
            beside = file.with_name(f"{file.name}.{os.getpid()}")
            beside.touch(mode=_OURS_ALONE)
            beside.write_text(json.dumps({"key": self._key(), **_told(shown)}))
            beside.rename(file)

    def _file(self, state: Path) -> Path:
        return state / _FOLDER / f"{self.engine}-{self.uid}.json"

    def _key(self) -> str:
        found = Path(self.program).stat()
        parts = (
            self.program,
            found.st_dev,
            found.st_ino,
            found.st_size,
            found.st_mode,
            found.st_mtime_ns,
            found.st_ctime_ns,
            platform.release(),
            self.uid,
            self.also,
            *_our_code(),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def _our_code() -> Iterator[tuple[str, int, int]]:
    """The files that say what is tried and how boxes are made, as they are now."""
    for folder in (_HERE, _HERE.parent, _HERE / "container", _HERE.parent / "native"):
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                found = entry.stat()
                yield entry.path, found.st_size, found.st_mtime_ns


def _told(shown: Probe) -> dict[str, Any]:
    return {
        "held": [[h.control.value, h.mechanism, h.truth.value] for h in shown.held],
        "lacking": [[each.control.value, each.why, each.remedy] for each in shown.lacking],
    }


def _probe(engine: str, told: Mapping[str, Any]) -> Probe:
    return Probe(
        engine,
        tuple(Held(_CONTROLS[name], how, Truth(truth)) for name, how, truth in told["held"]),
        tuple(Lacking(_CONTROLS[name], why, remedy) for name, why, remedy in told["lacking"]),
    )
