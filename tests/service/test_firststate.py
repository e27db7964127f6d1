"""The very first run: the state directory is made before the box is planned, so it is hidden from it.

CONTRACTS §9-state: also where a named workspace contains the place, which is not there yet.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.enforce.native.streamends import Io
from consentry.service import execution
from consentry.service.calloptions import CodeOptions, ExecOptions
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.ledgers import ledger_place
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from tests.service.conftest import MakeAround

KEPT = ".local/state/consentry/machine-id"


@pytest.fixture
def around_home(around: MakeAround, home: Path) -> Surroundings:
    """Started in the home folder, in which nothing was ever kept; a file lies beside the place."""
    (home / ".local").mkdir()
    (home / ".local/notes").write_text("a note\n")
    return around(cwd=home, environ={"PATH": "/usr/bin:/bin"})


@pytest.fixture
def library() -> Iterator[Library]:
    """One library, closed when the test is over."""
    with closing(Library()) as opened:
        yield opened


def read_by_command(path: str, around: Surroundings, home: Path) -> bytes:
    """What the first command ever reads of that file."""
    run = carry_out(RunWish(words=("cat", path)), around, Io(keeps=True), workspace=str(home))
    return run.outcome.stdout


def test_the_first_command_cannot_look_into_the_state(
    around_home: Surroundings, home: Path
) -> None:
    """The attack: to read what was made a moment ago."""
    assert read_by_command(KEPT, around_home, home) == b""
    assert (home / KEPT).exists()


def test_what_lies_beside_is_read(around_home: Surroundings, home: Path) -> None:
    """The same action, where it is granted: the workspace is open for reading."""
    assert read_by_command(".local/notes", around_home, home) == b"a note\n"


def test_were_the_box_planned_first_the_state_would_be_read(
    around_home: Surroundings, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the control the attack succeeds: what is not there cannot be hidden."""
    monkeypatch.setattr(execution, "state_folder", lambda around: ledger_place(around).folder)
    assert read_by_command(KEPT, around_home, home).startswith(b"machine-")


def test_the_first_call_of_a_program_cannot_either(
    around_home: Surroundings, home: Path, library: Library
) -> None:
    """A program in a box."""
    result = library.exec(("cat", KEPT), around_home, ExecOptions(workspace=home))
    assert result.stdout == b""


def test_nor_can_the_first_snippet(around_home: Surroundings, home: Path, library: Library) -> None:
    """Code in a box."""
    source = f"result = open({str(home / KEPT)!r}).read()"
    result = library.run_code(source, around_home, CodeOptions(workspace=home))
    assert result.result is None
    assert "machine-id" in str(result.error)
