"""A process that dies, or cannot record, between the use of a token and what it was for."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.decide.tokens import CapabilityBundle
from consentry.service.tokenfiles import TokenFiles
from consentry.store.tokens import budget_of
from tests.cli.conftest import CommandLine
from tests.service.test_tokens import code_of, commit, commits, recorded
from tests.service.tokening import Place, part, place_of

pytestmark = pytest.mark.timeout(120)

SCOPE = {"files": {"write": ["./"]}, "git": {"operations": ["commit"]}}


@pytest.fixture
def place(home: Path, project: Path) -> Iterator[Place]:
    """A project with one commit, and a consent."""
    with place_of(CommandLine(project, {"HOME": str(home), "PATH": "/usr/bin:/bin"})) as made:
        yield made


def child(place: Place, bundle: CapabilityBundle, way: str) -> int:
    """Another process of the same user that does it; how it ended."""
    words = (place.line.environ["HOME"], str(place.project), bundle.text, way)
    done = subprocess.run(
        [sys.executable, "-m", "tests.service.tokening", *words],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=False,
    )
    return done.returncode


@pytest.mark.parametrize("way", ["kill-file", "kill-git"])
def test_killed_between_the_use_and_the_operation(place: Place, way: str) -> None:
    """TRUST §token-3: the use is on record and counted, nothing was done, and the next one works."""
    bundle = place.mint(CapabilityBundle, SCOPE, budget={"fs_write": 2, "git_local": 2})
    assert child(place, bundle, way) == -9
    assert [each["type"] for each in recorded(place)].count("CapabilityUsed") == 1
    assert not (place.project / "out.txt").exists()
    assert commits(place) == 1
    assert child(place, bundle, way.removeprefix("kill-")) == 0
    assert (place.project / "out.txt").exists() or commits(place) == 2
    lines = {each.kind: each.uses for each in budget_of(place.desk.journal.database, "work")}
    assert 2 in lines.values()
    assert place.line("audit", "verify").status == 0


def test_a_full_disk_does_nothing(place: Place) -> None:
    """No record, no run: not even an empty file is there."""
    bundle = place.mint(CapabilityBundle, SCOPE)
    assert child(place, bundle, "full") != 0
    assert not (place.project / "out.txt").exists()
    assert "CapabilityUsed" not in [each["type"] for each in recorded(place)]


def test_a_ledger_that_takes_no_event_does_nothing(place: Place) -> None:
    """Neither a file nor a commit, and no token."""
    bundle = place.mint(CapabilityBundle, SCOPE)
    files = TokenFiles.of(place.desk, part(bundle))
    state = Path(place.line.environ["HOME"]) / ".local/state/consentry/ledger.db"
    with sqlite3.connect(state) as database:
        database.execute("ALTER TABLE ledger_head RENAME TO gone")
    problems = (Code.LEDGER_UNWRITABLE, Code.LEDGER_CORRUPT)
    assert code_of(lambda: files.create("out.txt", b"")) in problems
    assert code_of(lambda: commit(place.desk, bundle)) in problems
    assert code_of(lambda: place.mint(CapabilityBundle, SCOPE)) in problems
    assert not (place.project / "out.txt").exists()
    assert commits(place) == 1
    with sqlite3.connect(state) as database:
        database.execute("ALTER TABLE gone RENAME TO ledger_head")
    files.create("out.txt", b"")
    assert (place.project / "out.txt").exists()
