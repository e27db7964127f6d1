"""Undoing takes the tree back to what it was, or leaves it alone and lists what stands in the way."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.enforce import undo as undo_module
from consentry.enforce.commit import CommitResult, CommitTerms, commit
from consentry.enforce.commitrecover import Tidying, recover
from consentry.enforce.keptshelf import UNDO, Keeping, Shelf
from consentry.enforce.undo import UndoTerms, undo
from tests.enforce.kepteffects import RUN, can_be_undone, folder_of, same_bytes_but
from tests.enforce.layers import Layer, another_device, made_layer
from tests.enforce.layers import opened as opened_layer
from tests.enforce.test_layerscan import SCRIPT_OF_ALL_KINDS, host_with_all_kinds
from tests.enforce.treesight import sight_of

SOMEBODY = 23456


@pytest.fixture(params=["same file system", "another one"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """The state directory, on the root's file system and on another one."""
    if request.param == "same file system":
        yield tmp_path / "state"
        return
    place = another_device(tmp_path)
    if place is None:
        pytest.skip("this host has no second file system to write to")
    try:
        yield place
    finally:
        shutil.rmtree(place)


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A root with some files."""
    folder = tmp_path / "host"
    (folder / "tree/deep").mkdir(parents=True)
    for name in ("a", "b", "gone", "tree/x", "tree/deep/y"):
        (folder / name).write_text(f"old {name}", encoding="utf-8")
    return folder


SCRIPT = """
import shutil
open('a', 'w').write('new a'); os.chmod('b', 0o600); os.unlink('gone')
shutil.rmtree('tree'); os.mkdir('made'); open('made/m', 'w').write('m'); os.symlink('made', 'l')
"""


def _committed(layer: Layer, state: Path) -> None:
    assert layer.committed(state, run=RUN).result is CommitResult.COMMITTED


def test_every_kind_of_change_is_taken_back(tmp_path: Path, state: Path) -> None:
    """Types, modes, bytes, targets, attributes, several names: all as before, nothing left."""
    layer = made_layer(tmp_path, host_with_all_kinds(tmp_path), SCRIPT_OF_ALL_KINDS)
    host = Path(os.fsdecode(layer.root.host))
    before = sight_of(host)
    _committed(layer, state)
    assert sight_of(host) == layer.seen
    assert undo(state, RUN) == ()
    assert sight_of(host) == before
    assert not can_be_undone(state)
    assert [each.name for each in (state / "commits").iterdir()] == ["turn"]
    assert recover(state) == ()


def test_bits_owners_times_and_holes_come_back(tmp_path: Path, host: Path, state: Path) -> None:
    """What a run may never write, it may still replace or delete; undone, it is what it was."""
    tool = host / "tree/tool"
    tool.write_bytes(b"x")
    os.truncate(tool, 1 << 20)
    os.link(tool, host / "tree/deep/again")
    if os.geteuid() == 0:
        os.chown(tool, SOMEBODY, SOMEBODY)
    tool.chmod(0o4755)
    os.utime(tool, ns=(1, 1_234_567_890_123_456_789))
    before = tool.stat()
    _committed(made_layer(tmp_path, host, SCRIPT), state)
    assert not tool.exists()
    assert undo(state, RUN) == ()
    after = tool.stat()
    wanted = ("st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_nlink")
    assert [getattr(after, name) for name in wanted] == [getattr(before, name) for name in wanted]
    assert after.st_blocks * 512 < 1 << 20
    assert (host / "tree/deep/again").samefile(tool)


def test_the_workspace_is_clean_while_a_commit_can_be_undone(
    tmp_path: Path, host: Path, state: Path
) -> None:
    """Nothing hidden stays in it, wherever the state directory is."""
    layer = made_layer(tmp_path, host, SCRIPT)
    _committed(layer, state)
    assert can_be_undone(state)
    assert sight_of(host) == layer.seen


def _edit(host: Path) -> None:
    (host / "a").write_text("mine", encoding="utf-8")


def _add(host: Path) -> None:
    (host / "made/mine").write_text("mine", encoding="utf-8")


def _make(host: Path) -> None:
    (host / "gone").write_text("mine", encoding="utf-8")


def _retarget(host: Path) -> None:
    (host / "l").unlink()
    (host / "l").symlink_to("elsewhere")


CHANGES = [
    pytest.param(_edit, "a", id="changed"),
    pytest.param(lambda host: same_bytes_but(host / "a"), "a", id="changed in secret"),
    pytest.param(lambda host: same_bytes_but(host / "made/m"), "made/m", id="changed below"),
    pytest.param(lambda host: (host / "a").chmod(0o711), "a", id="mode of a changed file"),
    pytest.param(lambda host: (host / "b").chmod(0o711), "b", id="mode"),
    pytest.param(lambda host: (host / "a").unlink(), "a", id="deleted"),
    pytest.param(_add, "made", id="put into a new folder"),
    pytest.param(_make, "gone", id="made where something was deleted"),
    pytest.param(_retarget, "l", id="another link"),
]


@pytest.mark.parametrize(("change", "path"), CHANGES)
def test_what_somebody_changed_since_is_listed_and_nothing_undone(
    change: Callable[[Path], None], path: str, tmp_path: Path, host: Path, state: Path
) -> None:
    """All or nothing; put back as it was, it can be undone still."""
    _committed(made_layer(tmp_path, host, SCRIPT), state)
    change(host)
    before = sight_of(host)
    conflicts = undo(state, RUN)
    assert conflicts is not None
    assert [each.path for each in conflicts] == [str(host / path)]
    assert sight_of(host) == before
    assert can_be_undone(state)


def test_after_a_refusal_it_can_be_undone_still(tmp_path: Path, host: Path, state: Path) -> None:
    """Once what stood in the way is gone."""
    before = sight_of(host)
    _committed(made_layer(tmp_path, host, SCRIPT), state)
    until = Shelf(state, UNDO).items()[0].until
    _make(host)
    assert undo(state, RUN)
    assert Shelf(state, UNDO).items()[0].until == until
    (host / "gone").unlink()
    assert undo(state, RUN) == ()
    assert sight_of(host) == before


def test_a_second_undo_finds_nothing(tmp_path: Path, host: Path, state: Path) -> None:
    """None says so."""
    _committed(made_layer(tmp_path, host, SCRIPT), state)
    assert undo(state, RUN) == ()
    assert undo(state, RUN) is None
    assert undo(state, "run-0") is None


def test_two_runs_are_undone_one_after_the_other(tmp_path: Path, host: Path) -> None:
    """The later one first; the earlier one is in conflict until then."""
    state = tmp_path / "state"
    before = sight_of(host)
    made_layer(tmp_path, host, "open('a', 'w').write('1')", name="1").committed(state, run="run-1")
    made_layer(tmp_path, host, "open('a', 'w').write('2')", name="2").committed(state, run="run-2")
    assert undo(state, "run-1")
    assert undo(state, "run-2") == ()
    assert undo(state, "run-1") == ()
    assert sight_of(host) == before


def test_a_kept_effect_that_was_tampered_with_undoes_nothing(
    tmp_path: Path, host: Path, state: Path
) -> None:
    """The ledger has its digest."""
    layer = made_layer(tmp_path, host, SCRIPT)
    outcome = layer.committed(state, run=RUN)
    seen = sight_of(host)
    place = folder_of(state, UNDO) / "effect"
    place.write_bytes(place.read_bytes().replace(b'"made/m"', b'"made/n"'))
    with pytest.raises(Refused) as caught:
        undo(state, RUN, terms=UndoTerms(digest=outcome.effect))
    assert caught.value.code is Code.EFFECT_TAMPERED
    assert sight_of(host) == seen


def test_without_the_check_what_somebody_wrote_would_be_lost(
    tmp_path: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control taken away: a change that shows nowhere but in the bytes is gone then."""
    state = tmp_path / "state"
    _committed(made_layer(tmp_path, host, SCRIPT), state)
    same_bytes_but(host / "a")
    monkeypatch.setattr(undo_module, "changed_since", lambda *_: iter(()))
    assert undo(state, RUN) == ()
    assert (host / "a").read_text(encoding="utf-8") == "old a"


