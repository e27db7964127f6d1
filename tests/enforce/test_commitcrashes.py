"""A commit that is killed anywhere is finished or undone by whoever comes next, never half there."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.commit import CommitResult
from consentry.enforce.commitjournal import Journal
from consentry.enforce.commitrecover import Recovery, recover
from tests.enforce.layers import Layer, another_device, made_layer
from tests.enforce.treesight import sight_of

pytestmark = pytest.mark.usefixtures("layer_kind")

REPOSITORY = Path(__file__).parents[2]
BEFORE = {
    "changed": "old",
    "deleted": "old",
    "mode": "old",
    "swap-to-folder": "old",
    "swap-to-file/inner": "old",
    "tree/a": "1",
    "tree/b/c": "2",
    "closed/f": "3",
    "shut/f": "4",
    "shut/gone": "5",
}
SCRIPT = """
import subprocess

open('changed', 'w').write('new')
os.unlink('deleted')
os.chmod('mode', 0o755)
os.unlink('swap-to-folder'); os.mkdir('swap-to-folder'); open('swap-to-folder/n', 'w').write('n')
os.unlink('swap-to-file/inner'); os.rmdir('swap-to-file'); open('swap-to-file', 'w').write('n')
subprocess.run(['rm', '-r', 'tree'], check=True)
os.makedirs('made/deep'); open('made/deep/x', 'w').write('x'); os.symlink('deep/x', 'made/l')
open('closed/f', 'w').write('9'); os.chmod('closed', 0o555)
os.mkdir('read-only'); open('read-only/f', 'w').write('f'); os.chmod('read-only', 0o555)
open('shut/f', 'w').write('9'); os.unlink('shut/gone'); open('shut/n', 'w').write('n')
open('theirs', 'w').write('ours')
"""


def host_before(folder: Path) -> Path:
    """The tree that the script changes."""
    for name, content in BEFORE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def _crashes(place: Path, way: str, state: Path) -> list[dict[str, Any]]:
    template = host_before(place / "template")
    (template / "shut").chmod(0o555)
    layer = made_layer(place, template, SCRIPT).folder
    words = [
        sys.executable,
        "-m",
        "tests.enforce.commitcrashes",
        *map(str, (place, way, state, layer)),
    ]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, check=False, timeout=55)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return [json.loads(line) for line in done.stdout.splitlines()]


def opened_up(place: Path) -> None:
    """Lets pytest remove what even its owner may not change."""
    for path in (*place.glob("*/shut"), *place.glob("*/closed"), *place.glob("*/read-only")):
        path.chmod(0o755)


def require_whole(crashes: list[dict[str, Any]]) -> Counter[str]:
    """After every crash the tree is the old or the new one, and nothing is left behind."""
    for crash in crashes:
        assert crash["tree"] in ("old", "new"), crash
        assert crash.get("left", []) == [], crash
        assert crash.get("again", []) == [], crash
    return Counter(crash["tree"] for crash in crashes)


@pytest.mark.parametrize("way", ["exchange", "two-renames"])
def test_a_crash_at_any_step_leaves_the_old_or_the_new_tree(way: str, tmp_path: Path) -> None:
    """Before the journal it is the old one, from the journal on the new one."""
    crashes = _crashes(tmp_path, way, tmp_path / "state")
    opened_up(tmp_path)
    trees = require_whole(crashes)
    assert trees["old"] >= 8
    assert trees["new"] >= 10
    order = [crash["tree"] for crash in crashes]
    assert order == sorted(order, key=lambda each: each == "new")
    assert crashes[-1]["end"] is True


def test_the_same_where_the_state_lies_on_another_file_system(tmp_path: Path) -> None:
    """The hidden folder in the root is swept as well."""
    state = another_device(tmp_path)
    if state is None:
        pytest.skip("this host has no second file system to write to")
    try:
        crashes = _crashes(tmp_path, "exchange", state)
    finally:
        shutil.rmtree(state)
    opened_up(tmp_path)
    assert set(require_whole(crashes)) == {"old", "new"}


def test_a_crash_while_a_commit_is_taken_back(tmp_path: Path) -> None:
    """Somebody else's file stays, and everything else is as it was."""
    crashes = _crashes(tmp_path, "meddled", tmp_path / "state")
    opened_up(tmp_path)
    assert set(require_whole(crashes)) == {"old"}
    assert ["undone"] in [crash.get("said") for crash in crashes]


