"""What is remembered of trees: quick, never wrong about a change that the kernel knows of, never for loading."""

import ast
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.clock import Instant, SystemClock
from consentry.base.values import replace as replace_field
from consentry.examine.plugintree import PluginTree, read_tree
from consentry.service.plugincache import FOLDER, TreeCache
from tests.examine.plugintrees import File, Link, grow

SPEC: dict[str, File | Link] = {
    "plugin.yaml": File(b"a"),
    "src/x.py": File(b"b"),
    "src/deep/y": File(b"c"),
    "l": Link("src"),
}
SOURCE = Path(__file__).parents[2] / "src" / "consentry"


def later() -> Instant:
    """As if a tree that was just made had been left alone for a minute."""
    return Instant(time.time_ns() // 1_000_000 + 60_000)


@pytest.fixture
def cache(tmp_path: Path) -> TreeCache:
    """With a state directory of its own."""
    (tmp_path / "state").mkdir()
    return TreeCache(tmp_path / "state", SystemClock())


def remembered(cache: TreeCache, top: Path, began: Instant | None = None) -> str:
    """Hashes a tree and has it remembered."""
    tree = read_tree(top, keep_contents=False)
    cache.remember(top, tree, began or later())
    return tree.digest


def test_a_tree_that_nobody_touched_is_known(tmp_path: Path, cache: TreeCache) -> None:
    """With the digest it had, and when that was computed."""
    top = grow(tmp_path / "p", SPEC)
    began = later()
    digest = remembered(cache, top, began)
    known = cache.known(top)
    assert known is not None
    assert (known.digest, known.hashed_at) == (digest, began)


def rewrite(top: Path) -> None:
    """Same size, and the old times put back: only the time of the change of the inode tells."""
    file = top / "src/x.py"
    old = file.stat()
    file.write_bytes(b"B")
    os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))


def replace(top: Path) -> None:
    """Another file under the same name."""
    fresh = top / "src/fresh"
    fresh.write_bytes(b"b")
    fresh.rename(top / "src/x.py")


def relink(top: Path) -> None:
    """The link leads elsewhere."""
    (top / "l").unlink()
    (top / "l").symlink_to("src/deep")


def move_aside(top: Path) -> None:
    """Another folder under the same name."""
    (top / "src").rename(top / "old")
    grow(top / "src", {"x.py": File(b"b"), "deep/y": File(b"c")})


CHANGES: list[Callable[[Path], object]] = [
    rewrite,
    replace,
    relink,
    move_aside,
    lambda top: (top / "src/deep/new").write_bytes(b""),
    lambda top: (top / "src/deep/y").unlink(),
    lambda top: (top / "src/x.py").chmod(0o755),
    lambda top: (top / "src/x.py").rename(top / "src/z.py"),
    lambda top: (top / "src/__pycache__").mkdir(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_tree_that_changed_is_not_known(
    tmp_path: Path, cache: TreeCache, change: Callable[[Path], object]
) -> None:
    """Whatever changed, it is hashed again."""
    top = grow(tmp_path / "p", SPEC)
    remembered(cache, top)
    time.sleep(
        0.02
    )  # the grain of the kernel's clock; what is younger is not remembered in earnest
    change(top)
    assert cache.known(top) is None


def test_what_changed_a_moment_ago_is_not_remembered(tmp_path: Path, cache: TreeCache) -> None:
    """A second change could have the same time as the first."""
    top = grow(tmp_path / "p", SPEC)
    remembered(cache, top, cache.now())
    assert cache.known(top) is None
    os.utime(top / "plugin.yaml", (2**33, 2**33))
    remembered(cache, top)
    assert cache.known(top) is None


def test_the_same_tree_elsewhere_is_another_one(tmp_path: Path, cache: TreeCache) -> None:
    """What is remembered belongs to a place and to its inodes."""
    top = grow(tmp_path / "p", SPEC)
    remembered(cache, top)
    top.rename(tmp_path / "q")
    assert cache.known(tmp_path / "q") is None
    grow(top, SPEC)
    assert cache.known(top) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"\xff", b'{"form": 2}', b'{"form": 1, "paths": 7}', b"[" * 90_000],
)
def test_a_damaged_note_only_costs_time(tmp_path: Path, cache: TreeCache, content: bytes) -> None:
    """As if it were not there."""
    top = grow(tmp_path / "p", SPEC)
    remembered(cache, top)
    [note] = (tmp_path / "state" / FOLDER).iterdir()
    note.write_bytes(content)
    assert cache.known(top) is None


