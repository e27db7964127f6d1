"""An export goes where a person chose, once, and nowhere else; each control also taken away."""

import hashlib
import os
import socket
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from consentry.base.errors import FilesystemRace, Refused
from consentry.base.paths import FilesystemRaceDetected
from consentry.enforce.moduleexport import ExportReceipt, ExportTarget, write_export
from tests.enforce import weakenedexports

OLD, NEW, SECRET = b"what was there", b"what is exported", b"not to be touched"


def anything(_path: Path) -> None:
    """No place is protected."""


@dataclass
class Ground:
    """A folder that a person may choose, and a file outside that nobody chose."""

    top: Path
    races: list[FilesystemRaceDetected] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder, self.outside = self.top / "chosen", self.top / "outside"
        self.folder.mkdir()
        self.outside.mkdir()
        self.secret = self.outside / "report.txt"
        self.secret.write_bytes(SECRET)

    @property
    def file(self) -> Path:
        """The file an export goes to."""
        return self.folder / "report.txt"

    def chosen(self, name: str = "report.txt", *, overwrite: bool = False) -> ExportTarget:
        """A person chose this."""
        return ExportTarget(self.folder, name, overwrite=overwrite)

    def write(
        self, target: ExportTarget, protected: Callable[[Path], str | None] = anything
    ) -> ExportReceipt:
        """Exports there."""
        return write_export(target, NEW, protected=protected, on_race=self.races.append)

    def refusal(self, act: Callable[[], object]) -> Refused:
        """How it is refused; nothing outside was touched."""
        with pytest.raises(Refused) as caught:
            act()
        assert self.secret.read_bytes() == SECRET
        assert os.listdir(self.outside) == ["report.txt"]  # noqa: PTH208 - names only
        return caught.value


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """A fresh one."""
    place = tmp_path / "place"
    place.mkdir()
    return Ground(place)


def test_an_export_lands_where_it_was_chosen(ground: Ground) -> None:
    """MODULES §limit-export-target: the receipt names the file, its size and its digest; it is the owner's."""
    receipt = ground.write(ground.chosen())
    digest = f"sha256:{hashlib.sha256(NEW).hexdigest()}"
    assert receipt == ExportReceipt(ground.file, len(NEW), digest)  # type: ignore[arg-type]
    assert ground.file.read_bytes() == NEW
    assert stat.S_IMODE(ground.file.stat().st_mode) == 0o600
    assert [each.name for each in ground.folder.iterdir()] == ["report.txt"]
    assert ground.races == []


def test_a_folder_may_be_chosen_through_a_link(ground: Ground) -> None:
    """It is resolved when it is chosen; the receipt and whoever protects see where it leads."""
    link = ground.top / "documents"
    link.symlink_to(ground.folder)
    seen: list[Path] = []
    receipt = ground.write(ExportTarget(link, "report.txt", overwrite=False), seen.append)
    assert receipt.path == ground.file
    assert seen == [ground.file]


# Overwriting: only with a yes, and only what was seen.


def test_a_file_is_not_overwritten_without_a_yes(ground: Ground) -> None:
    """MODULES §limit-export-overwrite: it stays, whatever but a real yes is said."""
    ground.file.write_bytes(OLD)
    nearly: Any
    for nearly in (False, None, 1, "false", "yes"):
        problem = ground.refusal(lambda said=nearly: ground.chosen(overwrite=said))  # type: ignore[misc]
        assert problem.code == "export-refused"
    assert ground.file.read_bytes() == OLD


def test_with_a_yes_it_is_replaced_whole(ground: Ground) -> None:
    """MODULES §limit-export-overwrite: another file takes the name and keeps the mode; nothing is left over."""
    ground.file.write_bytes(OLD)
    ground.file.chmod(0o640)
    before = ground.file.stat()
    ground.write(ground.chosen(overwrite=True))
    after = ground.file.stat()
    assert ground.file.read_bytes() == NEW
    assert (after.st_ino != before.st_ino, stat.S_IMODE(after.st_mode)) == (True, 0o640)
    assert [each.name for each in ground.folder.iterdir()] == ["report.txt"]