def test_a_crash_of_the_recovery_is_recovered_from(tmp_path: Path) -> None:
    """Recovery can be killed as often as it likes, at whatever step."""
    crashes = _crashes(tmp_path, "recovery", tmp_path / "state")
    opened_up(tmp_path)
    trees = require_whole(crashes)
    assert set(trees) == {"old", "new"}
    assert max(crash["then"] for crash in crashes if "then" in crash) > 5


class _Stopped(Exception):
    """Ends a commit in this process, as if it had died, at a step."""


def _stopped_at(step: str, layer: Layer, state: Path, run: str = "run-1") -> None:
    def reached(at: str) -> None:
        if at == step:
            raise _Stopped

    with pytest.raises(_Stopped):
        layer.committed(state, run=run, reached=reached)


def test_the_next_commit_finishes_what_was_left_behind(tmp_path: Path) -> None:
    """Two commits never mix: the earlier one is finished before the later one is checked."""
    host, state = host_before(tmp_path / "host"), tmp_path / "state"
    one = made_layer(tmp_path, host, "open('changed', 'w').write('1'); open('n', 'w')", name="1")
    two = made_layer(tmp_path, host, "open('mode', 'w').write('2')", name="2")
    _stopped_at("moved", one, state)
    assert two.committed(state, run="run-2").result is CommitResult.COMMITTED
    assert (host / "changed").read_text(encoding="utf-8") == "1"
    assert (host / "mode").read_text(encoding="utf-8") == "2"
    assert [each.name for each in (state / "commits").iterdir()] == ["turn"]


def test_a_commit_that_goes_on_is_left_alone_by_recovery(tmp_path: Path) -> None:
    """Its folder is locked as long as its process lives."""
    host, state = host_before(tmp_path / "host"), tmp_path / "state"
    layer = made_layer(tmp_path, host, "open('changed', 'w').write('1')")
    found: list[object] = []

    def reached(step: str) -> None:
        if step == "synced":
            found.append(recover(state))

    assert layer.committed(state, reached=reached).result is CommitResult.COMMITTED
    assert found == [()]


def test_a_root_that_is_gone_leaves_the_commit_stuck_until_it_is_back(tmp_path: Path) -> None:
    """A disk that is not mounted: nothing is dropped, and the next try finishes it."""
    host, state = host_before(tmp_path / "host"), tmp_path / "state"
    layer = made_layer(tmp_path, host, "open('changed', 'w').write('1'); os.unlink('deleted')")
    _stopped_at("journal kept", layer, state)
    host.rename(tmp_path / "away")
    assert [each.recovery for each in recover(state)] == [Recovery.STUCK]
    (tmp_path / "away").rename(host)
    assert [each.recovery for each in recover(state)] == [Recovery.FINISHED]
    assert sight_of(host) == layer.seen


def test_a_stuck_commit_holds_up_others_in_the_same_folders_only(tmp_path: Path) -> None:
    """Where nothing overlaps, work goes on."""
    host, other, state = host_before(tmp_path / "host"), tmp_path / "other", tmp_path / "state"
    other.mkdir()
    layer = made_layer(tmp_path, host, "open('changed', 'w').write('1')", name="1")
    inner = made_layer(tmp_path, host / "tree", "open('a', 'w').write('2')", name="2")
    apart = made_layer(tmp_path, other, "open('n', 'w')", name="3")
    _stopped_at("journal kept", layer, state)
    shutil.rmtree(state / "commits" / "run-1" / "staged0")
    with pytest.raises(Refused) as caught:
        inner.committed(state, run="run-2")
    assert caught.value.code is Code.COMMIT_UNFINISHED
    assert "run-1" in str(caught.value)
    assert apart.committed(state, run="run-3").result is CommitResult.COMMITTED


