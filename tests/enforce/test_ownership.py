"""Who besides root and one user may change a file: modes and owners, on real files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from consentry.enforce.ownership import is_roots_alone, stranger_over_file, stranger_over_folder

ME = os.geteuid()
SOMEBODY = 23456


def _given_to_somebody(path: Path) -> int:
    """Makes `path` belong to somebody else than the asking user; returns who asks."""
    if ME == 0:
        os.chown(path, SOMEBODY, -1)
        return ME
    return SOMEBODY


def _program(folder: Path) -> Path:
    path = folder / "program"
    path.write_bytes(b"")
    path.chmod(0o755)
    return path


def test_own_file_in_own_folders_is_safe(tmp_path: Path) -> None:
    """A file of one's own, below folders of one's own or root's, has no stranger over it."""
    assert stranger_over_file(_program(tmp_path), ME) is None


def test_file_of_somebody_else_is_not_safe(tmp_path: Path) -> None:
    """Whoever owns a file may change it; the reason names the owner."""
    program = _program(tmp_path)
    asking = _given_to_somebody(program)
    reason = stranger_over_file(program, asking)
    assert reason == f"`{program}` belongs to user {SOMEBODY if ME == 0 else ME}"


def test_file_everybody_may_write_is_not_safe(tmp_path: Path) -> None:
    """The write bit for everybody is enough."""
    program = _program(tmp_path)
    program.chmod(0o757)
    assert stranger_over_file(program, ME) == f"everybody may write `{program}`"


def test_file_in_a_folder_everybody_may_write_is_not_safe(tmp_path: Path) -> None:
    """Whoever may write a folder may put another file in the place of this one, at any height."""
    high = tmp_path / "high"
    low = high / "low"
    low.mkdir(parents=True)
    program = _program(low)
    assert stranger_over_file(program, ME) is None
    high.chmod(0o777)
    assert stranger_over_file(program, ME) == f"everybody may write the folder `{high}`"


def test_sticky_folder_does_not_let_others_replace_a_file(tmp_path: Path) -> None:
    """In a folder like /tmp others may add entries and not replace this one."""
    tmp_path.chmod(0o1777)
    assert stranger_over_file(_program(tmp_path), ME) is None
    assert stranger_over_folder(tmp_path, ME) is None


def test_what_a_link_leads_to_counts(tmp_path: Path) -> None:
    """A link in a safe folder to a file in an unsafe one is not safe."""
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    link = tmp_path / "program-link"
    link.symlink_to(_program(open_folder))
    assert stranger_over_file(link, ME) is None
    open_folder.chmod(0o777)
    assert stranger_over_file(link, ME) == f"everybody may write the folder `{open_folder}`"


def test_where_a_link_stands_counts(tmp_path: Path) -> None:
    """A link in an unsafe folder to a safe file can be pointed elsewhere by others."""
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    link = open_folder / "program-link"
    link.symlink_to(_program(tmp_path))
    open_folder.chmod(0o777)
    assert stranger_over_file(link, ME) == f"everybody may write the folder `{open_folder}`"


@pytest.mark.parametrize("foreign", ["folder", "link"])
def test_every_link_on_the_way_counts(tmp_path: Path, foreign: str) -> None:
    """A hop in the middle, of somebody else or in a folder of somebody else, decides as well.

    The control: the same way through one's own link is safe. It begins and ends in safe folders.
    """
    if ME != 0:
        pytest.skip("only root can make a link that belongs to somebody else")
    hop = tmp_path / "hop"
    hop.mkdir()
    (hop / "middle").symlink_to(_program(tmp_path))
    first = tmp_path / "first"
    first.symlink_to(hop / "middle")
    assert stranger_over_file(first, ME) is None
    changed = hop if foreign == "folder" else hop / "middle"
    os.lchown(changed, SOMEBODY, SOMEBODY)
    assert stranger_over_file(first, ME) == f"the {foreign} `{changed}` belongs to user {SOMEBODY}"
    assert stranger_over_file(first, ME, SOMEBODY) is None


def test_folder_of_somebody_else_is_not_safe(tmp_path: Path) -> None:
    """What will be made in a folder is in its owner's hands."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    asking = _given_to_somebody(folder)
    reason = stranger_over_folder(folder, asking)
    assert reason is not None
    # Run as an ordinary user, the folders above are that user's as well, and are named first.
    named = f"`{folder}`" if ME == 0 else "the folder `"
    assert named in reason
    assert reason.endswith(f"belongs to user {SOMEBODY if ME == 0 else ME}")


def test_missing_path_raises(tmp_path: Path) -> None:
    """No answer is made up for what is not there."""
    with pytest.raises(FileNotFoundError):
        stranger_over_file(tmp_path / "missing", ME)


IN_NAMESPACE = """
from pathlib import Path
from consentry.enforce.ownership import stranger_over_folder
print(stranger_over_folder(Path({folder!r}), 0))
"""


def test_owner_without_a_number_in_this_namespace_is_no_stranger(tmp_path: Path) -> None:
    """In a container the folders above may belong to nobody; outside, user 65534 is a stranger."""
    if ME != 0:
        pytest.skip("only root can give a folder to user 65534")
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    script = IN_NAMESPACE.format(folder=str(folder))
    outside = [sys.executable, "-c", script]
    inside = ["unshare", "--user", "--map-root-user", *outside]
    said = [
        subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
        for words in (outside, inside)
    ]
    if not said[1]:
        pytest.skip("this machine makes no user namespace")
    assert said == [f"the folder `{folder}` belongs to user 65534", "None"]


def test_what_only_root_may_change(tmp_path: Path) -> None:
    """The system's own programs; never a file that is missing, or below somebody's folder."""
    assert is_roots_alone(Path(os.path.realpath("/usr/bin/env")))
    assert not is_roots_alone(tmp_path / "missing")
    program = _program(tmp_path)
    assert is_roots_alone(program) is (ME == 0)


@pytest.mark.skipif(ME != 0, reason="only root can make a file that is root's")
@pytest.mark.parametrize("which", ["program", "low", "high"])
@pytest.mark.parametrize("change", ["group", "everybody", "owner"])
def test_anybody_else_on_the_way_may_change_it(tmp_path: Path, which: str, change: str) -> None:
    """By owning or writing the file, or a folder at any height; groups count."""
    high = tmp_path / "high"
    (high / "low").mkdir(parents=True)
    program = _program(high / "low")
    assert is_roots_alone(program)
    changed = {"program": program, "low": high / "low", "high": high}[which]
    if change == "owner":
        os.chown(changed, SOMEBODY, -1)
    else:
        changed.chmod(0o775 if change == "group" else 0o757)
    assert not is_roots_alone(program)
