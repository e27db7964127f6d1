"""Committing: the host becomes what the run saw, or stays what it was."""

import os
import resource
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce import commitapply
from consentry.enforce.commit import CommitResult
from consentry.enforce.filecalls import CannotExchange
from consentry.enforce.layer import LayerRoot, file_clock_ns
from consentry.enforce.layerscan import ScanLimits
from consentry.enforce.writeverdicts import judge
from consentry.surface.modes import LayerPlace
from tests.enforce.layers import Layer, another_device, made_layer
from tests.enforce.test_layerscan import SCRIPT_OF_ALL_KINDS, host_with_all_kinds
from tests.enforce.treesight import sight_of

pytestmark = pytest.mark.usefixtures("layer_kind")

SOMEBODY = 23456


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """An empty root."""
    folder = tmp_path / "host"
    folder.mkdir()
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Where journals are kept; does not exist yet."""
    return tmp_path / "state"


def leftovers(state: Path, host: Path) -> list[str]:
    """What a commit should not have left behind."""
    folders = [each.name for each in (state / "commits").iterdir() if each.name != "turn"]
    return folders + [path for path in sight_of(host) if "consentry" in path]


def _all_kinds(place: Path) -> Layer:
    return made_layer(place, host_with_all_kinds(place), SCRIPT_OF_ALL_KINDS)


def test_the_committed_tree_equals_what_the_run_saw(tmp_path: Path, state: Path) -> None:
    """Every kind of change at once: types, modes, bytes, targets, attributes, several names."""
    layer = _all_kinds(tmp_path)
    host = Path(os.fsdecode(layer.root.host))
    assert sight_of(host) != layer.seen
    outcome = layer.committed(state)
    assert outcome.result is CommitResult.COMMITTED
    assert sight_of(host) == layer.seen
    assert leftovers(state, host) == []


def test_the_same_where_names_cannot_change_places_at_once(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without that call gets two renames instead.

    The refusal is made up: every file system that the tests can count on knows the call.
    """

    def refuse(*_: object) -> None:
        raise CannotExchange

    monkeypatch.setattr(commitapply, "exchange", refuse)
    layer = _all_kinds(tmp_path)
    assert layer.committed(state).result is CommitResult.COMMITTED
    assert sight_of(os.fsdecode(layer.root.host)) == layer.seen


def test_the_same_where_the_state_lies_on_another_file_system(tmp_path: Path) -> None:
    """New files are then put together in a hidden folder of the root, which is gone afterwards."""
    state = another_device(tmp_path)
    if state is None:
        pytest.skip("this host has no second file system to write to")
    layer = _all_kinds(tmp_path)
    host = Path(os.fsdecode(layer.root.host))
    seen: set[str] = set()

    def look(_: str) -> None:
        seen.update(each.name for each in host.iterdir() if "consentry" in each.name)

    try:
        assert layer.committed(state, reached=look).result is CommitResult.COMMITTED
        assert seen == {".consentry-staging-run-1"}
        assert sight_of(host) == layer.seen
        assert leftovers(state, host) == []
    finally:
        shutil.rmtree(state)


def test_times_are_kept(host: Path, state: Path, tmp_path: Path) -> None:
    """A build tool would otherwise build everything again."""
    (host / "f").write_text("old", encoding="utf-8")
    script = (
        "open('f', 'w').write('new'); os.utime('f', ns=(5, 7_000_000_001)); os.mkdir('d');"
        "open('d/n', 'w'); os.utime('d/n', ns=(5, 9_000_000_002)); os.utime('d', ns=(5, 8_000))"
    )
    made_layer(tmp_path, host, script).committed(state)
    times = [(host / name).stat().st_mtime_ns for name in ("f", "d", "d/n")]
    assert times == [7_000_000_001, 8_000, 9_000_000_002]


def test_bits_that_lend_an_identity_are_not_committed(
    host: Path, state: Path, tmp_path: Path
) -> None:
    """Neither on new files nor on changed ones."""
    script = "open('n', 'w'); os.chmod('n', 0o6755); os.mkdir('d'); os.chmod('d', 0o6755)"
    layer = made_layer(tmp_path, host, script)
    layer.committed(state)
    assert stat.S_IMODE((host / "n").stat().st_mode) == 0o755
    assert stat.S_IMODE((host / "d").stat().st_mode) == 0o755


