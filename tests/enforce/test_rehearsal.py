"""What a rehearsal would change is kept as it was, and committed as exactly that or not at all."""

import os
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.enforce.commit import CommitResult, commit
from consentry.enforce.effect import Effect, effect_digest
from consentry.enforce.keptshelf import REHEARSED, Keeping, Shelf, sweep_if_due
from consentry.enforce.rehearsal import keep, read_effect
from tests.enforce.kepteffects import RUN, committed, folder_of, kept, same_bytes_but, taken
from tests.enforce.layers import made_layer, opened
from tests.enforce.test_layerscan import SCRIPT_OF_ALL_KINDS, host_with_all_kinds
from tests.enforce.treesight import sight_of


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A root with two files."""
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "a").write_text("old a", encoding="utf-8")
    (folder / "b").write_text("old b", encoding="utf-8")
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Where effects are kept; does not exist yet."""
    return tmp_path / "state"


def test_what_was_kept_is_committed_as_the_run_saw_it(tmp_path: Path, state: Path) -> None:
    """Every kind of change: types, modes, bytes, holes, targets, attributes, several names."""
    layer = made_layer(tmp_path, host_with_all_kinds(tmp_path), SCRIPT_OF_ALL_KINDS)
    host = Path(os.fsdecode(layer.root.host))
    before = sight_of(host)
    rehearsed = kept(layer, state)
    assert sight_of(host) == before
    for path in sorted(layer.folder.rglob("*"), reverse=True):
        if not path.is_symlink() and path.is_file():
            path.unlink()  # the layer is gone with its process; only what was kept counts
    assert committed(state, rehearsed.digest).result is CommitResult.COMMITTED
    assert sight_of(host) == layer.seen


def test_an_effect_reads_back_as_it_was_written(tmp_path: Path, host: Path, state: Path) -> None:
    """Names with line feeds, control characters and bytes that are no UTF-8 included."""
    script = "open('x\\n\\x1b\\udcff', 'w').write('1'); os.unlink('a'); os.symlink('b\\udcfe', 'l')"
    rehearsed = kept(made_layer(tmp_path, host, script), state)
    content = (folder_of(state) / "effect").read_bytes()
    effect = Effect.from_bytes(content)
    assert effect == rehearsed.effect
    assert effect.to_bytes() == content
    assert effect_digest(content) == rehearsed.digest
    assert {each.path for each in effect.changes} == {b"x\n\x1b\xff", b"a", b"l"}
    assert committed(state, rehearsed.digest).result is CommitResult.COMMITTED
    assert os.fsdecode(b"x\n\x1b\xff") in sight_of(host)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"version": 2}', b'{"version": 1}', b"\xff"]
)
def test_what_is_no_effect_is_refused(content: bytes) -> None:
    """Cut, empty, of another version, or not JSON at all."""
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the reader found first
        Effect.from_bytes(content)


@pytest.mark.parametrize(
    ("meddling", "path"),
    [
        (lambda host: (host / "a").write_text("mine", encoding="utf-8"), "a"),
        (lambda host: (host / "a").unlink(), "a"),
        (lambda host: (host / "new").write_text("mine", encoding="utf-8"), "new"),
    ],
    ids=["changed", "deleted", "made"],
)
def test_what_somebody_changed_meanwhile_is_a_conflict(
    meddling: object, path: str, tmp_path: Path, host: Path, state: Path
) -> None:
    """Listed, and nothing is changed: never the last writer wins."""
    script = "open('a', 'w').write('new'); open('b', 'w').write('new'); open('new', 'w')"
    rehearsed = kept(made_layer(tmp_path, host, script), state)
    meddling(host)  # type: ignore[operator]
    before = sight_of(host)
    outcome = committed(state, rehearsed.digest)
    assert outcome.result is CommitResult.CONFLICT
    assert [each.path for each in outcome.conflicts] == [str(host / path)]
    assert sight_of(host) == before


def test_a_kept_file_that_was_tampered_with_is_refused(
    tmp_path: Path, host: Path, state: Path
) -> None:
    """The attack: the same size and time, another byte. Without it the commit goes through."""
    layer = made_layer(tmp_path, host, "open('a', 'w').write('new a'); open('n', 'w').write('n')")
    rehearsed = kept(layer, state)
    same_bytes_but(folder_of(state) / "layer/upper0/a")
    with pytest.raises(Refused) as caught:
        committed(state, rehearsed.digest)
    assert caught.value.code is Code.COMMIT_REFUSED
    assert (host / "a").read_text(encoding="utf-8") == "old a"
    assert not (host / "n").exists()
    same_bytes_but(folder_of(state) / "layer/upper0/a")
    assert committed(state, rehearsed.digest).result is CommitResult.COMMITTED


def test_without_its_hash_the_same_tampering_would_be_committed(
    tmp_path: Path, host: Path, state: Path
) -> None:
    """The control taken away: nothing but the hash stands between the disk and the workspace."""
    layer = made_layer(tmp_path, host, "open('a', 'w').write('new a')")
    rehearsed = kept(layer, state)
    same_bytes_but(folder_of(state) / "layer/upper0/a")
    with taken(state, rehearsed.digest) as (effect, descriptor):
        unhashed = tuple(replace(each, sha256=None) for each in effect.changes)
        verdicts = replace(effect, changes=unhashed).verdicts()
        assert commit(descriptor, verdicts, run=RUN, state=state).result is CommitResult.COMMITTED
    assert (host / "a").read_text(encoding="utf-8") == "oew a"


