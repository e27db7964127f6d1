"""Layers on the disk: where they lie, that nobody holds them when they are moved from, that they go."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement
from consentry.enforce.diskparts import LayerNote, note_of
from consentry.enforce.engine import Control, Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.native.disklayer import (
    DiskLayer,
    forget_layer,
    keep_layer,
    let_go_of,
    sweep_layers,
)
from consentry.enforce.native.planparts import Layered
from consentry.enforce.roots import Root
from consentry.enforce.violations import Truth
from consentry.surface.lattice import Surface
from consentry.surface.modes import LayerPlace
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of
from tests.enforce.layers import another_device

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """With one file, in a folder of a name that no option of a mount could have."""
    folder = tmp_path / "a,b:c\\d e" / "ws"
    folder.mkdir(parents=True)
    (folder / "file").write_text("old", encoding="utf-8")
    return folder


@pytest.fixture
def state(workspace: Path) -> Path:
    """On the same mount, in a folder of such a name as well."""
    return workspace.parent / "st,ate"


@pytest.fixture
def engine() -> Iterator[NativeEngine]:
    """One for a few runs."""
    with closing(NativeEngine(None, protected_roots())) as made:
        yield made


def _run(
    engine: NativeEngine, workspace: Path, state: Path, code: str, *, write: str = "./"
) -> Outcome:
    program = program_of([PYTHON, "-I", "-S", "-c", code], workspace)
    surface = Surface.of(read=["./"], write=[write])
    wanted = Confinement(surface, workspace, program, ENVIRONMENT, layer=LayerPlace.DISK)
    done = engine._held_run(engine.compile(wanted), (), Io(keeps=True), state=state)
    assert done.exit_code == 0, done.stderr
    return done


def _layers(state: Path) -> list[str]:
    folder = state / "layers"
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


def _noted(layer: int | None) -> LayerNote:
    assert layer is not None
    note = note_of(layer)
    assert note is not None
    return note


def test_what_a_run_writes_lies_on_the_disk_until_it_is_let_go_of(
    engine: NativeEngine, workspace: Path, state: Path
) -> None:
    """On the workspace's file system, whatever its path looks like; afterwards nothing is left."""
    done = _run(engine, workspace, state, "open('file', 'w').write('new'); open('made', 'w')")
    assert done.layer is not None
    upper = Path(f"/proc/self/fd/{done.layer}/upper0")
    assert (upper / "file").read_text(encoding="utf-8") == "new"
    assert upper.stat().st_dev == workspace.stat().st_dev
    assert (workspace / "file").read_text(encoding="utf-8") == "old"
    let_go_of(done.layer)
    assert _layers(state) == []
    assert sorted(each.name for each in workspace.iterdir()) == ["file"]


def test_the_record_says_what_held_the_layer_and_its_size(
    engine: NativeEngine, workspace: Path, state: Path
) -> None:
    """A watcher holds what is written, which is observed; a size in memory would be the kernel's."""
    done = _run(engine, workspace, state, "")
    held = {each.control: each for each in done.held}
    assert held[Control.LAYER].mechanism == "overlayfs over folders on the disk"
    assert held[Control.WRITTEN].mechanism.startswith("watcher: ")
    assert held[Control.WRITTEN].truth is Truth.OBSERVED
    assert done.layer is not None
    let_go_of(done.layer)


def test_the_kernel_says_when_nobody_holds_a_layer_any_more(
    engine: NativeEngine, workspace: Path, state: Path
) -> None:
    """A run that is over has nothing open: what is in its layer may be moved."""
    done = _run(engine, workspace, state, "open('made', 'w').write('x')")
    assert _noted(done.layer).is_alone
    let_go_of(done.layer or 0)