def test_holes_stay_holes(host: Path, state: Path, tmp_path: Path) -> None:
    """A sparse file takes no more room than it did in the layer."""
    script = "f = open('s', 'wb'); f.truncate(1 << 28); f.seek(1 << 27); f.write(b'x'); f.close()"
    made_layer(tmp_path, host, script).committed(state)
    found = (host / "s").stat()
    assert found.st_size == 1 << 28
    assert found.st_blocks * 512 < 1 << 20


def test_only_what_was_accepted_is_committed(host: Path, state: Path, tmp_path: Path) -> None:
    """Dropped files leave no trace, and their folders none either."""
    script = (
        "os.makedirs('out/deep'); open('out/a.txt', 'w'); open('out/deep/b.sh', 'w');"
        "os.makedirs('.git/hooks'); open('.git/hooks/pre-commit', 'w'); open('.git/HEAD', 'w')"
    )
    layer = made_layer(tmp_path, host, script)
    assert layer.committed(state, allowed=["out/*.txt", ".git/"]).result is CommitResult.COMMITTED
    assert sorted(sight_of(host)) == [".git", ".git/HEAD", "out", "out/a.txt"]


def test_nothing_accepted_is_nothing_done(host: Path, state: Path, tmp_path: Path) -> None:
    """Not even a lock is taken."""
    layer = made_layer(tmp_path, host, "open('n', 'w')")
    assert layer.committed(state, allowed=["out/"]).result is CommitResult.NOTHING
    assert not state.exists()


def test_a_root_that_did_not_exist_is_made(host: Path, state: Path, tmp_path: Path) -> None:
    """With the folders on the way to it."""
    root = LayerRoot.over(0, host / "out" / "deep")
    layer = made_layer(tmp_path, host, "open('f', 'w').write('x')", root=root)
    assert layer.committed(state, allowed=["out/deep/"]).result is CommitResult.COMMITTED
    assert (host / "out" / "deep" / "f").read_text(encoding="utf-8") == "x"


def test_a_folder_that_even_its_owner_may_not_write_is_written_and_closed_again(
    host: Path, state: Path, tmp_path: Path
) -> None:
    """The run lifted the mode, wrote, and set it back; the commit does the same."""
    (host / "d" / "sub").mkdir(parents=True)
    (host / "d" / "f").write_text("old", encoding="utf-8")
    (host / "d").chmod(0o555)
    script = (
        "os.chmod('d', 0o755); open('d/f', 'w').write('new'); open('d/n', 'w');"
        "os.rmdir('d/sub'); os.chmod('d', 0o555)"
    )
    layer = made_layer(tmp_path, host, script)
    outcome = layer.committed(state)
    found = sight_of(host)
    (host / "d").chmod(0o755)
    assert outcome.result is CommitResult.COMMITTED
    assert found == layer.seen


def test_closed_folders_are_deleted_and_made(host: Path, state: Path, tmp_path: Path) -> None:
    """A folder is renamed only by who may write it, so its mode is lifted for that moment."""
    (host / "gone").mkdir(mode=0o555)
    (host / "swap").mkdir(mode=0o555)
    script = (
        "os.rmdir('gone'); os.rmdir('swap'); open('swap', 'w'); os.mkdir('n'); open('n/f', 'w');"
        "os.chmod('n', 0o555)"
    )
    layer = made_layer(tmp_path, host, script)
    outcome = layer.committed(state)
    found = sight_of(host)
    (host / "n").chmod(0o755)
    assert outcome.result is CommitResult.COMMITTED
    assert found == layer.seen
    assert leftovers(state, host) == []


def test_a_thousand_files_are_committed(host: Path, state: Path, tmp_path: Path) -> None:
    """Changed, new and deleted ones, in many folders."""
    for number in range(600):
        folder = host / f"d{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}").write_text("old" * 100, encoding="utf-8")
    script = (
        "for n in range(600):\n"
        " p = f'd{n % 20}/f{n}'\n"
        " os.unlink(p) if n % 3 == 0 else open(p, 'w').write('new' * 200)\n"
        "for n in range(400):\n"
        " open(f'd{n % 20}/n{n}', 'w').write('x')\n"
    )
    layer = made_layer(tmp_path, host, script)
    assert layer.committed(state).result is CommitResult.COMMITTED
    assert sight_of(host) == layer.seen