def test_without_asking_it_would_be_lost(ground: Ground) -> None:
    """MODULES §limit-export-overwrite: what the question holds off."""
    ground.file.write_bytes(OLD)
    with weakenedexports.without_asking():
        ground.write(ground.chosen())
    assert ground.file.read_bytes() == NEW


def appears(ground: Ground) -> None:
    """A file that was not there when the name was chosen."""
    ground.file.write_bytes(OLD)


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_file_that_came_later_is_not_overwritten(ground: Ground, overwrite: bool) -> None:  # noqa: FBT001 - a case
    """MODULES §limit-export-overwrite: nobody has seen it, so nobody has given it up; it is a race."""
    target = ground.chosen(overwrite=overwrite)
    appears(ground)
    assert isinstance(ground.refusal(lambda: ground.write(target)), FilesystemRace)
    assert ground.file.read_bytes() == OLD
    assert [race.component for race in ground.races] == ["report.txt"]


def _changed(ground: Ground) -> None:
    ground.file.write_bytes(OLD + b", and more")


def _exchanged(ground: Ground) -> None:
    (ground.folder / "fresh").write_bytes(OLD)
    (ground.folder / "fresh").rename(ground.file)


@pytest.mark.parametrize("happens", [_changed, _exchanged])
def test_a_yes_is_for_the_file_that_was_seen(
    ground: Ground, happens: Callable[[Ground], None]
) -> None:
    """MODULES §limit-export-overwrite: what was saved there since is kept, and the race is told."""
    ground.file.write_bytes(OLD)
    target = ground.chosen(overwrite=True)
    happens(ground)
    now = ground.file.read_bytes()
    assert isinstance(ground.refusal(lambda: ground.write(target)), FilesystemRace)
    assert ground.file.read_bytes() == now
    assert [race.relative for race in ground.races] == ["report.txt"]
    with weakenedexports.without_comparing():
        ground.write(ground.chosen(overwrite=True))
    assert ground.file.read_bytes() == NEW


def test_a_file_that_is_gone_is_a_race_too(ground: Ground) -> None:
    """Also where the race cannot be recorded: it is raised, and says so."""
    ground.file.write_bytes(OLD)
    target = ground.chosen(overwrite=True)
    ground.file.unlink()

    def failing(_race: FilesystemRaceDetected) -> None:
        raise OSError("no ledger")

    def act() -> ExportReceipt:
        return write_export(target, NEW, protected=anything, on_race=failing)

    assert "could not be recorded: no ledger" in ground.refusal(act).message
    assert not ground.file.exists()


# Links: at the name before it is chosen, at the name after, in place of the folder.


@pytest.mark.parametrize("leads", ["outside", "inside", "nowhere"])
@pytest.mark.parametrize("overwrite", [True, False])
def test_a_link_at_the_name_is_no_target(ground: Ground, leads: str, overwrite: bool) -> None:  # noqa: FBT001 - a case
    """MODULES §limit-export-silent: wherever it leads and whatever was said; it stays as it is."""
    inside = ground.folder / "other.txt"
    inside.write_bytes(OLD)
    to = {"outside": ground.secret, "inside": inside, "nowhere": ground.outside / "new"}[leads]
    ground.file.symlink_to(to)
    problem = ground.refusal(lambda: ground.chosen(overwrite=overwrite))
    assert problem.code == "path-escape"
    assert ground.file.is_symlink()
    assert inside.read_bytes() == OLD
    with weakenedexports.without_looking():
        ground.write(ground.chosen(overwrite=overwrite))
    assert to.read_bytes() == NEW


def _link_for_file(ground: Ground) -> None:
    (ground.folder / "link").symlink_to(ground.secret)
    (ground.folder / "link").rename(ground.file)


def _link_for_folder(ground: Ground) -> None:
    ground.folder.rename(ground.top / "away")
    ground.folder.symlink_to(ground.outside)


def _other_folder(ground: Ground) -> None:
    ground.folder.rename(ground.top / "away")
    ground.outside.rename(ground.folder)


