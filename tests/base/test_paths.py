"""`SandboxedPath` (TRUST §path-1 to 5): in-jail at construction, `O_NOFOLLOW` at open.

Every test runs twice: with the kernel's `openat2`, and with the walk that stands in for it.
"""

import errno
import os
from pathlib import Path

import pytest

from consentry.base import openat2
from consentry.base.codes import Code
from consentry.base.errors import FilesystemRace, HardLinked, LedgerProblem, NotAFile, PathEscape
from consentry.base.paths import FilesystemRaceDetected, SandboxedPath
from consentry.base.result import Err, Ok


@pytest.fixture(autouse=True, params=["kernel", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of opening give the same answers."""
    if request.param == "walk":
        monkeypatch.setattr(openat2, "beneath", lambda *_: -errno.ENOSYS)
    elif openat2.beneath(-1, b"x", os.O_PATH, 0) == -errno.ENOSYS:
        pytest.skip("this kernel has no openat2")
    return str(request.param)


@pytest.fixture
def jail(tmp_path: Path) -> Path:
    """A jail with a file in a folder, and a secret beside the jail."""
    folder = tmp_path / "jail"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    return folder


def ignore(race: FilesystemRaceDetected) -> None:
    """A sink for tests that look at the exception only."""
    assert race.component


def open_descriptors() -> int:
    """How many this process holds, as the kernel counts them."""
    return len(list(Path("/proc/self/fd").iterdir()))


def read(path: SandboxedPath) -> str:
    """The content through `open()`, with no race expected."""
    return read_reporting(path, [])


def read_reporting(path: SandboxedPath, races: list[FilesystemRaceDetected]) -> str:
    """The content through `open()`, with races collected."""
    descriptor = path.open(on_race=races.append)
    with os.fdopen(descriptor) as handle:
        return handle.read()


def test_a_path_inside_is_made_and_opened(jail: Path) -> None:
    """`create` answers `Ok` with the resolved path."""
    made = SandboxedPath.create(jail, "sub/./file")
    assert isinstance(made, Ok)
    assert made.value.relative == Path("sub/file")
    assert read(made.value) == "inside"
    assert Path(made.value).samefile(jail / "sub" / "file")


def test_a_link_that_stays_inside_is_resolved_at_construction(jail: Path) -> None:
    """What is kept is where it led, so opening needs no link."""
    (jail / "alias").symlink_to("sub/file")
    made = SandboxedPath.create(jail, "alias").unwrap()
    assert made.relative == Path("sub/file")
    assert read(made) == "inside"


@pytest.mark.parametrize(
    "relative", ["../secret", "sub/../../secret", "/etc/passwd", "missing", ""]
)
def test_escapes_are_refused_at_construction(jail: Path, relative: str) -> None:
    """Climbing, absolute and missing targets are `Err(PathEscape)`; the jail itself is a folder."""
    made = SandboxedPath.create(jail, relative)
    if relative == "":
        assert isinstance(made, Ok)
        return
    assert isinstance(made, Err)
    assert isinstance(made.problem, PathEscape)
    assert made.problem.code == "path-escape"
    with pytest.raises(PathEscape):
        made.unwrap()


def test_a_link_that_leaves_is_refused_and_a_granted_one_works(jail: Path) -> None:
    """The attack fails; the same link pointing inside works; without the check it would succeed."""
    link = jail / "link"
    link.symlink_to("../secret")
    assert isinstance(SandboxedPath.create(jail, "link"), Err)
    link.unlink()
    link.symlink_to("sub/file")
    assert read(SandboxedPath.create(jail, "link").unwrap()) == "inside"
    wider = SandboxedPath.create(jail.parent, "secret").unwrap()
    assert read(wider) == "outside", "only the jail's edge keeps the secret out"


def test_strange_names_are_an_error_not_a_crash(jail: Path) -> None:
    """NUL, endless names and loops of links."""
    (jail / "loop").symlink_to("loop")
    for relative in ("a\0b", "x" * 5000, "loop", "loop/x"):
        assert isinstance(SandboxedPath.create(jail, relative), Err)


def test_swapping_the_file_for_a_link_is_caught_at_open(jail: Path) -> None:
    """TRUST: a swap between `create` and `open` is reported, then raised; nothing is read."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    (jail / "sub" / "file").unlink()
    (jail / "sub" / "file").symlink_to("../../secret")
    races: list[FilesystemRaceDetected] = []
    with pytest.raises(FilesystemRace) as caught:
        read_reporting(made, races)
    assert caught.value.code == "filesystem-race"
    assert races == [FilesystemRaceDetected(str(jail), "sub/file", "file")]
    assert (jail / "sub" / "file").read_text() == "outside", "following the link would have read it"


def test_swapping_a_folder_for_a_link_is_caught_at_open(jail: Path) -> None:
    """`O_NOFOLLOW` on the last name alone would follow a swapped folder; the walk does not."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    outside = jail.parent / "elsewhere"
    outside.mkdir()
    (outside / "file").write_text("outside")
    (jail / "sub").rename(jail / "kept")
    (jail / "sub").symlink_to("../elsewhere")
    races: list[FilesystemRaceDetected] = []
    with pytest.raises(FilesystemRace):
        read_reporting(made, races)
    assert [race.component for race in races] == ["sub"]
    descriptor = os.open(jail / "sub" / "file", os.O_RDONLY | os.O_NOFOLLOW)
    assert os.read(descriptor, 10) == b"outside", "the plain flag alone lets the attack succeed"
    os.close(descriptor)


def test_writing_through_a_swapped_file_is_caught_too(jail: Path) -> None:
    """TRUST §path-3: `O_NOFOLLOW` holds for every way of opening; the secret keeps its content."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    (jail / "sub" / "file").unlink()
    (jail / "sub" / "file").symlink_to("../../secret")
    for flags in (os.O_WRONLY | os.O_TRUNC, os.O_RDWR, os.O_WRONLY | os.O_CREAT | os.O_APPEND):
        with pytest.raises(FilesystemRace):
            made.open(flags, on_race=ignore)
    assert (jail.parent / "secret").read_text() == "outside"


def test_a_path_descriptor_does_not_return_the_link_itself(jail: Path) -> None:
    """`O_PATH` opens links instead of refusing them; that is a race too."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    (jail / "sub" / "file").unlink()
    (jail / "sub" / "file").symlink_to("../../secret")
    with pytest.raises(FilesystemRace):
        made.open(os.O_PATH, on_race=ignore)


def test_a_file_that_vanished_is_an_ordinary_error(jail: Path) -> None:
    """Not every failure is a race."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    (jail / "sub" / "file").unlink()
    races: list[FilesystemRaceDetected] = []
    with pytest.raises(FileNotFoundError):
        read_reporting(made, races)
    assert races == []


def test_a_new_file_needs_a_free_name_in_a_folder_of_the_jail(jail: Path) -> None:
    """`create_new` resolves the parent strictly; the name must not exist, not even as a link."""
    made = SandboxedPath.create_new(jail, "sub/new").unwrap()
    descriptor = made.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, on_race=ignore)
    os.close(descriptor)
    assert (jail / "sub" / "new").exists()
    (jail / "dangling").symlink_to("nowhere")
    for taken in ("sub/new", "dangling", "missing/new", "../new", "", "/new"):
        assert isinstance(SandboxedPath.create_new(jail, taken), Err), taken


def test_no_descriptor_is_left_open(jail: Path) -> None:
    """A thousand opens and refusals leave the table as it was."""
    before = open_descriptors()
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    for _ in range(500):
        os.close(made.open(on_race=ignore))
    (jail / "sub" / "file").unlink()
    for _ in range(500):
        with pytest.raises(OSError, match="No such file"):
            made.open(on_race=ignore)
    assert open_descriptors() == before


def test_a_race_is_raised_also_when_nobody_can_be_told(jail: Path) -> None:
    """TRUST §path-4: a sink that fails does not hide the race; the message says that it failed."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    (jail / "sub" / "file").unlink()
    (jail / "sub" / "file").symlink_to("../../secret")

    def failing(_: FilesystemRaceDetected) -> None:
        raise LedgerProblem(Code.LEDGER_UNWRITABLE, "the disk is full")

    with pytest.raises(FilesystemRace, match="could not be recorded: the disk is full"):
        made.open(on_race=failing)


def test_the_jail_must_be_the_same_folder(jail: Path) -> None:
    """Another folder of the same name is not the jail, whatever is in it."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    jail.rename(jail.parent / "moved")
    (jail / "sub").mkdir(parents=True)
    (jail / "sub" / "file").write_text("another")
    races: list[FilesystemRaceDetected] = []
    with pytest.raises(FilesystemRace):
        read_reporting(made, races)
    assert [race.component for race in races] == ["jail"]


def test_a_folder_replaced_by_a_file_is_a_race(jail: Path) -> None:
    """On the way there was a folder; a file in its place is a change like a link."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    (jail / "sub").rename(jail / "kept")
    (jail / "sub").write_text("")
    with pytest.raises(FilesystemRace):
        made.open(on_race=ignore)


def test_a_device_is_not_opened(way: str) -> None:
    """Neither a character device nor anything else that is no file or folder, whatever the way."""
    made = SandboxedPath.create(Path("/dev"), "null").unwrap()
    with pytest.raises(NotAFile):
        made.open(on_race=ignore)
    assert way


def test_a_file_with_other_names_is_not_opened_for_writing(jail: Path) -> None:
    """The attack: a hard link to a file elsewhere. It keeps its content; the only name is written."""
    (jail / "sub" / "hard").hardlink_to(jail.parent / "secret")
    made = SandboxedPath.create(jail, "sub/hard").unwrap()
    for flags in (os.O_WRONLY | os.O_TRUNC, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
        with pytest.raises(HardLinked) as caught:
            made.open(flags, on_race=ignore)
        assert caught.value.code is Code.PATH_HARD_LINK
    assert (jail.parent / "secret").read_text() == "outside"
    assert read(made) == "outside", "reading is not refused, and the documentation says so"
    (jail.parent / "secret").unlink()
    os.close(made.open(os.O_WRONLY | os.O_TRUNC, on_race=ignore))
    assert (jail / "sub" / "hard").read_bytes() == b""
    (jail.parent / "secret").hardlink_to(jail / "sub" / "hard")
    (jail / "sub" / "hard").write_text("through")
    assert (jail.parent / "secret").read_text() == "through", "a plain open lets the attack succeed"


def test_what_is_handed_out_blocks_as_usual(jail: Path) -> None:
    """The flag that keeps a pipe from holding us does not stay on the descriptor."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    for flags in (os.O_RDONLY, os.O_RDWR):
        descriptor = made.open(flags, on_race=ignore)
        assert os.get_blocking(descriptor)
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)
    descriptor = made.open(os.O_RDONLY | os.O_NONBLOCK, on_race=ignore)
    assert not os.get_blocking(descriptor)
    os.close(descriptor)


