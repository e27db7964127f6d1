"""The tools as they stand: whose they are, at which level, and what a run would be."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.record.envelope import Context
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from consentry.service.toolview import configuration_here, list_tools, show_tool, whose
from consentry.store.acceptances import StoredAcceptances
from tests.decide.samples import OWNER
from tests.service.configuring import levels_text, write

MakeAround = Callable[..., Surroundings]
TOOL = """\
tool:
  name: {name}
  description: d
  version: "1.0.0"
  riskLevel: {risk}
  capabilities:
    fileRead: [{{pattern: notes.txt, purpose: p}}]
  entrypoint: {{command: {command}}}
"""


def tool(name: str, *, command: str = "cat", risk: str = "low") -> str:
    """A manifest that reads one file."""
    return TOOL.format(name=name, command=command, risk=risk)


@pytest.fixture
def here(around: MakeAround) -> Surroundings:
    """Started in the project, with the usual programs on PATH."""
    return around(environ={"PATH": "/usr/bin:/bin"})


def listed(here: Surroundings) -> dict[str, tuple[str | None, str | None]]:
    """Level and problem of each tool."""
    _, effective = configuration_here(here, None, None)
    return {
        row.name: (row.level and row.level.level.value, row.problem and row.problem.code.value)
        for row in list_tools(effective)
    }


def test_every_tool_is_listed_with_its_level(here: Surroundings, project: Path, home: Path) -> None:
    """CONTRACTS §7-level: the user's own and the workspace's, in order of their names."""
    write(project / ".consentry", b=tool("b", risk="high"), c=tool("c"))
    write(
        home / ".config/consentry",
        a=tool("a"),
        consent_config=levels_text(none="{allowedTools: [a]}"),
    )
    assert listed(here) == {"a": ("none", None), "b": ("strict", None), "c": ("explicit", None)}


def test_what_cannot_be_read_or_is_denied_is_listed_all_the_same(
    here: Surroundings, project: Path, home: Path
) -> None:
    """With the code of the reason; the others are not touched by it."""
    own = 'consentSystem: {version: "1.0.0", defaultPolicy: deny, consentLevels: {explicit: {allowedTools: [a]}}}'
    write(home / ".config/consentry", consent_config=own, a=tool("a"), bad="tool: {}")
    write(project / ".consentry", b=tool("b"))
    assert listed(here) == {
        "a": ("explicit", None),
        "b": (None, "tool-denied"),
        "bad": (None, "document-invalid"),
    }


def test_a_tool_as_it_would_run(here: Surroundings, project: Path) -> None:
    """Its digest covers the program that it starts, and changes with the manifest."""
    write(project / ".consentry", t=tool("t"))
    (project / "notes.txt").write_text("n")
    workspace, effective = configuration_here(here, None, None)
    view = show_tool(here, effective, workspace, "t")
    assert view.bound is not None
    assert view.unbound is None
    assert view.bound.digest != view.tool.manifest.digest
    assert os.path.realpath("/usr/bin/cat") in view.bound.files
    assert list(view.surface.fs_read_roots) == ["notes.txt"]
    assert whose(view.tool) == "the workspace's, not accepted"


def test_a_tool_that_could_not_run_here_is_shown(here: Surroundings, project: Path) -> None:
    """With what it asks for, and why not."""
    write(project / ".consentry", t=tool("t", command="no-such-program-here"))
    workspace, effective = configuration_here(here, None, None)
    view = show_tool(here, effective, workspace, "t")
    assert view.bound is None
    assert view.unbound is not None
    assert view.unbound.code is Code.PROGRAM_UNKNOWN
    assert list(view.surface.fs_read_roots) == ["notes.txt"]


def test_a_tool_that_is_not_there(here: Surroundings, project: Path) -> None:
    """The nearest one is named."""
    write(project / ".consentry", build=tool("build"))
    workspace, effective = configuration_here(here, None, None)
    with pytest.raises(ConsentryError) as caught:
        show_tool(here, effective, workspace, "biuld")
    assert (caught.value.code, caught.value.help_line) == (
        Code.TOOL_UNKNOWN,
        "did you mean `build`?",
    )


def test_looking_makes_nothing(here: Surroundings, project: Path, home: Path) -> None:
    """No state directory, no ledger, no machine id."""
    write(project / ".consentry", t=tool("t"))
    workspace, effective = configuration_here(here, None, None)
    show_tool(here, effective, workspace, "t")
    assert not (home / ".local").exists()


def test_what_was_accepted_counts_while_no_byte_changes(here: Surroundings, project: Path) -> None:
    """The rule of trust, by the acceptances of the real ledger."""
    folder = write(
        project / ".consentry",
        t=tool("t"),
        consent_config=levels_text(none="{allowedTools: [t]}"),
    )
    assert listed(here) == {"t": ("explicit", None)}
    workspace, effective = configuration_here(here, None, None)
    clock = SystemClock()
    ledger = ledger_for_writing(here)
    context = Context(OWNER, ledger.writer)
    StoredAcceptances(ledger, Uuid7Ids(clock), clock, context).accept(
        str(workspace.path), dict(effective.strangers), OWNER
    )
    ledger.close()
    assert listed(here) == {"t": ("none", None)}
    (folder / "tools/t.yaml").write_text(tool("t") + "# changed\n")
    assert listed(here) == {"t": ("explicit", None)}