def _link_above(ground: Ground) -> None:
    """A folder further up is exchanged: the name of the chosen one now leads to another."""
    (ground.top / "elsewhere").mkdir()
    ground.outside.rename(ground.top / "elsewhere" / "chosen")
    ground.folder.parent.rename(ground.top.parent / "moved")
    ground.top.symlink_to(ground.top.parent / "moved" / "elsewhere")


@pytest.mark.parametrize("swap", [_link_for_file, _link_for_folder])
@pytest.mark.parametrize("is_new", [False, True])
def test_what_is_swapped_between_choice_and_write_is_a_race(
    ground: Ground,
    swap: Callable[[Ground], None],
    is_new: bool,  # noqa: FBT001 - a case
) -> None:
    """MODULES §limit-export-silent: told to the sink, raised, and nothing outside is touched.

    The swap is made at the last moment that is ours: when the path is held against what is protected.
    """
    if not is_new:
        ground.file.write_bytes(OLD)
    target = ground.chosen(overwrite=True)
    problem = ground.refusal(lambda: ground.write(target, lambda _: swap(ground)))
    assert problem.code == "filesystem-race"
    assert len(ground.races) == 1
    assert ground.races[0].jail == str(ground.folder)


@pytest.mark.parametrize("swap", [_link_for_file, _link_for_folder, _other_folder])
def test_without_the_jail_the_swap_would_reach_the_secret(
    ground: Ground, swap: Callable[[Ground], None]
) -> None:
    """What the jail holds off: a path that was checked is written by its name."""
    ground.file.write_bytes(OLD)
    before = ground.secret.stat().st_ino
    with weakenedexports.without_jail():
        ground.write(ground.chosen(overwrite=True), lambda _: swap(ground))
    reached = [each for each in ground.top.rglob("*.txt") if each.stat().st_ino == before]
    assert reached
    assert {each.read_bytes() for each in reached} == {NEW}


@pytest.mark.parametrize("swap", [_other_folder, _link_above])
def test_another_folder_of_the_same_name_is_a_race(
    ground: Ground, swap: Callable[[Ground], None]
) -> None:
    """MODULES §limit-export-silent: the folder is known by more than its name."""
    target = ground.chosen()
    with pytest.raises(FilesystemRace):
        ground.write(target, lambda _: swap(ground))
    assert len(ground.races) == 1
    assert ground.file.read_bytes() == SECRET


def test_a_file_with_another_name_is_not_written_through(ground: Ground) -> None:
    """MODULES §limit-export-silent: a hard link to something outside; that keeps its content."""
    os.link(ground.secret, ground.file)
    ground.write(ground.chosen(overwrite=True))
    assert ground.file.read_bytes() == NEW
    assert ground.secret.read_bytes() == SECRET
    ground.file.unlink()
    os.link(ground.secret, ground.file)
    with weakenedexports.without_jail():
        ground.write(ground.chosen(overwrite=True))
    assert ground.secret.read_bytes() == NEW


# Names, places and what else can be no target.


@pytest.mark.parametrize(
    "name",
    [
        "../outside/report.txt",
        "sub/../../outside/report.txt",
        "..",
        ".",
        "",
        " ",
        "report.txt ",
        "/etc/passwd",
        "sub/report.txt",
        "report.txt/",
        ".bashrc",
        ".ssh",
        "a\0b",
        "a\nb",
        "\x1b[2J",
        "report\u202etxt.exe",
        "zero\u200bwidth",
        "\ud800",
        "x" * 256,
        "é" * 128,
        7,
        None,
        b"report.txt",
    ],
    ids=repr,
)
@pytest.mark.parametrize("overwrite", [True, False])
def test_a_name_is_one_plain_name(ground: Ground, name: Any, overwrite: bool) -> None:  # noqa: FBT001 - a case
    """MODULES §limit-export-target: whatever a module proposes, the folder is the person's choice."""
    (ground.folder / "sub").mkdir()
    problem = ground.refusal(lambda: ground.chosen(name, overwrite=overwrite))
    assert problem.code == "export-refused"
    assert list((ground.folder / "sub").iterdir()) == []


