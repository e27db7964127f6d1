"""`consentry trust`: the real command, at a real terminal (the rule of trust)."""

import json
from pathlib import Path

import pytest

from consentry.base.codes import Code, ExitStatus
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.terminals import at_terminal
from tests.service.configuring import levels_text, tool_text, write

THIEF = "thief: explicit → none"


@pytest.fixture
def theirs(project: Path) -> Path:
    """A clone that lists its thief under `none`."""
    return write(
        project / ".consentry",
        thief=tool_text("thief"),
        consent_config=levels_text(none="{allowedTools: [thief]}"),
    )


def accept(consentry: CommandLine) -> None:
    """A person sees it to its end and types the word."""
    with at_terminal(consentry, "trust", size=(80, 40)) as terminal:
        terminal.answer("a approve", "a")
        terminal.answer("type trust to approve", "trust")
        assert terminal.ended() == ExitStatus.DONE, terminal.screen


def shown(consentry: CommandLine) -> dict[str, object]:
    """What `--show` says."""
    document: dict[str, object] = json.loads(consentry("trust", "--show", "--json").out)
    return document


@pytest.mark.usefixtures("theirs")
def test_showing_changes_nothing(consentry: CommandLine, home: Path) -> None:
    """What would be loosened is listed with its place, and no state is made."""
    ended = consentry("trust", "--show")
    assert (ended.status, THIEF in ended.out) == (0, True)
    assert "consent-config.yaml:4:" in ended.out
    assert not (home / ".local").exists()
    assert shown(consentry)["accepted"] is False


def test_a_person_accepts_and_any_changed_byte_asks_again(
    consentry: CommandLine, theirs: Path
) -> None:
    """In threes: not before, then accepted, then one byte of one document is another."""
    assert shown(consentry)["accepted"] is False
    accept(consentry)
    assert shown(consentry)["accepted"] is True
    again = consentry("trust")
    assert (again.status, "accepted" in again.out) == (0, True)
    manifest = theirs / "tools/thief.yaml"
    before = manifest.read_text()
    manifest.write_text(before + "\n")
    changed = shown(consentry)
    assert (changed["accepted"], changed["changed"]) == (False, [".consentry/tools/thief.yaml"])
    manifest.write_text(before)
    assert shown(consentry)["accepted"] is True
    write(theirs, other=tool_text("other"))
    assert shown(consentry)["accepted"] is False


def test_status_says_how_it_stands(consentry: CommandLine, theirs: Path) -> None:
    """Not trusted, accepted, and accepted before it was changed."""

    def status() -> tuple[str, str]:
        document = json.loads(consentry("status", "--json").out)
        return document["configuration"][-1]["trust"], " ".join(document["notes"])

    trust, notes = status()
    assert (trust, "1 line" in notes) == ("not-accepted", True)
    accept(consentry)
    assert status() == ("accepted", "")
    assert "accepted by you" in consentry("status").out
    write(theirs, other=tool_text("other"))
    trust, notes = status()
    assert (trust, "not those that were accepted" in notes) == ("not-accepted", True)
    write(theirs, consent_config="nonsense: [")
    ended = consentry("status", "--quiet")
    assert (ended.status, "document-invalid" in ended.out) == (1, True)


@pytest.mark.usefixtures("theirs")
def test_what_was_accepted_can_be_taken_back(consentry: CommandLine) -> None:
    """By anybody, from anywhere: taking back only makes things stricter."""
    assert "nothing was accepted" in consentry("trust", "--withdraw").out
    accept(consentry)
    assert consentry("trust", "--withdraw").status == ExitStatus.DONE
    assert shown(consentry)["accepted"] is False
    events = json.loads(consentry("audit", "log", "--json").out)
    told = [each["type"] for each in events["events"] if each["type"].startswith("workspace.")]
    assert sorted(told) == ["workspace.accepted", "workspace.withdrawn"]


@pytest.mark.usefixtures("theirs")
def test_a_pipe_is_never_consent(consentry: CommandLine) -> None:
    """Whatever is piped in: without a terminal nothing is accepted."""
    ended = consentry.in_shell(
        f"printf 'a\\ntrust\\n' | setsid -w {' '.join(consentry.program)} trust"
    )
    assert_error(ended, Code.TERMINAL_MISSING)
    assert shown(consentry)["accepted"] is False


