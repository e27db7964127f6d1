"""The report that `consentry status` shows, and its JSON form."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry import __version__
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.enforce.facts import HostView
from consentry.service.concern import Concern
from consentry.service.status import StatusReport, status_document, take_status
from consentry.service.surroundings import Surroundings

MakeAround = Callable[..., Surroundings]


def _report(around: Surroundings, **named: str) -> StatusReport:
    view = HostView(environ={"PATH": "/nowhere"}, uid=around.uid)
    return take_status(around, view, **named)


def test_all_is_well_in_a_plain_project(around: MakeAround, project: Path) -> None:
    """Places are found, nothing is wrong, nothing was made."""
    before = sorted(project.parent.parent.rglob("*"))
    report = _report(around())
    assert report.workspace is not None
    assert report.workspace.path == project
    assert (report.concerns, report.notes) == ((), ())
    assert sorted(project.parent.parent.rglob("*")) == before


def test_everything_wrong_is_reported_at_once(around: MakeAround, home: Path) -> None:
    """One problem does not hide the next: workspace, configuration and state in one report."""
    (home / ".config").mkdir()
    (home / ".config/consentry").touch()
    report = _report(around(home, environ={"CONSENTRY_STATE": "relative"}))
    assert [concern.code for concern in report.concerns] == [
        Code.WORKSPACE_REFUSED,
        Code.CONFIG_FILE,
        Code.SETTING_VALUE,
    ]
    assert (report.workspace, report.state) == (None, None)
    assert len(report.engines) > 0


@pytest.mark.parametrize("option", ["workspace_named", "config_named"])
def test_named_place_that_is_missing_is_raised(around: MakeAround, option: str) -> None:
    """What a person typed and what cannot be used is an error, not a line in a report."""
    with pytest.raises(UsageProblem):
        _report(around(), **{option: "missing"})


def test_notes_are_said_once(around: MakeAround) -> None:
    """HOME decides on two places; what is odd about it is mentioned once."""
    odd = around(environ={"HOME": "odd"}, account_home=Path("/nonexistent"))
    assert len(_report(odd).notes) == 1


def test_document_has_the_documented_keys(around: MakeAround) -> None:
    """The keys that the reference describes, and no others."""
    document = status_document(_report(around()))
    assert list(document) == [
        "consentry",
        "ok",
        "workspace",
        "configuration",
        "state",
        "engines",
        "host",
        "problems",
        "notes",
    ]
    page = Path(__file__).parents[2] / "docs/reference/status-json.md"
    described = page.read_text(encoding="utf-8")
    for key in _keys(document):
        assert f"`{key}`" in described, f"{key} is not described"


def _keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in _keys(item)}
    if isinstance(value, list):
        return {key for item in value for key in _keys(item)}
    return set()


def test_document_is_plain_json(around: MakeAround) -> None:
    """Nothing in it needs a special encoder, and it says the version."""
    document = json.loads(json.dumps(status_document(_report(around()))))
    assert document["consentry"] == __version__
    assert document["ok"] is True


def test_problems_are_in_the_document(around: MakeAround, home: Path) -> None:
    """Code, message and help, as in the text."""
    document = status_document(_report(around(home)))
    assert document["ok"] is False
    assert document["workspace"] is None
    (problem,) = document["problems"]  # type: ignore[misc] # the type is as wide as JSON
    assert problem["code"] == "workspace-refused"
    assert set(problem) == {"code", "message", "help"}


def test_path_that_is_not_utf8_has_its_bytes_beside_it(around: MakeAround, project: Path) -> None:
    """A reader that knows only Unicode can still get at the exact name."""
    odd = Path(os.fsdecode(os.fsencode(project) + b"/\xff"))
    odd.mkdir()
    document = status_document(_report(around(odd)))
    workspace = document["workspace"]
    assert isinstance(workspace, dict)
    assert bytes.fromhex(workspace["path_hex"]) == os.fsencode(odd)
    assert status_document(_report(around()))["workspace"]["path_hex"] is None  # type: ignore[index]


def test_concern_has_the_remedy_of_its_code_unless_a_better_one_is_known() -> None:
    """As an error has."""
    assert Concern.about(Code.STATE_UNSAFE, "x").help_line == Code.STATE_UNSAFE.remedy
    problem = UsageProblem(Code.SETTING_VALUE, "x", help_line="better")
    assert Concern.from_error(problem) == Concern(Code.SETTING_VALUE, "x", "better")


WATCHED = """
import os, sys
FORBIDDEN = {
    "subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system",
    "os.mkdir", "os.rename", "os.remove", "os.chmod", "os.link", "os.symlink", "socket.connect",
}
seen = []
def watch(event, arguments):
    if event in FORBIDDEN or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        seen.append((event, arguments))
from consentry.enforce.facts import HostView
from consentry.service.status import take_status
from consentry.service.surroundings import look_around
if sys.argv[1] == "control":
    from pathlib import Path
    take_status = lambda *_: Path("made").mkdir()
sys.addaudithook(watch)
around = look_around(os.environ)
take_status(around, HostView(environ=os.environ, uid=around.uid))
print(seen)
"""


@pytest.mark.parametrize(("what", "clean"), [("status", True), ("control", False)])
def test_looking_starts_and_changes_nothing(project: Path, what: str, *, clean: bool) -> None:
    """No process, no write, no connection, by the interpreter's own account of what it did.

    The control makes a folder, and the same watch sees it.
    """
    result = subprocess.run(
        [sys.executable, "-B", "-c", WATCHED, what],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (result.stdout.strip() == "[]") is clean