def test_what_a_person_changed_after_the_crash_is_kept(tmp_path: Path) -> None:
    """A file that was not yet replaced was edited meanwhile: the whole commit is undone."""
    host, state = host_before(tmp_path / "host"), tmp_path / "state"
    layer = made_layer(
        tmp_path, host, "open('changed', 'w').write('1'); open('mode', 'w').write('1')"
    )
    _stopped_at("before swap 1", layer, state)
    assert (host / "changed").read_text(encoding="utf-8") == "1"
    (host / "mode").write_text("mine", encoding="utf-8")
    assert [each.recovery for each in recover(state)] == [Recovery.UNDONE]
    assert (host / "changed").read_text(encoding="utf-8") == "old"
    assert (host / "mode").read_text(encoding="utf-8") == "mine"


def test_new_content_that_a_person_has_worked_on_is_not_taken_back(tmp_path: Path) -> None:
    """Undoing a commit restores only what is still as the commit left it."""
    host, state = host_before(tmp_path / "host"), tmp_path / "state"
    layer = made_layer(
        tmp_path, host, "open('changed', 'w').write('1'); open('mode', 'w').write('1')"
    )
    _stopped_at("before swap 1", layer, state)
    (host / "changed").write_text("1 and mine", encoding="utf-8")
    (host / "mode").write_text("mine", encoding="utf-8")
    assert [each.recovery for each in recover(state)] == [Recovery.UNDONE]
    assert (host / "changed").read_text(encoding="utf-8") == "1 and mine"
    assert (host / "mode").read_text(encoding="utf-8") == "mine"


def test_a_journal_that_cannot_be_read_stops_commits_and_says_so(tmp_path: Path) -> None:
    """Nobody guesses what it meant."""
    host, state = host_before(tmp_path / "host"), tmp_path / "state"
    layer = made_layer(tmp_path, host, "open('changed', 'w').write('1')")
    broken = state / "commits" / "run-0"
    broken.mkdir(parents=True)
    (broken / "journal").write_bytes(b"{")
    (found,) = recover(state)
    assert found.recovery is Recovery.STUCK
    with pytest.raises(Refused, match="run-0"):
        layer.committed(state)
    assert (host / "changed").read_text(encoding="utf-8") == "old"


def test_nothing_to_recover_is_fine(tmp_path: Path) -> None:
    """On the first start there is not even a folder."""
    assert recover(tmp_path / "state") == ()


def test_a_journal_reads_back_as_it_was_written(tmp_path: Path) -> None:
    """Odd names included."""
    host, state = host_before(tmp_path / "host"), tmp_path / "state"
    script = "open('a\\udcff\\n', 'w'); open('changed', 'w').write('1'); os.chmod('mode', 0o700)"
    layer = made_layer(tmp_path, host, script)
    _stopped_at("journal kept", layer, state)
    content = (state / "commits" / "run-1" / "journal").read_bytes()
    journal = Journal.from_bytes(content)
    assert journal.to_bytes() == content
    assert {move.path for move in journal.moves} == {b"a\xff\n", b"changed"}
    assert [each.path for each in journal.modes if each.is_wanted] == [b"mode"]
    assert Journal.from_bytes(journal.turned_back().to_bytes()) == journal.turned_back()
    recover(state)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"version": 2}', b'{"version": 1}', b"\xff"]
)
def test_what_is_no_journal_is_refused(content: bytes) -> None:
    """Cut, empty, of another version, or not JSON at all."""
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the reader found first
        Journal.from_bytes(content)