@pytest.mark.usefixtures("theirs")
@pytest.mark.parametrize("keys", ["d\n", "\x03", "\x04", "a\nyes\nd\n"])
def test_everything_but_the_word_accepts_nothing(consentry: CommandLine, keys: str) -> None:
    """A no, Ctrl-C, the end of input, and the wrong word."""
    with at_terminal(consentry, "trust", size=(80, 40)) as terminal:
        for line in keys.splitlines(keepends=True):
            terminal.see("\n> ")
            terminal.type(line)
        assert terminal.ended() == ExitStatus.DENIED, terminal.screen
    assert shown(consentry)["accepted"] is False


def test_what_changes_while_the_question_stands_is_not_accepted(
    consentry: CommandLine, theirs: Path
) -> None:
    """Accepted is what was shown: the manifest that was swapped meanwhile does not count."""
    with at_terminal(consentry, "trust", size=(80, 40)) as terminal:
        terminal.see("a approve")
        terminal.see("\n> ")
        write(theirs, thief=tool_text("thief", description="Something else"))
        terminal.type("a\n")
        terminal.answer("type trust to approve", "trust")
        terminal.see("files have changed meanwhile")
        assert terminal.ended() == ExitStatus.DONE
    assert shown(consentry)["accepted"] is False


def test_a_changed_script_of_an_accepted_tool_asks_again(
    consentry: CommandLine, theirs: Path
) -> None:
    """Accepted are the programs in the workspace, too: in threes, with a script that changes."""
    script = consentry.cwd / "check.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    runs = tool_text("thief").replace(
        "capabilities: {}",
        "capabilities: {processExecution: [{command: ./check.sh, arguments: [], purpose: it}]}",
    )
    write(theirs, thief=runs)
    assert "'path': 'check.sh'" in str(shown(consentry)["files"])
    accept(consentry)
    assert shown(consentry)["accepted"] is True
    script.write_text("#!/bin/sh\nexec ./steal\n")
    changed = shown(consentry)
    assert (changed["accepted"], changed["changed"]) == (False, ["check.sh"])


def test_a_workspace_without_configuration_has_nothing_to_accept(consentry: CommandLine) -> None:
    """Said plainly, and nobody is asked."""
    assert_error(consentry("trust"), Code.NOTHING_TO_TRUST)
    assert "no configuration of its own" in consentry("trust", "--show").out


def test_a_document_that_cannot_be_read_is_not_accepted(
    consentry: CommandLine, theirs: Path
) -> None:
    """Status 3 with file and line, also for a manifest that nobody asked for."""
    write(theirs, thief="tool: {name: thief, colour: red}")
    ended = consentry("trust")
    assert ended.status == ExitStatus.BAD_DOCUMENT
    assert "thief.yaml:1:" in ended.err


@pytest.mark.usefixtures("theirs")
def test_show_and_withdraw_do_not_go_together(consentry: CommandLine) -> None:
    """One of them changes something."""
    assert_error(consentry("trust", "--show", "--withdraw"), Code.USAGE)


def test_what_does_not_fit_is_seen_to_its_end_first(consentry: CommandLine, theirs: Path) -> None:
    """A long list cannot push what matters off the screen: no yes before the last page."""
    write(theirs, **{f"tool_{number}": tool_text(f"tool-{number}") for number in range(40)})
    with at_terminal(consentry, "trust", size=(80, 24)) as terminal:
        terminal.answer("a approve", "a")
        terminal.answer("see it to its end first", "")
        while "tools/tool-9.yaml" not in terminal.screen:
            terminal.answer("", "")
        terminal.answer("", "a")
        terminal.answer("type trust to approve", "trust")
        assert terminal.ended() == ExitStatus.DONE, terminal.screen
    assert shown(consentry)["accepted"] is True


@pytest.mark.usefixtures("theirs")
def test_a_passphrase_goes_with_it_where_one_is_set(consentry: CommandLine) -> None:
    """The word alone is not enough then; wrong words accept nothing, the right ones do."""
    with at_terminal(consentry, "passphrase", "set") as terminal:
        terminal.answer("a new passphrase", "correct horse")
        terminal.answer("", "correct horse")
        assert terminal.ended() == ExitStatus.DONE, terminal.screen
    for words, is_accepted in (("a guess", False), ("correct horse", True)):
        with at_terminal(consentry, "trust", size=(80, 40)) as terminal:
            terminal.answer("a approve", "a")
            terminal.answer("type trust to approve", "trust")
            terminal.answer("passphrase", words)
            if not is_accepted:
                terminal.see("\n> ")
                terminal.type("\x03")
            assert (terminal.ended() == ExitStatus.DONE) is is_accepted, terminal.screen
        assert shown(consentry)["accepted"] is is_accepted
