"""`consentry module graph`: as text, picture and plan, and checking a graph before it is imported."""

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import HOSTILE, harmless, imported, package, put, put_host, told

pytestmark = pytest.mark.timeout(120)


def graph(**changes: Any) -> dict[str, Any]:
    """An action graph of the sample package, with one action of two calls."""
    action = {
        "id": "tidy",
        "label": "Tidy up",
        "calls": ["notes.list", "notes.add"],
        "mutates": ["/notes"],
        "requiresApproval": {"reason": "it adds notes", "level": "hard"},
        "undoCommand": "notes.remove",
        "surface": ["toolbar", "automation"],
    }
    return {
        "actionGraphVersion": "1.0",
        "moduleId": "note-tools",
        "actions": [{**action, **changes}],
    }


def test_a_module_without_a_graph_has_the_one_of_its_bindings(consentry: CommandLine) -> None:
    """Each binding an action, with what it needs, who is asked, and the command it calls."""
    imported(consentry)
    text = consentry("module", "graph", "note-tools", COLUMNS="100").out
    first, second, *_ = text.splitlines()
    assert first == "note-tools 1.2.0 in note-board 2.4.0: 5 actions, from its bindings"
    assert second == "b-list  “List”"
    assert "  needs        export.user.file, state.read" in text
    assert "  approval     asked every time" in text
    assert "  1. notes.list  changes nothing that lasts; takes state.read" in text
    assert consentry("module", "graph", "note-tools", "--quiet").out.split()[0] == "b-list"


def test_a_graph_comes_with_its_package(consentry: CommandLine) -> None:
    """Checked with it: a wrong one is refused with its place, and nothing is registered."""
    host = str(put_host(consentry))
    put(consentry, "module.json", package())
    put(consentry, "graph.json", graph())
    put(consentry, "wrong.json", graph(calls=["notes.nowhere"]))
    words = ("module", "import", "module.json", "--host", host, "--graph")
    wrong = consentry(*words, "wrong.json")
    assert wrong.status == Code.DOCUMENT_INVALID.status
    assert "notes.nowhere" in wrong.err
    assert told(consentry, "module", "list")["modules"] == []
    assert_error(consentry(*words, "gone.json"), Code.FILE_UNUSABLE)
    assert consentry(*words, "graph.json").status == 0
    text = consentry("module", "graph", "note-tools", COLUMNS="100").out
    assert "1 action, from its own graph" in text
    assert "called from  toolbar, automation" in text
    assert "2. notes.add  changes the document" in text


def test_the_planner_document_is_json_as_it_is_and_in_our_own(consentry: CommandLine) -> None:
    """CONTRACTS §2-derive: what each action takes, with and without a person, worked out."""
    imported(consentry)
    bare = json.loads(consentry("module", "graph", "note-tools", "--planner").out)
    document = told(consentry, "module", "graph", "note-tools")
    assert document["kind"] == "module-graph"
    assert document["planner"] == bare
    assert document["graph"]["moduleId"] == "note-tools"
    assert document["file"] is None
    (export,) = [each for each in bare["actions"] if each["id"] == "b-export"]
    assert export["requiredCapabilities"] == ["export.user.file", "state.read"]
    assert "automation.invoke" in export["requiredCapabilitiesFromAutomation"]


def test_the_picture_is_written_to_a_new_file_alone(consentry: CommandLine) -> None:
    """One SVG that can be parsed; a file that is there stays, and a link leads nowhere."""
    imported(consentry)
    words = ("module", "graph", "note-tools", "--svg", "--out")
    assert consentry(*words, "graph.svg").out == "wrote graph.svg\n"
    root = ET.fromstring((consentry.cwd / "graph.svg").read_text())  # noqa: S314 - our own picture
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (
        consentry("module", "graph", "note-tools", "--svg").out
        == (consentry.cwd / "graph.svg").read_text()
    )
    (consentry.cwd / "kept.svg").write_text("kept")
    (consentry.cwd / "link.svg").symlink_to("elsewhere.svg")
    for name in ("kept.svg", "link.svg", "nowhere/graph.svg"):
        assert_error(consentry(*words, name), Code.FILE_UNUSABLE)
    assert (consentry.cwd / "kept.svg").read_text() == "kept"
    assert not (consentry.cwd / "elsewhere.svg").exists()
    document = told(consentry, *words, "again.svg")
    assert document["file"] == "again.svg"


def test_a_graph_is_checked_against_a_registered_module(consentry: CommandLine) -> None:
    """`--check` shows what it would be; all that is wrong is told with its field, status 3."""
    imported(consentry)
    put(consentry, "mine.json", graph())
    shown = consentry("module", "graph", "--check", "mine.json", "note-tools", COLUMNS="100")
    assert (shown.status, "1 action, from mine.json" in shown.out) == (0, True)
    for changes, said in (
        ({"calls": ["notes.nowhere"]}, "is not a command of the host"),
        ({"mutates": ["/elsewhere"]}, "is not a writable state path"),
        ({"requiresApproval": False}, "requires"),
        ({"surface": ["roof"]}, "roof"),
    ):
        put(consentry, "mine.json", graph(**changes))
        wrong = consentry("module", "graph", "--check", "mine.json", "note-tools")
        assert wrong.status == 3, wrong
        assert said in wrong.err
        document = told(consentry, "module", "graph", "--check", "mine.json", "note-tools")
        assert document["error"]["code"] == Code.DOCUMENT_INVALID
    put(consentry, "mine.json", {**graph(), "moduleId": "other-tools"})
    assert consentry("module", "graph", "--check", "mine.json", "note-tools").status == 3
    # What is registered is as it was.
    assert "from its bindings" in consentry("module", "graph", "note-tools").out


def test_hostile_labels_of_a_graph_act_nowhere(consentry: CommandLine) -> None:
    """In the text, in the picture, in the plan, and in what is told of a graph that is wrong."""
    imported(consentry)
    label = HOSTILE.replace("\x7f", "")
    reason = {"reason": label, "level": "hard"}
    put(consentry, "mine.json", graph(label=label, requiresApproval=reason))
    for more in ((), ("--svg",), ("--planner",), ("--json",), ("--quiet",)):
        done = consentry("module", "graph", "--check", "mine.json", "note-tools", *more)
        assert harmless(done.out), more
        assert harmless(done.err), more


def test_options_that_contradict_each_other(consentry: CommandLine) -> None:
    """Two answers, a file without an answer to write, and a picture that is to be JSON."""
    for words in (("--svg", "--planner"), ("--out", "x.svg"), ("--svg", "--json")):
        done = consentry("module", "graph", "note-tools", *words)
        assert done.status == 2
    assert not (consentry.cwd / "x.svg").exists()
    assert_error(consentry("module", "graph", "note-tools"), Code.MODULE_UNKNOWN)
