"""What is remembered is what would be worked out again; any change that matters is noticed."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.values import replace
from consentry.enforce.mounts import SOURCE as MOUNT_TABLE
from consentry.service.remembering import Ground, NamesIn, Remembered


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder reached through a link, with a file in it."""
    (tmp_path / "real/inner").mkdir(parents=True)
    (tmp_path / "real/inner/file").write_text("one")
    (tmp_path / "link").symlink_to("real")
    return tmp_path


def settled(*files: Path) -> None:
    """Waits until what was written to them just now is old enough to be relied on."""
    while not Ground.below(map(str, files)).is_settled:
        time.sleep(0.01)


def holds(ground: Ground) -> bool:
    """Whether it holds as far as this test goes: other tests mount things meanwhile."""
    return replace(ground, mounts=Path(MOUNT_TABLE).read_bytes()).still_holds()


def lead_elsewhere(tree: Path) -> None:
    """The link leads to a folder with the same names in it."""
    (tree / "other/inner").mkdir(parents=True)
    (tree / "link").unlink()
    (tree / "link").symlink_to("other")


def replace_folder(tree: Path) -> None:
    """Another folder has the name now."""
    (tree / "real").rename(tree / "before")
    (tree / "real/inner").mkdir(parents=True)


def rewrite(tree: Path) -> None:
    """The file's content."""
    (tree / "real/inner/file").write_text("another")


def remove(tree: Path) -> None:
    """The file."""
    (tree / "real/inner/file").unlink()


def make(tree: Path) -> None:
    """The file that was not there."""
    (tree / "real/inner/missing").touch()


def open_up(tree: Path) -> None:
    """A folder on the way lets others in."""
    (tree / "real").chmod(0o777)


@pytest.mark.parametrize("change", [lead_elsewhere, replace_folder, rewrite, remove, make, open_up])
def test_every_change_on_the_way_is_noticed(tree: Path, change: Callable[[Path], None]) -> None:
    """Links, folders, files, and what was missing."""
    ground = Ground.below([str(tree / "link/inner/file"), f"{tree}/real/./inner/../inner/missing"])
    assert holds(ground)
    change(tree)
    assert not ground.still_holds()


def test_what_lies_beside_does_not_matter(tree: Path) -> None:
    """Folders on the way fill and empty all the time."""
    ground = Ground.below([str(tree / "link/inner/file")])
    (tree / "real/inner/another").touch()
    (tree / "real/new").mkdir()
    assert holds(ground)


def test_a_list_of_names_matters_where_it_is_asked_for(tree: Path) -> None:
    """A document more in a folder of documents; one that is not there has no list."""
    folder = tree / "link/inner"
    ground = Ground.below([NamesIn(folder), NamesIn(tree / "missing")])
    settled(folder / "file")
    (folder / "file").write_text("another")
    assert holds(ground)
    (folder / "another").touch()
    assert not ground.still_holds()


def test_links_in_a_circle_end(tree: Path) -> None:
    """As they do for the kernel."""
    (tree / "a").symlink_to("b")
    (tree / "b").symlink_to("a")
    assert holds(Ground.below([str(tree / "a")]))


class Oracle:
    """Something that is worked out from a file, and counts how often."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.asked = 0

    def __call__(self) -> str:
        """The file's content."""
        self.asked += 1
        return self.file.read_text()


def test_an_answer_is_kept_from_the_second_time_on(tree: Path) -> None:
    """And only as long as it is the answer; whoever says it is not current is believed."""
    oracle = Oracle(tree / "real/inner/file")
    remembered: Remembered[str, str] = Remembered(lambda *_: [str(oracle.file)])
    settled(oracle.file)
    answers = [remembered.answer("key", oracle, lambda _: True) for _ in range(5)]
    assert (set(answers), oracle.asked) == ({"one"}, 2)
    rewrite(tree)
    settled(oracle.file)
    answers = [remembered.answer("key", oracle, lambda _: True) for _ in range(5)]
    assert (set(answers), oracle.asked) == ({"another"}, 3)
    remembered.answer("key", oracle, lambda _: False)
    assert oracle.asked == 4


def test_what_was_written_a_moment_ago_is_not_relied_on(tree: Path) -> None:
    """A second change in the same tick of the clock may show nothing; it is noticed all the same."""
    file = tree / "real/inner/file"
    remembered: Remembered[str, str] = Remembered(lambda *_: [str(file)])
    for number in range(300):
        file.write_text(f"{number:03}")
        assert remembered.answer("key", file.read_text, lambda _: True) == f"{number:03}"


def test_an_answer_that_rests_on_other_paths_is_worked_out_once_more(tree: Path) -> None:
    """The places were looked at before, and not these."""
    paths = [str(tree / "real/inner/file")]
    oracle = Oracle(tree / "real/inner/file")
    remembered: Remembered[str, str] = Remembered(lambda *_: list(paths))
    settled(oracle.file)
    remembered.answer("key", oracle, lambda _: True)
    paths.append(str(tree / "real/inner/missing"))
    for _ in range(4):
        remembered.answer("key", oracle, lambda _: True)
    assert oracle.asked == 3


def test_a_change_while_it_is_worked_out_is_not_missed(tree: Path) -> None:
    """The file changes after it was read: the next answer is the new one."""
    file = tree / "real/inner/file"
    remembered: Remembered[str, str] = Remembered(lambda *_: [str(file)])

    def read_too_early() -> str:
        content = file.read_text()
        file.write_text(f"{content}+")
        return "stale"

    for _ in range(2):
        remembered.answer("key", read_too_early, lambda _: True)
    assert remembered.answer("key", file.read_text, lambda _: True) == "one++"


def test_only_the_latest_calls_are_kept(tree: Path) -> None:
    """A caller that never asks the same twice does not grow."""
    oracle = Oracle(tree / "real/inner/file")
    remembered: Remembered[int, str] = Remembered(lambda *_: [str(oracle.file)])
    settled(oracle.file)
    for _ in range(3):
        remembered.answer(-1, oracle, lambda _: True)
    for number in range(200):
        remembered.answer(number, oracle, lambda _: True)
    before = oracle.asked
    remembered.answer(-1, oracle, lambda _: True)
    assert oracle.asked == before + 1


def test_a_mount_is_noticed(tree: Path) -> None:
    """Something mounted anywhere may show the same files twice; tried in a mount namespace."""
    script = (
        "import subprocess, sys\n"
        "from consentry.service.remembering import Ground\n"
        "ground = Ground.below([sys.argv[1]])\n"
        "assert ground.still_holds()\n"
        "subprocess.run(['mount', '-t', 'tmpfs', 'none', sys.argv[2]], check=True)\n"
        "sys.exit(10 + ground.still_holds())\n"
    )
    words = [sys.executable, "-c", script, str(tree / "real/inner/file"), str(tree)]
    ended = subprocess.run(["/usr/bin/unshare", "--map-root-user", "--mount", *words], check=False)
    assert ended.returncode == 10
