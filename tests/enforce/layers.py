"""Makes real layers: a script writes to an overlay in namespaces of its own, its upper folder stays.

    layer = made_layer(tmp_path, host, "open('new', 'w').write('x')")
    changes = layer.scanned()
    outcome = layer.committed(state)

A module that uses the fixture `layer_kind` runs each of its tests with a layer in memory, which is copied
from, and with one on the disk of the root that nobody has open any more, which is moved from.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from consentry.enforce.commit import CommitOutcome, commit
from consentry.enforce.commitdesk import Reached, unwatched
from consentry.enforce.diskparts import LayerNote, Part
from consentry.enforce.layer import Changes, LayerRoot, file_clock_ns
from consentry.enforce.layerscan import ScanLimits, scan
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import Verdicts, judge
from consentry.surface.modes import LayerPlace
from consentry.surface.pattern import Pattern
from consentry.surface.patterns import PatternScope
from tests.enforce.treesight import Sight

_ENTER = ["unshare", "--user", "--map-root-user", "--mount", "--"]
_MOUNT = """
mount -t overlay overlay -o "userxattr,lowerdir=$1,upperdir=$2,workdir=$3" "$4" || exit 77
cd "$4" && exec "$5" -I -S -c "$6" "$7" "$8"
"""
_RUN = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
with open(sys.argv[2]) as script:
    exec(compile(script.read(), sys.argv[2], "exec"), {"os": os})
from treesight import sight_of
print(json.dumps(sight_of(os.getcwd())))
"""


class _Kind:
    """Where layers are made now, and those in memory that are to be removed."""

    where = LayerPlace.DISK
    in_memory: ClassVar[list[Path]] = []


@contextmanager
def layers_in(where: LayerPlace) -> Iterator[None]:
    """Layers are made there from here on."""
    _Kind.where = where
    try:
        yield
    finally:
        _Kind.where = LayerPlace.DISK
        while _Kind.in_memory:
            place = _Kind.in_memory.pop()
            # A user's own folders may be closed to that user.
            subprocess.run(["/bin/chmod", "-R", "u+rwX", place], check=False, capture_output=True)
            shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True)
class Layer:
    """A folder that holds `upper0`, what the run saw at its end, and what it was over."""

    folder: Path
    root: LayerRoot
    started_ns: int
    seen: dict[str, Sight]

    def scanned(self, limits: ScanLimits = ScanLimits()) -> Changes:  # noqa: B008 - frozen
        """Everything that the run changed."""
        with opened(self.folder) as layer:
            return scan(layer, [self.root], started_ns=self.started_ns, limits=limits)

    def judged(self, allowed: Sequence[str] = ("./",), denied: Sequence[str] = ()) -> Verdicts:
        """What may be committed, the root being the workspace."""
        return judge(self.scanned(), self.rules(allowed, denied))

    def rules(self, allowed: Sequence[str] = ("./",), denied: Sequence[str] = ()) -> WriteRules:
        """Rules for a workspace that is the root."""
        return WriteRules.bound(
            PatternScope.parse(allowed),
            workspace=Path(os.fsdecode(self.root.host)),
            denied=map(Pattern.parse, denied),
        )

    def committed(
        self,
        state: Path,
        *,
        run: str = "run-1",
        allowed: Sequence[str] = ("./",),
        verdicts: Verdicts | None = None,
        reached: Reached = unwatched,
    ) -> CommitOutcome:
        """Takes what may be committed to the host."""
        judged = verdicts or self.judged(allowed)
        with opened(self.folder) as layer:
            return commit(layer, judged, run=run, state=state, reached=reached)


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A folder as a descriptor."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def made_layer(
    place: Path, host: Path, script: str, *, name: str = "layer", root: LayerRoot | None = None
) -> Layer:
    """Runs a script in a layer over `host`; skips the test where this host has no overlays."""
    folder = _in_memory(place, name) if _Kind.where is LayerPlace.MEMORY else place / name
    for each in ("upper0", "work0", "merged", "empty"):
        (folder / each).mkdir(parents=True)
    root = root or LayerRoot.over(0, host)
    lower = folder / "empty" if root.rest else host
    (folder / "script.py").write_text(script, encoding="utf-8")
    started_ns = file_clock_ns()
    words = [lower, folder / "upper0", folder / "work0", folder / "merged", sys.executable, _RUN]
    words += [Path(__file__).parent, folder / "script.py"]
    done = subprocess.run(
        [*_ENTER, "sh", "-c", _MOUNT, "sh", *map(str, words)],
        capture_output=True,
        check=False,
        timeout=50,
    )
    # The kernel leaves a folder here that even its owner cannot enter, and pytest would stumble.
    for inner in (folder / "work0").glob("*"):
        inner.chmod(0o700)
    if done.returncode == 77 or b"unshare:" in done.stderr:
        pytest.skip(f"no overlay for this user: {done.stderr.decode(errors='replace').strip()}")
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    if _Kind.where is LayerPlace.DISK:
        with opened(folder) as descriptor:
            LayerNote((Part(root.number),), is_alone=True).keep(descriptor)
    seen = {path: Sight(*each[:3], _pairs(each[3]), each[4]) for path, each in _read(done.stdout)}
    return Layer(folder, root, started_ns, seen)


def _in_memory(place: Path, name: str) -> Path:
    memory = another_device(place, name)
    if memory is None:
        pytest.skip("this host has no file system in memory that a test could use")
    _Kind.in_memory.append(memory)
    return memory


def _read(printed: bytes) -> Iterator[tuple[str, list[object]]]:
    yield from json.loads(printed).items()


def _pairs(kept: object) -> tuple[tuple[str, str], ...]:
    assert isinstance(kept, list)
    return tuple((name, value) for name, value in kept)


def another_device(like: Path, name: str = "") -> Path | None:
    """A folder on another file system than `like`, or None; the caller removes it."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == like.stat().st_dev:
        return None
    place = memory / f"consentry-test-{os.getpid()}-{like.stat().st_ino}{name}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    return place