@pytest.mark.parametrize(
    "name", ["report.txt", "Übersicht 2026 (1).pdf", "a..b", "x" * 255, "a\\b", "-rf"]
)
def test_plain_names_are_taken(ground: Ground, name: str) -> None:
    """As they are, to the letter."""
    assert ground.write(ground.chosen(name)).path == ground.folder / name
    assert (ground.folder / name).read_bytes() == NEW


def test_without_the_rule_for_names_one_would_climb_out(ground: Ground) -> None:
    """What the rule holds off; with the jail alone the name is refused as well."""
    name = "../outside/report.txt"
    with weakenedexports.without_plain_names():
        ground.write(ground.chosen(name))
    assert ground.secret.read_bytes() == NEW
    with pytest.raises(Refused):
        ground.chosen(name, overwrite=True)


def test_what_is_no_folder_or_no_file_is_no_target(ground: Ground) -> None:
    """A missing folder, a file for a folder, and at the name a folder, a pipe or a socket."""
    (ground.folder / "folder").mkdir()
    os.mkfifo(ground.folder / "pipe")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(ground.folder / "socket"))
    for folder in (ground.top / "missing", ground.secret):
        problem = ground.refusal(
            lambda at=folder: ExportTarget(at, "new", overwrite=True)  # type: ignore[misc]
        )
        assert problem.code == "path-escape"
    for name in ("folder", "pipe", "socket"):
        problem = ground.refusal(lambda at=name: ground.chosen(at, overwrite=True))  # type: ignore[misc]
        assert problem.code == "path-kind"


def test_a_protected_place_is_no_target(ground: Ground) -> None:
    """MODULES §limit-export-silent: also where a person chose it; without the rule it would be written."""

    def own_keys(path: Path) -> str | None:
        return "our own keys" if path.is_relative_to(ground.folder) else None

    problem = ground.refusal(lambda: ground.write(ground.chosen(), own_keys))
    assert (problem.code, "our own keys" in problem.message) == ("protected-root", True)
    assert not ground.file.exists()
    with weakenedexports.without_protection():
        ground.write(ground.chosen(), own_keys)
    assert ground.file.read_bytes() == NEW


# One choice, one export.


def test_a_choice_is_good_for_one_export(ground: Ground) -> None:
    """MODULES §limit-export-target: the second one is refused, and so is one after a failure."""
    target = ground.chosen()
    ground.write(target)
    ground.file.unlink()
    assert ground.refusal(lambda: ground.write(target)).code == "export-refused"
    assert not ground.file.exists()
    failed = ground.chosen()
    assert ground.refusal(lambda: ground.write(failed, lambda _: "no")).code == "protected-root"
    assert ground.refusal(lambda: ground.write(failed)).code == "export-refused"
    ground.write(ground.chosen())
    with weakenedexports.without_spending():
        again = ground.chosen("again.txt")
        ground.write(again)
        (ground.folder / "again.txt").unlink()
        ground.write(again)
    assert (ground.folder / "again.txt").read_bytes() == NEW


def test_of_many_who_use_one_choice_one_does(ground: Ground) -> None:
    """MODULES §limit-export-target: also at the same moment."""
    target = ground.chosen()

    def attempt(_: int) -> str:
        try:
            ground.write(target)
        except Refused as refusal:
            return refusal.code.value
        return "written"

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(attempt, range(16)))
    assert (said.count("written"), said.count("export-refused")) == (1, 15)


def test_an_export_has_an_end(ground: Ground) -> None:
    """64 MB, and not a byte more."""
    target = ground.chosen()

    def act() -> ExportReceipt:
        return write_export(
            target, bytes(64 * 1024**2 + 1), protected=anything, on_race=ground.races.append
        )

    problem = ground.refusal(act)
    assert (problem.code, "at most 64MB" in problem.message) == ("export-refused", True)
    assert not ground.file.exists()


def test_a_folder_that_is_gone_is_said_so(ground: Ground) -> None:
    """The system's own refusal, with a code."""
    target = ground.chosen()
    ground.folder.rmdir()
    problem = ground.refusal(lambda: ground.write(target))
    assert problem.code == "file-unusable"
    assert "cannot be written: no such file or directory" in problem.message