def _keeping(clock: ManualClock, most: int) -> CommitTerms:
    return CommitTerms(Tidying(Keeping(Duration.parse("7d"), most, clock)))


def test_the_oldest_go_first_when_there_is_no_room(tmp_path: Path, host: Path) -> None:
    """And one that alone is larger than all that may be kept is not kept, and says why."""
    state, clock = tmp_path / "state", ManualClock(Instant.parse("2026-01-31T09:30:00.000Z"))
    (host / "a").write_bytes(b"x" * 1000)
    for number in range(4):
        script = f"open('a', 'w').write('{number}' * 1000)"
        layer = made_layer(tmp_path, host, script, name=f"layer-{number}")

        with opened_layer(layer.folder) as descriptor:
            commit(
                descriptor,
                layer.judged(),
                run=f"run-{number}",
                state=state,
                terms=_keeping(clock, 2500),
            )
        clock.advance(Duration.parse("1s"))
    assert {each.run for each in Shelf(state, UNDO).items()} == {"run-2", "run-3"}
    layer = made_layer(tmp_path, host, "os.unlink('a')", name="layer-last")
    with opened_layer(layer.folder) as descriptor:
        outcome = commit(
            descriptor, layer.judged(), run="run-9", state=state, terms=_keeping(clock, 500)
        )
    assert outcome.result is CommitResult.COMMITTED
    assert outcome.undo.until is None
    assert "larger" in str(outcome.undo.why)
    assert not can_be_undone(state, "run-9")