def test_a_descriptor_that_was_passed_out_is_noticed(tmp_path: Path) -> None:
    """Somebody outside who has a file of the layer open could write to it after it was hashed.

    So nothing is moved then; and when that somebody is gone, it may be.
    """
    workspace, state = tmp_path / "ws", tmp_path / "state"
    workspace.mkdir()
    words = [sys.executable, "-m", "tests.enforce.passedout", str(workspace), str(state)]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert done.stdout.split() == [b"passed", b"held", b"free"]


def test_a_folder_that_is_writable_and_does_not_exist_is_there(
    engine: NativeEngine, workspace: Path, state: Path
) -> None:
    """It is made in the layer before the run."""
    done = _run(engine, workspace, state, "open('out/deep/f', 'w').write('x')", write="out/deep/")
    assert done.layer is not None
    assert Path(f"/proc/self/fd/{done.layer}/upper0/out/deep/f").read_text("utf-8") == "x"
    let_go_of(done.layer)


def test_a_layer_that_is_kept_stays_until_it_is_forgotten(
    engine: NativeEngine, workspace: Path, state: Path
) -> None:
    """It is neither removed when it is let go of nor swept."""
    done = _run(engine, workspace, state, "")
    assert done.layer is not None
    keep_layer(done.layer)
    let_go_of(done.layer)
    sweep_layers(state)
    [name] = _layers(state)
    again = os.open(state / "layers" / name, os.O_RDONLY | os.O_DIRECTORY)
    forget_layer(again)
    let_go_of(again)
    assert _layers(state) == []


def test_a_layer_whose_run_was_killed_is_swept_by_the_next(workspace: Path, state: Path) -> None:
    """With the folder in it that even its owner may not enter; one that is in use stays."""
    words = [sys.executable, "-m", "tests.enforce.killedlayer", str(workspace), str(state)]
    with subprocess.Popen(words, cwd=REPOSITORY, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"written\n"
        [left] = _layers(state)
        assert (state / "layers" / left / "upper0" / "made").exists()
        sweep_layers(state)
        assert _layers(state) == [left]
        running.send_signal(signal.SIGKILL)
    sweep_layers(state)
    assert _layers(state) == []


def _layered(folder: Path) -> list[Layered]:
    found = folder.stat()
    root = Root(
        folder,
        Pattern.parse("./"),
        is_whole=True,
        is_folder=True,
        identity=(found.st_dev, found.st_ino),
    )
    return [Layered(0, root, (root,))]


def test_a_state_on_another_mount_has_the_layer_beside_the_root(workspace: Path) -> None:
    """In a hidden folder above it, which goes with the layer, also when that is swept."""
    state = another_device(workspace)
    if state is None:
        pytest.skip("this host has no second file system to write to")
    try:
        ids = (os.geteuid(), os.getegid())
        with DiskLayer.made(state, _layered(workspace), ids) as layer:
            [(path, _)] = layer.told.values()
            assert Path(path).parent == workspace.parent
            assert Path(path).name.startswith(".consentry-layer-")
            assert Path(path).stat().st_mode & 0o777 == 0o700
            assert (Path(path) / "upper0").stat().st_dev == workspace.stat().st_dev
        assert sorted(each.name for each in workspace.parent.iterdir()) == ["ws"]
        left = DiskLayer.made(state, _layered(workspace), ids)
        os.close(left.descriptor)  # as when its process is killed
        os.close(left.bell)
        sweep_layers(state)
        assert sorted(each.name for each in workspace.parent.iterdir()) == ["ws"]
    finally:
        for each in (state / "layers", state):
            each.rmdir()


def test_a_state_in_the_root_itself_is_refused_where_there_is_no_other_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No overlay is made of a folder and what is in it; the message says what to do."""
    monkeypatch.setattr("consentry.enforce.native.disklayer._is_own_place", lambda *_: False)
    with pytest.raises(Refused, match="which has your state in it") as caught:
        DiskLayer.made(tmp_path / "state", _layered(tmp_path), (os.geteuid(), os.getegid()))
    assert "--layer memory" in (caught.value.help_line or "")
    assert _layers(tmp_path / "state") == []
