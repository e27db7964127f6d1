"""Attacks on what waits, by names: those that cannot be pinned, and those that change hands meanwhile."""

import os
from pathlib import Path

import pytest

from consentry.enforce.native.heldpins import HeldPins
from consentry.enforce.native.heldrules import HeldRules, Wanted
from tests.enforce.heldruns import Ground, said_in_order
from tests.enforce.shownfolders import shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)

YES = {"/out": "granted"}
FEW_DESCRIPTORS = """
import resource
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, most), most))
"""
NOTHING_LET_GO = """
import os, types
from consentry.enforce.native import heldpins
heldpins.os = types.SimpleNamespace(**vars(os))
heldpins.os.close = lambda descriptor: None
"""
TRIES = """
for number in range(600):
    tried(os.open, P + "/out/" + "x" * 300, os.O_CREAT | os.O_WRONLY)
    tried(os.mkdir, P + "/out/" + "y" * 300)
print(tried(read, P + "/out/secret"))
"""


def test_names_that_nobody_can_make_keep_no_descriptor(ground: Ground) -> None:
    """A program that tries any number of them leaves the launcher able to hold the next call."""
    told = ground.run(TRIES, answers=YES, launcher=FEW_DESCRIPTORS)
    assert said_in_order(told) == ["SECRET"]
    assert [each[2] for each in told["asked"]] == [str(ground.place / "out/secret")]


def test_without_letting_go_the_launcher_holds_nothing_any_more(ground: Ground) -> None:
    """It has no descriptor left; what it cannot pin is refused, as without anybody to ask."""
    told = ground.run(TRIES, answers=YES, launcher=FEW_DESCRIPTORS + NOTHING_LET_GO)
    assert said_in_order(told) == ["EACCES"]
    assert told["asked"] == []


MAKES = "print(tried(write, P + '/out/new', 'EVIL'))"
THEIRS = "Path({path!r}).write_text('THEIRS')"
OPENED_AS_ASKED = """
import os
from consentry.enforce.native import heldpins
heldpins.HeldPins._create = lambda self, pin: os.open(
    pin.name, pin.wanted.flags & ~os.O_EXCL, 0o644, dir_fd=pin.descriptor
)
"""


def test_a_file_that_somebody_else_made_meanwhile_is_neither_opened_nor_emptied(
    ground: Ground,
) -> None:
    """The person was asked about a file that was not there; whatever is there now is another one."""
    new = ground.place / "out/new"
    wish = {"answers": YES, "meanwhile": THEIRS.format(path=str(new))}
    told = ground.run(MAKES, **wish)
    assert said_in_order(told) == ["EACCES"]
    assert new.read_text() == "THEIRS"
    assert told["held"][0]["error"].startswith("EACCES")


def test_what_the_run_had_made_itself_is_emptied_as_it_asks(ground: Ground) -> None:
    """Two threads make the same file: the second one opens what the first one made."""
    code = """
def make(): found.append(tried(write, P + "/out/new", "ours"))
found = []
threads = [threading.Thread(target=make) for _ in range(2)]
[each.start() for each in threads]
[each.join() for each in threads]
print(*found)
"""
    told = ground.run(code, answers=YES, delay=0.5)
    assert said_in_order(told) == ["done done"]
    assert (ground.place / "out/new").read_text() == "ours"


def test_without_making_it_anew_the_file_of_somebody_else_is_written(ground: Ground) -> None:
    """A yes to a new file would be one to whatever has its name by then."""
    new = ground.place / "out/new"
    wish = {"answers": YES, "meanwhile": THEIRS.format(path=str(new))}
    told = ground.run(MAKES, **wish, launcher=OPENED_AS_ASKED)
    assert said_in_order(told) == ["done"]
    assert new.read_text() == "EVIL"


@pytest.fixture
def pins() -> HeldPins:
    """Of this process's own tree, in which nothing is granted."""
    wish = {
        "rights": {}, "handled": 0, "writable": {}, "layered": [], "shown": [], "never": [],
        "is_root": False,
    }  # fmt: skip
    return HeldPins(wish, HeldRules(wish), os.getpid())


def wanted(path: Path, *, is_folder: bool) -> Wanted:
    """To be read, and found to be a folder or a file when it was looked at."""
    return Wanted(os.fsencode(path), os.O_RDONLY, 0, is_found=True, is_folder=is_folder)


def test_what_is_no_folder_any_more_is_not_asked_about_as_one(
    pins: HeldPins, tmp_path: Path
) -> None:
    """The question would say that names are listed, and a yes would open a file."""
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    file.write_text("SECRET")
    pinned = pins.pin(wanted(folder, is_folder=True))
    assert pinned is not None
    assert pinned.path == os.fsencode(folder)
    pinned.close()
    folder.rmdir()
    folder.symlink_to(file)
    assert pins.pin(wanted(folder, is_folder=True)) is None
    pinned = pins.pin(wanted(file, is_folder=False))
    assert pinned is not None
    pinned.close()
    pins.close()


FEW_QUESTIONS = "from consentry.enforce import held\nheld.MOST_ASKED = 3"
SILENT = """
from consentry.enforce.native import heldline
heldline.HeldLine._answer_given = heldline.HeldLine._answer
heldline.HeldLine._answer = lambda self, number, word: self._answer_given(
    number, "refused" if word == "closed" else word
)
"""
ASKS = """
for name in ("a", "b", "c", "d", "secret"):
    print(tried(os.mkdir if name != "secret" else read, P + "/out/" + name))
"""


def test_a_run_that_has_asked_too_much_hides_nothing_behind_it(ground: Ground) -> None:
    """What is refused without a question stands in the record as it would without any holding."""
    told = ground.run(ASKS, owner=FEW_QUESTIONS)
    assert said_in_order(told) == ["EACCES"] * 5
    assert len(told["asked"]) == len(told["held"]) == 3
    refused = {Path(each[1]).name: each[3] for each in told["violations"]}
    assert refused == {
        **dict.fromkeys(("a", "b", "c"), "mediated"),
        **dict.fromkeys(("d", "secret"), "observed"),
    }
    told = ground.run(ASKS, owner=FEW_QUESTIONS + SILENT)
    assert {Path(each[1]).name for each in told["violations"]} == {"a", "b", "c"}


def test_a_run_that_has_not_asked_too_much_is_asked_about_all_of_it(ground: Ground) -> None:
    """The same, with room for its questions."""
    told = ground.run(ASKS, answers=YES)
    assert said_in_order(told) == ["None"] * 4 + ["SECRET"]
    assert len(told["held"]) == 5