def test_flags_that_the_new_call_refuses_work_as_ever(jail: Path) -> None:
    """`openat2` is strict about combinations that `open` lets pass; the walk then answers."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    for flags in (os.O_PATH | os.O_RDWR, os.O_RDONLY | os.O_APPEND, os.O_PATH):
        os.close(made.open(flags, 0o7777, on_race=ignore))


def test_what_only_names_goes_by_the_kernel_as_well(
    jail: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`openat2` refuses every further flag with `O_PATH`; asked without them it answers by itself."""
    answers: list[int] = []
    beneath = openat2.beneath

    def heard(folder: int, path: bytes, flags: int, mode: int) -> int:
        answers.append(beneath(folder, path, flags, mode))
        return answers[-1]

    monkeypatch.setattr(openat2, "beneath", heard)
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    assert made.status(on_race=ignore).st_size == len("inside")
    os.close(made.open(os.O_PATH | os.O_RDWR | os.O_TRUNC, on_race=ignore))
    assert [answer >= 0 for answer in answers] == [way == "kernel"] * 2
    assert read(made) == "inside"


def test_a_file_that_is_asked_for_as_a_folder_is_no_race(jail: Path) -> None:
    """It is what it was; nobody is told of a swap that did not happen."""
    made = SandboxedPath.create(jail, "sub/file").unwrap()
    races: list[FilesystemRaceDetected] = []
    for flags in (os.O_RDONLY | os.O_DIRECTORY, os.O_PATH | os.O_DIRECTORY):
        with pytest.raises(NotADirectoryError):
            made.open(flags, on_race=races.append)
    assert races == []


