"""The preview on a real terminal, before a tool runs: what it would touch here, and its details."""

from typing import Any

from tests.cli.conftest import CommandLine
from tests.cli.execs import put
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import entries_of, write_consent, write_tool

SCREEN = {"LC_ALL": "C.UTF-8", "TERM": "xterm"}
CAPABILITIES: dict[str, Any] = {
    "fileRead": [
        {"pattern": "latex/sections/*.tex", "purpose": "its sections"},
        {"pattern": "build.py", "purpose": "the tool itself"},
    ],
    "fileWrite": [{"pattern": "out/*.pdf", "purpose": "the result"}],
}


def with_files(line: CommandLine) -> None:
    """Seven sections and an older result."""
    for number in range(7):
        put(line, f"latex/sections/{number}.tex", "text")
    put(line, "out/old.pdf", "x" * 3000)


def test_the_box_is_shown_before_anything_runs(line: CommandLine) -> None:
    """CONSENT §prompt-1, SC-2: files counted, commands, the three answers; a no leaves it at that."""
    with_files(line)
    write_tool(line, "build", **CAPABILITIES)
    with at_terminal(line, "run", "build", **SCREEN) as terminal:
        shown = terminal.see("\n> ")
        terminal.type("d\n")
        assert terminal.ended() == 126
    for words in (
        "Tool Execution Request",
        "Tool: build 1.0.0",
        "Description: ┌─ written by ",
        'latex/sections/*.tex (7 files) ("its sections")',
        'out/*.pdf (1 file) ("the result")',
        "External Commands:",
        "Network: none",
        "Estimated Duration: not known yet",
        "[ Approve ]  [ Deny ]  [ Details ]",
        "□ Remember my choice for this session",
    ):
        assert words in shown, words
    assert "hello from the tool" not in terminal.screen
    assert all(each["execution"]["startTime"] is None for each in entries_of(line))


def test_strict_shows_what_could_be_lost(line: CommandLine) -> None:
    """CONSENT §level-strict: the files that are there, their sizes, and how to take it back."""
    with_files(line)
    write_tool(line, "build", **CAPABILITIES)
    write_consent(line, {"strict": {"allowedTools": ["build"]}})
    with at_terminal(line, "run", "build", size=(80, 60), **SCREEN) as terminal:
        shown = terminal.see("\n> ")
        terminal.type("d\n")
        assert terminal.ended() == 126
    assert "1 existing file (2.9 KB) could be changed or deleted:" in shown
    assert "out/old.pdf (2.9 KB)" in shown
    assert "`consentry undo` takes it back for" in shown
    assert "lands with a" in shown


def test_details_name_each_file_and_lead_back(line: CommandLine) -> None:
    """CONSENT §prompt-4: everything is there, and the answer can still be given."""
    with_files(line)
    write_tool(line, "build", **CAPABILITIES)
    with at_terminal(line, "run", "build", size=(80, 90), **SCREEN) as terminal:
        terminal.answer("Tool Execution Request", "i")
        shown = terminal.see("\n> ")
        terminal.type("i\n")
        terminal.answer("Tool Execution Request", "d")
        assert terminal.ended() == 126
    for number in range(7):
        assert f"latex/sections/{number}.tex" in shown
    assert "What a remembered yes would cover:" in shown
    assert "Digest: sha256:" in shown


def test_after_a_run_the_duration_is_estimated(line: CommandLine) -> None:
    """What was not known yet is known from the runs on record."""
    with_files(line)
    write_tool(line, "build", **CAPABILITIES)
    with at_terminal(line, "run", "build", **SCREEN) as terminal:
        terminal.answer("Estimated Duration: not known yet", "a")
        assert terminal.ended() == 0
    with at_terminal(line, "run", "build", **SCREEN) as terminal:
        shown = terminal.see("\n> ")
        terminal.type("d\n")
        assert terminal.ended() == 126
    assert "Estimated Duration: " in shown
    assert "not known yet" not in shown


def test_without_utf8_the_terminal_gets_ascii(line: CommandLine) -> None:
    """Where the locale cannot, the box is drawn with what every terminal has."""
    with_files(line)
    write_tool(line, "build", **CAPABILITIES)
    with at_terminal(line, "run", "build", LANG="C", LC_ALL="C", TERM="vt100") as terminal:
        shown = terminal.see("[ ] Remember")
        terminal.answer("", "d")
        assert terminal.ended() == 126
    assert "+- Tool Execution Request" in shown
    assert terminal.screen.isascii()


def test_a_silent_run_shows_how_long_it_takes_and_what_it_came_to(line: CommandLine) -> None:
    """The line is there while the tool is silent, gone before it prints, and the end sums up."""
    slow = "import time\ntime.sleep(3)\nopen('out/new.pdf', 'w').write('made')\nprint('done')\n"
    with_files(line)
    write_tool(line, "build", slow, **CAPABILITIES)
    with at_terminal(line, "run", "build", **SCREEN) as terminal:
        terminal.answer("Tool Execution Request", "a")
        terminal.see("consentry: build runs, 0:0")
        before = terminal.see("done\n")
        terminal.see("consentry: build: success, exit status 0, after 0:0")
        terminal.see("made out/new.pdf (4 bytes)")
        terminal.see("takes it back until")
        assert terminal.ended() == 0
    assert before.endswith(" \rdone\n")