def test_a_note_with_an_impossible_time_only_costs_time(tmp_path: Path, cache: TreeCache) -> None:
    """Somebody edited it; what it says besides is right."""
    top = grow(tmp_path / "p", SPEC)
    remembered(cache, top)
    [note] = (tmp_path / "state" / FOLDER).iterdir()
    kept = json.loads(note.read_bytes())
    for time_ in (10**30, -(10**30), "soon"):
        note.write_text(json.dumps({**kept, "hashed_at": time_}))
        assert cache.known(top) is None


def test_a_pipe_in_the_place_of_a_note_holds_nobody(tmp_path: Path, cache: TreeCache) -> None:
    """It is read as empty, and that is no note."""
    top = grow(tmp_path / "p", SPEC)
    remembered(cache, top)
    [note] = (tmp_path / "state" / FOLDER).iterdir()
    note.unlink()
    os.mkfifo(note)
    assert cache.known(top) is None


def exchanged_above(tmp_path: Path) -> tuple[Path, PluginTree]:
    """A tree that was read, and then another one under its name, by a swap two folders above."""
    top = grow(tmp_path / "work" / "plugins" / "p", SPEC)
    grow(tmp_path / "other" / "plugins" / "p", {**SPEC, "src/x.py": File(b"evil")})
    tree = read_tree(top, keep_contents=False)
    (tmp_path / "work").rename(tmp_path / "away")
    (tmp_path / "other").rename(tmp_path / "work")
    return top, tree


def test_a_swap_above_while_it_is_read_is_not_remembered(tmp_path: Path, cache: TreeCache) -> None:
    """TRUST §lock-1: nothing in the other tree is new, and still it does not get this one's digest."""
    top, tree = exchanged_above(tmp_path)
    cache.remember(top, tree, later())
    assert cache.known(top) is None


def test_by_the_name_alone_the_swap_would_be_believed(tmp_path: Path, cache: TreeCache) -> None:
    """The attack is real: without the comparison the other tree counts as the one that was hashed."""
    top, tree = exchanged_above(tmp_path)
    there = top.stat()
    cache.remember(top, replace_field(tree, folder=(there.st_dev, there.st_ino)), later())
    known = cache.known(top)
    assert known is not None
    assert known.digest == tree.digest
    assert (top / "src/x.py").read_bytes() == b"evil"


def test_a_note_cannot_leave_out_a_file(tmp_path: Path, cache: TreeCache) -> None:
    """The fingerprint is over all that the note names, so that it cannot name less."""
    top = grow(tmp_path / "p", SPEC)
    remembered(cache, top)
    [note] = (tmp_path / "state" / FOLDER).iterdir()
    kept = json.loads(note.read_bytes())
    kept["paths"].remove("src/x.py")
    note.write_text(json.dumps(kept))
    assert cache.known(top) is None


def test_without_a_place_nothing_is_kept_and_all_works(tmp_path: Path) -> None:
    """Where there is no state directory, or it cannot be written."""
    top = grow(tmp_path / "p", SPEC)
    nowhere = TreeCache(None, SystemClock())
    remembered(nowhere, top)
    assert nowhere.known(top) is None
    gone = TreeCache(tmp_path / "no" / "such", SystemClock())
    remembered(gone, top)
    assert gone.known(top) is None


def test_only_what_looks_and_does_not_load_uses_it() -> None:
    """`plugins verify` and `plugins list`; the modules that load do not know of it."""
    users = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.module == "consentry.service.plugincache"
        and any(each.name == "TreeCache" for each in node.names)
    }
    assert users == {"cli/pluginplace.py", "service/pluginverify.py"}
    verifiers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.module == "consentry.service.pluginverify"
        and any(each.name == "verify_root" for each in node.names)
    }
    assert verifiers == {"cli/pluginsverify.py", "cli/pluginslist.py"}
