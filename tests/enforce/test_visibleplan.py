"""Which parts of a tree the view `visible` shows: what is mounted in it, and what is left out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.native import calls, visibleplan
from consentry.enforce.native.planner import compile_plan
from consentry.surface.lattice import Surface
from consentry.surface.modes import View
from tests.enforce import hosts
from tests.enforce.boxes import this_host
from tests.enforce.shownfolders import made_folder, shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)
LOOKS = """
from pathlib import Path
from consentry.surface.lattice import Surface
from consentry.surface.modes import View
from tests.enforce.boxes import PYTHON, run_in_box
seen = run_in_box(
    [PYTHON, "-I", "-S", "-c", "import os, sys\\nfor path in sys.argv[1:]:\\n"
     " print(path.rpartition('tree/')[2] if os.path.lexists(path) else '-')", *{paths!r}],
    workspace=Path({workspace!r}), surface=Surface.of(read=["./"]), view=View.VISIBLE,
)
assert seen.ended.status == 0, (seen.ended.problem, seen.stderr)
print(seen.stdout.decode())
"""


@pytest.fixture(params=hosts.users())
def tree(request: pytest.FixtureRequest) -> Iterator[tuple[int, Path]]:
    """A tree of some user's, with a workspace beside it."""
    uid: int = request.param
    with made_folder(uid) as place:
        for folder in ("ws", "tree/mounted", "tree/door", "tree/plain"):
            (place / folder).mkdir(parents=True)
        for file in ("tree/mounted/below", "tree/plain/file", "tree/beside"):
            (place / file).write_text("x")
        (place / "tree/link").symlink_to("plain/file")
        for path in (place / "tree", *(place / "tree").rglob("*"), place / "ws"):
            os.chown(path, uid, uid if uid != os.getuid() else os.getgid(), follow_symlinks=False)
        yield uid, place


def test_what_is_mounted_is_shown_and_what_it_covers_is_not(tree: tuple[int, Path]) -> None:
    """A mount below a folder is there with its own content; a door to the kernel is not."""
    uid, place = tree
    names = ["mounted/top", "mounted/below", "door", "door/self", "plain/file", "beside", "link"]
    paths = [str(place / "tree" / name) for name in names]
    script = LOOKS.format(paths=paths, workspace=str(place / "ws"))

    def mounting() -> None:
        if uid == os.getuid() == 0:
            calls.checked(calls._libc.unshare(calls.CLONE_NEWNS), "unshare")
            calls.mount("none", "/", "", calls.MS_REC | calls.MS_PRIVATE)
        else:
            gid = uid if uid != os.getuid() else os.getgid()
            hosts._enter_users(uid, gid, calls.CLONE_NEWUSER | calls.CLONE_NEWNS)
        calls.mount("tmpfs", str(place / "tree/mounted"), "tmpfs", 0)
        (place / "tree/mounted/top").mkdir()
        calls.mount("/proc", str(place / "tree/door"), "", calls.MS_BIND | calls.MS_REC)

    said = hosts.run_as(uid, script, before=mounting).split()
    assert said == ["mounted/top", "-", "-", "-", "plain/file", "beside", "link"]


def _shown(workspace: Path) -> set[str]:
    """The places of the host that are shown, each as a whole."""
    program = Program(Path("/usr/bin/true"), ("true",), workspace)
    wanted = Confinement(
        Surface.of(read=["./"]), workspace, program, environment={}, view=View.VISIBLE
    )
    return {str(step[1]) for step in compile_plan(wanted, this_host()).steps if step[0] == "show"}


def test_a_folder_with_too_many_entries_is_left_out_but_for_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where it would have to be shown one by one: what is needed below it is there."""
    with made_folder(os.getuid()) as place:
        for name in ("a", "b", "c", "ws"):
            (place / name).mkdir()
        new = place / "ws/new"
        # Something has to be made on the way, so that the folder cannot be shown as a whole.
        entries = {str(place / name) for name in "abc"}
        assert entries <= _shown(new)
        monkeypatch.setattr(visibleplan, "MOST_ENTRIES", 3)
        assert not entries & _shown(new)


def test_folders_are_shown_whole_where_nothing_lies_in_them() -> None:
    """One step for a tree, however deep."""
    with made_folder(os.getuid()) as place:
        for name in ("deep/er/still", "ws"):
            (place / name).mkdir(parents=True)
        (place / "deep/er/file").write_text("x")
        ways = {str(each) for each in ((place / "deep/er/file"), *(place / "deep/er/file").parents)}
        assert len(ways & _shown(place / "ws")) == 1