def test_an_effect_that_was_tampered_with_is_refused(
    tmp_path: Path, host: Path, state: Path
) -> None:
    """The digest is in the ledger: another path, mode or hash in the file is not that effect."""
    rehearsed = kept(made_layer(tmp_path, host, "open('n', 'w').write('n')"), state)
    place = folder_of(state) / "effect"
    place.write_bytes(place.read_bytes().replace(b'"n"', b'"m"'))
    with pytest.raises(Refused) as caught:
        committed(state, rehearsed.digest)
    assert caught.value.code is Code.EFFECT_TAMPERED
    assert sight_of(host).keys() == {"a", "b"}


def test_a_root_that_was_replaced_is_refused(tmp_path: Path, host: Path, state: Path) -> None:
    """Another folder of the same name is not the workspace that was rehearsed in."""
    rehearsed = kept(made_layer(tmp_path, host, "open('n', 'w').write('n')"), state)
    host.rename(tmp_path / "away")
    host.mkdir()
    with pytest.raises(Refused) as caught:
        committed(state, rehearsed.digest)
    assert caught.value.code is Code.FILESYSTEM_RACE
    assert sight_of(host) == {}


def test_devices_may_have_other_numbers_after_a_restart(
    tmp_path: Path, host: Path, state: Path
) -> None:
    """The inode still has to be the same one; within one start the device counts, too."""
    rehearsed = kept(made_layer(tmp_path, host, "open('a', 'w').write('new')"), state)
    root = rehearsed.effect.roots[0]
    moved = replace(root, identity=(root.identity[0] + 1, root.identity[1]))
    changes = tuple(
        replace(each, root=moved, was=replace(each.was, device=each.was.device + 1))
        for each in rehearsed.effect.changes
        if each.was is not None
    )
    renumbered = replace(rehearsed.effect, roots=(moved,), changes=changes)
    with taken(state, rehearsed.digest) as (_, layer):
        with pytest.raises(Refused):
            commit(layer, renumbered.verdicts(), run="run-2", state=state)
        later = replace(renumbered, boot="another")
        done = commit(layer, later.verdicts(), run=RUN, state=state)
    assert done.result is CommitResult.COMMITTED
    assert (host / "a").read_text(encoding="utf-8") == "new"


def test_a_full_disk_while_keeping_leaves_nothing(tmp_path: Path, host: Path, state: Path) -> None:
    """The run is told that its effect is gone, and the workspace is as it was."""
    layer = made_layer(tmp_path, host, "open('big', 'w').write('x' * 100000)")
    verdicts = layer.judged()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(layer.folder) as descriptor:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
        try:
            with pytest.raises(Refused) as caught:
                keep(descriptor, verdicts, run=RUN, state=state, keeping=Keeping())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.code is Code.EFFECT_UNKEPT
    assert list((state / REHEARSED).iterdir()) == []
    assert sight_of(host).keys() == {"a", "b"}


def test_what_is_over_is_swept_unless_it_is_in_use(tmp_path: Path, host: Path, state: Path) -> None:
    """By whoever starts next; half-made items go, too, and what is locked stays."""
    clock = ManualClock(Instant.parse("2026-01-31T09:30:00.000Z"))
    keeping = Keeping(Duration.parse("7d"), clock=clock)
    layer = made_layer(tmp_path, host, "open('n', 'w').write('n')")
    used = kept(layer, state, keeping)
    kept(layer, state, keeping, run="run-2")
    clock.advance(Duration.parse("6d"))
    kept(layer, state, keeping, run="run-3")
    (state / REHEARSED / "new+run-4").mkdir()
    clock.advance(Duration.parse("2d"))
    with taken(state, used.digest):
        sweep_if_due(state, keeping)
        assert {each.run for each in Shelf(state, REHEARSED).items()} == {RUN, "run-3"}
    sweep_if_due(state, keeping)  # not again within the hour
    assert Shelf(state, REHEARSED).found(RUN) is not None
    clock.advance(Duration.parse("2h"))
    sweep_if_due(state, keeping)
    assert [each.name.partition("@")[0] for each in (state / REHEARSED).iterdir()] == ["run-3"]


def test_the_dropped_are_listed_with_the_reason(tmp_path: Path, host: Path, state: Path) -> None:
    """What lies outside of the patterns is neither kept nor forgotten."""
    layer = made_layer(tmp_path, host, "open('in', 'w'); open('out', 'w').write('out')")
    verdicts = layer.judged(["./in"])
    with opened(layer.folder) as descriptor:
        rehearsed = keep(descriptor, verdicts, run=RUN, state=state, keeping=Keeping())
    assert [each.path for each in rehearsed.effect.changes] == [b"in"]
    (dropped,) = rehearsed.effect.dropped
    assert dropped.path == str(host / "out")
    assert "outside" in dropped.rule
    assert not (folder_of(state) / "layer/upper0/out").exists()
    with Shelf(state, REHEARSED).taken(rehearsed.item) as tree:
        assert tree is not None
        assert read_effect(tree, rehearsed.digest).dropped == rehearsed.effect.dropped