def test_an_incomplete_scan_is_never_committed(host: Path, state: Path, tmp_path: Path) -> None:
    """A part of what a run did is not what it did."""
    layer = made_layer(tmp_path, host, "for n in range(30): open(str(n), 'w')")
    verdicts = judge(layer.scanned(ScanLimits(most_entries=10)), layer.rules())
    with pytest.raises(Refused, match="more files than"):
        layer.committed(state, verdicts=verdicts)
    assert sight_of(host) == {}


def test_bytes_that_changed_in_the_layer_are_refused(
    host: Path, state: Path, tmp_path: Path
) -> None:
    """What is committed is what was hashed, and nothing else."""
    layer = made_layer(tmp_path, host, "open('a', 'w').write('good'); open('b', 'w').write('good')")
    verdicts = layer.judged()
    (layer.folder / "upper0" / "b").write_text("evil", encoding="utf-8")
    with pytest.raises(Refused) as caught:
        layer.committed(state, verdicts=verdicts)
    assert caught.value.code is Code.COMMIT_REFUSED
    assert sight_of(host) == {}
    assert leftovers(state, host) == []


def test_an_id_that_is_no_name_is_refused(host: Path, state: Path, tmp_path: Path) -> None:
    """It names a folder of the state directory."""
    layer = made_layer(tmp_path, host, "open('a', 'w')")
    with pytest.raises(Refused, match="not the id of a run"):
        layer.committed(state, run="../../escape")


def test_a_disk_that_cannot_be_written_refuses_the_whole(
    host: Path, state: Path, tmp_path: Path, layer_kind: LayerPlace
) -> None:
    """Nothing is committed when one file does not fit where it should go; one there already fits."""
    layer = made_layer(tmp_path, host, "open('a', 'w'); open('b', 'w').write('x' * (1 << 22))")
    verdicts = layer.judged()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        if layer_kind is LayerPlace.DISK:
            assert layer.committed(state, verdicts=verdicts).result is CommitResult.COMMITTED
            assert (host / "b").stat().st_size == 1 << 22
            return
        with pytest.raises(Refused) as caught:
            layer.committed(state, verdicts=verdicts)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.code is Code.COMMIT_REFUSED
    assert sight_of(host) == {}
    assert leftovers(state, host) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_committed_files_have_a_sane_owner(host: Path, state: Path, tmp_path: Path) -> None:
    """A changed file keeps its owner; a new one belongs to whoever owns its folder."""
    (host / "f").write_text("old", encoding="utf-8")
    (host / "d").mkdir()
    script = "open('f', 'w').write('new'); os.makedirs('d/e'); open('d/e/n', 'w')"
    layer = made_layer(tmp_path, host, script)
    os.chown(host / "f", SOMEBODY, SOMEBODY + 1)
    os.chown(host / "d", SOMEBODY + 2, SOMEBODY + 3)
    layer = replace(layer, started_ns=file_clock_ns())
    assert layer.committed(state).result is CommitResult.COMMITTED
    owners = {name: (host / name).stat() for name in ("f", "d/e", "d/e/n")}
    assert (owners["f"].st_uid, owners["f"].st_gid) == (SOMEBODY, SOMEBODY + 1)
    for name in ("d/e", "d/e/n"):
        assert (owners[name].st_uid, owners[name].st_gid) == (SOMEBODY + 2, SOMEBODY + 3)


def test_a_folder_that_hands_on_its_group_does_so(host: Path, state: Path, tmp_path: Path) -> None:
    """New folders in it carry the bit on, as if they had been made there."""
    (host / "d").mkdir()
    (host / "d").chmod(0o2775)
    layer = made_layer(tmp_path, host, "os.makedirs('d/e')")
    layer.committed(state)
    assert (host / "d").stat().st_mode & stat.S_ISGID
    assert (host / "d" / "e").stat().st_mode & stat.S_ISGID
    assert (host / "d" / "e").stat().st_gid == (host / "d").stat().st_gid
