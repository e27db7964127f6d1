"""What a `SandboxedPath` does besides opening: all of it by descriptors below the jail.

Each operation is attacked by a swap between `create` and its call (TRUST §path-4, §path-5); a swapper
at full speed is in `test_racing.py`.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import FilesystemRace, HardLinked, NotAFile, PathEscape, TooLarge
from consentry.base.paths import FilesystemRaceDetected, SandboxedPath


@pytest.fixture
def jail(tmp_path: Path) -> Path:
    """A jail with a file in a folder, and a folder with secrets beside it."""
    folder = tmp_path / "jail"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("secret")
    return folder


def ignore(race: FilesystemRaceDetected) -> None:
    """A sink for tests that look at the exception only."""


def swap_file(jail: Path) -> None:
    """A link to the secret takes the file's place."""
    (jail / "sub" / "file").unlink()
    (jail / "sub" / "file").symlink_to("../../outside/file")


def swap_folder(jail: Path) -> None:
    """A link to the folder of the secret takes the folder's place."""
    (jail / "sub").rename(jail / "kept")
    (jail / "sub").symlink_to("../outside")


OPERATIONS: dict[
    str, Callable[[SandboxedPath, Callable[[FilesystemRaceDetected], None]], object]
] = {
    "read": lambda path, sink: path.read(100, on_race=sink),
    "write": lambda path, sink: path.write(b"planted", on_race=sink),
    "replace": lambda path, sink: path.replace(b"planted", on_race=sink),
    "status": lambda path, sink: path.status(on_race=sink),
    "remove": lambda path, sink: path.remove(on_race=sink),
    "open": lambda path, sink: os.close(path.open(on_race=sink)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("swap", [swap_file, swap_folder])
def test_a_swap_is_reported_and_nothing_outside_is_touched(
    operation: str, swap: Callable[[Path], None], jail: Path
) -> None:
    """TRUST §path-4, for every operation; without the swap the same call works."""
    act = OPERATIONS[operation]
    granted = SandboxedPath.create(jail.parent / "outside", "file").unwrap()
    path = SandboxedPath.create(jail, "sub/file").unwrap()
    swap(jail)
    races: list[FilesystemRaceDetected] = []
    with pytest.raises(FilesystemRace):
        act(path, races.append)
    assert [race.component for race in races] == [("file" if swap is swap_file else "sub")]
    assert (jail.parent / "outside" / "file").read_text() == "secret"
    act(granted, ignore)


@pytest.mark.parametrize("name", ["write_new", "make_folder"])
def test_a_new_name_in_a_swapped_folder_is_not_made(name: str, jail: Path) -> None:
    """Nothing appears outside; in the folder as it was, it does."""
    path = SandboxedPath.create_new(jail, "sub/new").unwrap()
    swap_folder(jail)
    arguments = (b"content",) if name == "write_new" else ()
    with pytest.raises(FilesystemRace):
        getattr(path, name)(*arguments, on_race=ignore)
    assert not (jail.parent / "outside" / "new").exists()
    (jail / "sub").unlink()
    (jail / "kept").rename(jail / "sub")
    getattr(path, name)(*arguments, on_race=ignore)
    assert (jail / "sub" / "new").exists()
    with pytest.raises(FilesystemRace):
        getattr(path, name)(*arguments, on_race=ignore)


def test_the_names_in_a_swapped_folder_are_not_listed(jail: Path) -> None:
    """A link in the folder's place is a race; the folder itself is listed in order."""
    (jail / "sub" / "also").touch()
    path = SandboxedPath.create(jail, "sub").unwrap()
    assert path.names(on_race=ignore) == ("also", "file")
    swap_folder(jail)
    with pytest.raises(FilesystemRace):
        path.names(on_race=ignore)


def test_reading_stays_in_its_bound(jail: Path) -> None:
    """At most so many bytes; one more is `TooLarge`, and a folder is no file to read."""
    path = SandboxedPath.create(jail, "sub/file").unwrap()
    assert path.read(6, on_race=ignore) == b"inside"
    with pytest.raises(TooLarge) as caught:
        path.read(5, on_race=ignore)
    assert caught.value.code is Code.PATH_TOO_LARGE
    with pytest.raises(IsADirectoryError):
        SandboxedPath.create(jail, "sub").unwrap().read(5, on_race=ignore)


def test_writing_keeps_the_file_and_replacing_makes_another(jail: Path) -> None:
    """In place: same inode. Replaced: another one with the same mode, and nothing left beside it."""
    file = jail / "sub" / "file"
    file.chmod(0o640)
    before = file.stat()
    path = SandboxedPath.create(jail, "sub/file").unwrap()
    path.write(b"short", on_race=ignore)
    assert (file.read_bytes(), file.stat().st_ino) == (b"short", before.st_ino)
    path.replace(b"other", on_race=ignore)
    assert (file.read_bytes(), file.stat().st_mode) == (b"other", before.st_mode)
    assert file.stat().st_ino != before.st_ino
    assert [each.name for each in (jail / "sub").iterdir()] == ["file"]


def test_a_hard_link_is_not_written_through_and_replacing_lets_go_of_it(jail: Path) -> None:
    """What lies elsewhere keeps its content either way; written by name it would change."""
    (jail / "sub" / "hard").hardlink_to(jail.parent / "outside" / "file")
    path = SandboxedPath.create(jail, "sub/hard").unwrap()
    with pytest.raises(HardLinked):
        path.write(b"planted", on_race=ignore)
    assert (jail.parent / "outside" / "file").read_text() == "secret"
    path.replace(b"mine", on_race=ignore)
    assert (jail / "sub" / "hard").read_bytes() == b"mine"
    assert (jail.parent / "outside" / "file").read_text() == "secret"


def test_removing_takes_files_and_empty_folders(jail: Path) -> None:
    """And nothing else: a folder that holds something stays, and the jail is not in itself."""
    folder = SandboxedPath.create(jail, "sub").unwrap()
    with pytest.raises(OSError, match="not empty"):
        folder.remove(on_race=ignore)
    SandboxedPath.create(jail, "sub/file").unwrap().remove(on_race=ignore)
    folder.remove(on_race=ignore)
    assert list(jail.iterdir()) == []
    with pytest.raises(PathEscape):
        SandboxedPath.create(jail, ".").unwrap().remove(on_race=ignore)


def test_a_pipe_is_neither_replaced_nor_removed(jail: Path) -> None:
    """What is no file and no folder is left alone."""
    os.mkfifo(jail / "fifo")
    path = SandboxedPath.create(jail, "fifo").unwrap()
    for operation in OPERATIONS.values():
        with pytest.raises(NotAFile):
            operation(path, ignore)
    assert (jail / "fifo").is_fifo()


def test_replacing_that_fails_leaves_the_file_and_nothing_beside_it(
    jail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole or not at all: the old content is there, the temporary name is gone."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = SandboxedPath.create(jail, "sub/file").unwrap()
    fresh = SandboxedPath.create_new(jail, "sub/new").unwrap()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        path.replace(b"planted", on_race=ignore)
    with pytest.raises(OSError, match="No space"):
        fresh.write_new(b"planted", on_race=ignore)
    assert [(each.name, each.read_text()) for each in (jail / "sub").iterdir()] == [
        ("file", "inside")
    ]


def test_a_folder_renamed_out_of_the_jail_is_a_caveat(jail: Path) -> None:
    """A descriptor stays with its folder: what is made by it then lands where the folder is now."""
    path = SandboxedPath.create(jail, "sub/file").unwrap()
    folder = path.open_folder(on_race=ignore)
    (jail / "sub").rename(jail.parent / "elsewhere")
    os.close(os.open("late", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    assert (jail.parent / "elsewhere" / "late").exists(), "as the documentation says"
    with pytest.raises(FileNotFoundError):
        path.open_folder(on_race=ignore)


def test_a_bind_mount_in_the_jail_is_a_caveat(jail: Path) -> None:
    """What is mounted inside the jail is read like the jail's own, as the documentation says."""
    script = """
mount --bind "$1/outside" "$1/jail/sub" || exit 77
exec "$2" -c '
import sys
from pathlib import Path
from consentry.base.paths import SandboxedPath
path = SandboxedPath.create(Path(sys.argv[1]), "sub/file").unwrap()
print(path.read(100, on_race=print).decode())
' "$1/jail"
"""
    import sys

    enter = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    done = subprocess.run(
        [*enter, str(jail.parent), sys.executable], capture_output=True, text=True, check=False
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no mount here: {done.stderr.strip()}")
    assert done.stdout == "secret\n"