def test_a_link_that_is_gone_again_when_we_look_is_a_race(
    jail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel said that there is no folder, and there is one: it was swapped, and swapped back."""
    made = SandboxedPath.create(jail, "sub").unwrap()
    races: list[FilesystemRaceDetected] = []
    plain = os.open

    def at_the_moment_of_the_link(path: str | bytes, flags: int, *rest: int, **more: int) -> int:
        if os.fsdecode(path) != "sub":
            return plain(path, flags, *rest, **more)
        (jail / "sub").rename(jail / "kept")
        (jail / "sub").symlink_to("kept")
        try:
            return plain(path, flags, *rest, **more)
        finally:
            (jail / "sub").unlink()
            (jail / "kept").rename(jail / "sub")

    monkeypatch.setattr(os, "open", at_the_moment_of_the_link)
    with pytest.raises(FilesystemRace):
        made.names(on_race=races.append)
    assert [race.component for race in races] == ["sub"]


def test_a_terminal_does_not_become_ours(way: str) -> None:
    """Whoever has none gets no controlling terminal by a path to one, and its Ctrl-C neither."""
    leader, terminal = os.openpty()
    name = Path(os.ttyname(terminal))
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            with pytest.raises(NotAFile):
                SandboxedPath.create(name.parent, name.name).unwrap().open(on_race=ignore)
            with pytest.raises(OSError, match="No such device"):
                os.open("/dev/tty", os.O_RDWR)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, way
    os.close(leader)
    os.close(terminal)
