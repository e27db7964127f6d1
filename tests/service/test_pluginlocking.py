"""Writing the lock: never over what another command wrote, and never one that cannot be read again."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.declare.pluginlock import LOCK_NAME, PluginLock, lock_text
from consentry.declare.pluginlockfile import read_lock
from consentry.enforce.folderlock import TRY, locked_folder
from consentry.examine.pluginproblems import Rejection, VerificationError
from consentry.examine.plugintree import read_tree
from consentry.service import pluginlocking
from consentry.service.placedfile import place_new, replace_whole
from consentry.service.pluginlocking import manifest_of, write_lock
from consentry.service.pluginroots import lock_bytes

DIGEST = Digest(f"sha256:{'a' * 64}")


def lock_of(*tools: str) -> PluginLock:
    """A lock with nothing but tools."""
    return PluginLock(tools=dict.fromkeys(tools, DIGEST))


def refusal_of(root: Path, lock: PluginLock, over: bytes | None) -> UsageProblem:
    """Why the lock was not written; what was there is there still."""
    before = lock_bytes(root)
    with pytest.raises(UsageProblem) as raised:
        write_lock(root, lock, over=over)
    assert lock_bytes(root) == before
    assert [each.name for each in root.iterdir()] == ([LOCK_NAME] if before else [])
    assert raised.value.code is Code.FILE_UNUSABLE
    return raised.value


def test_a_lock_takes_the_place_of_the_one_that_was_read(tmp_path: Path) -> None:
    """The first one, and the next."""
    write_lock(tmp_path, lock_of("a"), over=None)
    write_lock(tmp_path, lock_of("b"), over=lock_bytes(tmp_path))
    assert lock_bytes(tmp_path) == lock_text(lock_of("b"))


def test_what_another_command_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    """Also where there was none, or is none any more."""
    write_lock(tmp_path, lock_of("theirs"), over=None)
    for over in (None, lock_text(lock_of("old"))):
        assert "run the command again" in str(refusal_of(tmp_path, lock_of("ours"), over).help_line)
    (tmp_path / LOCK_NAME).unlink()
    refusal_of(tmp_path, lock_of("ours"), lock_text(lock_of("old")))


def test_while_another_command_writes_nothing_is_written(tmp_path: Path) -> None:
    """It is not waited for, either: what it writes will not be what was read."""
    held = locked_folder(tmp_path, TRY)
    assert held is not None
    refusal_of(tmp_path, lock_of("ours"), None)
    os.close(held)
    write_lock(tmp_path, lock_of("ours"), over=None)


def added_to(root: Path, tool: str) -> bool:
    """Adds a tool to the lock that is there; whether that was said to be done."""
    over = lock_bytes(root)
    assert over is not None
    try:
        write_lock(root, lock_of(*read_lock(over).tools, tool), over=over)
    except UsageProblem:
        return False
    return True


def all_at_once(root: Path) -> tuple[set[str], set[str]]:
    """Which tools were said to have been added, and which are in the lock in the end."""
    write_lock(root, lock_of(), over=None)
    names = [f"tool-{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda name: added_to(root, name), names))
    said = {name for name, was_done in zip(names, done, strict=True) if was_done}
    return said, set(read_lock((root / LOCK_NAME).read_bytes()).tools)


def test_of_many_at_once_none_is_lost_that_said_done(tmp_path: Path) -> None:
    """Some are told to run again; every other one is in the lock."""
    said, found = all_at_once(tmp_path)
    assert said == found
    assert said


def test_by_replacing_alone_some_would_be_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The danger is real: whoever is last wins."""

    def careless(root: Path, lock: PluginLock, *, over: bytes | None) -> None:
        if over is None:
            place_new(str(root / LOCK_NAME), lock_text(lock))
        else:
            replace_whole(root / LOCK_NAME, lock_text(lock))

    monkeypatch.setitem(globals(), "write_lock", careless)
    said, found = all_at_once(tmp_path)
    assert found < said


def test_a_lock_that_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be too large for its own reader."""
    monkeypatch.setattr(pluginlocking, "MOST_LOCK", 200)
    assert "could not be read again" in refusal_of(tmp_path, lock_of("a", "b"), None).message


def test_a_manifest_with_several_faults_is_told_by_its_first(tmp_path: Path) -> None:
    """In one line, with its place and how many there are."""
    place = tmp_path / "notes"
    place.mkdir()
    (place / "plugin.yaml").write_text('pluginVersion: "1"\nname: notes\nversion: "1"\nmore: x\n')
    with pytest.raises(VerificationError) as raised:
        manifest_of(read_tree(place, keep_contents=True))
    found = raised.value
    assert found.reason is Rejection.MANIFEST
    assert found.where is not None
    assert (found.where.file, found.where.line) == ("notes/plugin.yaml", 3)
    assert found.message.endswith("(2 things are wrong, this is the first)")
    assert "\n" not in found.message
