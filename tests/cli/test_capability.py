"""`consentry capability save`, `list`, `show` and `history`: what is kept of code, and how it is told."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.decide.capabilities import MOST_CODE
from tests.cli.capabilities import COUNT, FETCH, saved, shown
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import put
from tests.cli.terminals import at_terminal

HOSTILE = "\x1b]0;owned\x07\x1b[2J"


def test_code_is_saved_with_the_set_that_is_inferred(line: CommandLine) -> None:
    """ESCALATION §set-1: the set, how sure it is, what speaks for it, and the version are told."""
    done = saved(line, "fetch", FETCH)
    assert "saved fetch, version 1 (python)" in done.out
    assert "runs in   network-api: inferred with confidence 0.9" in done.out
    assert "urllib.request.urlopen" in done.out
    kept = shown(line, "fetch")
    assert (kept["permissionSet"], kept["effectiveSet"]) == ("network-api", "network-api")
    assert (kept["permissionSource"], kept["version"]) == ("emergent", 1)
    assert "code" not in kept


def test_the_same_code_changes_nothing_and_other_code_is_the_next_version(
    consentry: CommandLine,
) -> None:
    """A second save of the same bytes says so; what was set by hand does not outlive the code."""
    saved(consentry, "count", COUNT)
    assert consentry("capability", "set", "count", "readonly").status == 0
    again = saved(consentry, "count", COUNT)
    assert "unchanged: count, version 1" in again.out
    assert shown(consentry, "count")["permissionSet"] == "readonly"
    other = saved(consentry, "count", FETCH)
    assert "saved count, version 2" in other.out
    kept = shown(consentry, "count")
    assert (kept["permissionSet"], kept["permissionSource"]) == ("network-api", "emergent")


@pytest.mark.parametrize(("code", "ending"), [("def (:\n", "py"), ("function (((", "ts")])
def test_code_that_cannot_be_read_is_saved_as_minimal(
    consentry: CommandLine, code: str, ending: str
) -> None:
    """It is kept with confidence 0.0, runs in `minimal`, and the answer says why."""
    done = saved(consentry, "broken", code, ending=ending)
    assert "runs in   minimal: the code could not be read as" in done.out
    kept = shown(consentry, "broken")
    assert (kept["permissionSet"], kept["permissionConfidence"]) == ("minimal", 0)


def test_what_is_not_sure_runs_as_minimal_and_says_so(consentry: CommandLine) -> None:
    """ESCALATION §set-2: a set below 0.7 is stored, and `minimal` is what it runs in."""
    saved(consentry, "unsure", "result = await mcp.weather.forecast({})\n", ending="ts")
    kept = shown(consentry, "unsure")
    assert kept["permissionConfidence"] < 0.7
    assert (kept["permissionSet"], kept["effectiveSet"]) == ("mcp-standard", "minimal")
    told = " ".join(consentry("capability", "show", "unsure").out.replace("|", "").split())
    assert "minimal: `mcp-standard` was inferred with confidence 0.50" in told
    assert "minimal (not mcp-standard)" in consentry("capability", "list").out


def test_code_comes_from_a_pipe_with_its_language(consentry: CommandLine) -> None:
    """`-` reads standard input; nothing says what language that is but the option."""
    script = "printf 'result = 1\\n' | consentry capability save one - --language python"
    assert consentry.in_shell(script).status == 0
    assert shown(consentry, "one", "--code")["code"] == "result = 1\n"
    unsaid = consentry.in_shell("printf 'result = 1\\n' | consentry capability save two -")
    assert_error(unsaid, Code.USAGE)
    assert "--language" in unsaid.err


def test_the_list_is_by_name_and_empty_is_an_answer(line: CommandLine) -> None:
    """Without anything saved nothing is made; with something, one row each."""
    assert line("capability", "list").out.startswith("nothing is saved")
    assert json.loads(line("capability", "list", "--json").out)["capabilities"] == []
    assert line("capability", "list", "--quiet").out == ""
    saved(line, "zebra", COUNT)
    saved(line, "ant", FETCH)
    assert line("capability", "list", "--quiet").out == "ant\nzebra\n"
    heading, *rows = line("capability", "list").out.splitlines()
    assert heading.split()[:3] == ["name", "version", "language"]
    assert [row.split()[0] for row in rows] == ["ant", "zebra"]
    document = json.loads(line("capability", "list", "--json").out)
    assert [each["name"] for each in document["capabilities"]] == ["ant", "zebra"]
    assert all("code" not in each for each in document["capabilities"])


def test_looking_makes_no_ledger(consentry: CommandLine, home: Path) -> None:
    """Listing and showing where nothing was recorded leaves the home folder as it was."""
    consentry("capability", "list")
    consentry("escalations")
    assert_error(consentry("capability", "show", "x"), Code.CAPABILITY_MISSING)
    assert list(home.iterdir()) == []


def test_the_code_comes_back_byte_for_byte(consentry: CommandLine) -> None:
    """Into a file or a pipe it is the very code, without a line end that it did not have."""
    code = "# caf\u00e9\r\nresult = '\\x1b'"
    (consentry.cwd / "odd.py").write_bytes(code.encode())
    assert consentry("capability", "save", "odd", "odd.py").status == 0
    done = subprocess.run(
        [*consentry.program, "capability", "show", "odd", "--code"],
        cwd=consentry.cwd,
        env=consentry.environ,
        capture_output=True,
        check=True,
    )
    assert done.stdout == code.encode()


def test_code_can_do_nothing_to_a_terminal(consentry: CommandLine) -> None:
    """Escapes in the code, and in what was found in it, are shown as text."""
    saved(consentry, "evil", f"# {HOSTILE}\nimport urllib.request\n")
    for words in (("show", "evil", "--code"), ("show", "evil"), ("history", "evil"), ("list",)):
        with at_terminal(consentry, "capability", *words) as terminal:
            assert terminal.ended() == 0, terminal.screen
        assert HOSTILE not in terminal.screen
        assert "\x1b]" not in terminal.screen
        assert "\x07" not in terminal.screen
    with at_terminal(consentry, "capability", "show", "evil", "--code") as terminal:
        terminal.see("written by evil, version 1")
        terminal.see("\\u{1b}]0;owned")
        terminal.ended()


def test_an_earlier_version_can_be_looked_at(consentry: CommandLine) -> None:
    """With the set that it had last; one that never was is told with where to look."""
    saved(consentry, "count", COUNT)
    assert consentry("capability", "set", "count", "readonly").status == 0
    saved(consentry, "count", FETCH)
    before = shown(consentry, "count", "--version", "1", "--code")
    assert (before["code"], before["permissionSet"]) == (COUNT, "readonly")
    assert "an earlier version" in consentry("capability", "show", "count", "--version", "1").out
    none = consentry("capability", "show", "count", "--version", "7")
    assert_error(none, Code.CAPABILITY_MISSING)
    assert "the newest is 2" in none.err


def test_history_tells_versions_and_who_changed_the_set(consentry: CommandLine) -> None:
    """ESCALATION §yes-trail: what it was, what it became, by whom and why; the oldest first."""
    saved(consentry, "count", COUNT)
    consentry("capability", "set", "count", "readonly", "--reason", f"data{HOSTILE}")
    saved(consentry, "count", FETCH)
    told = consentry("capability", "history", "count").out
    assert told.index("version 1") < told.index("minimal → readonly, by hand")
    assert told.index("minimal → readonly") < told.index("version 2")
    assert f"by local:{os.getuid()}:" in told
    assert "because data\\u{1b}" in told
    document = json.loads(consentry("capability", "history", "count", "--json").out)
    assert [each["permissionSet"] for each in document["changes"]] == [
        "minimal",
        "readonly",
        "network-api",
    ]
    (decided,) = document["decisions"]
    assert (decided["fromSet"], decided["toSet"]) == ("minimal", "readonly")
    assert decided["detectedOperation"] == "manual"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("save", "Not A Name", "count.py"), Code.USAGE),
        (("save", "count", "nowhere.py"), Code.FILE_UNUSABLE),
        (("save", "count", "folder.py"), Code.FILE_UNUSABLE),
        (("save", "count", "closed.txt"), Code.USAGE),
        (("save", "count", "binary.py"), Code.CAPABILITY_CODE),
        (("save", "count", "nul.py"), Code.CAPABILITY_CODE),
        (("save", "count", "large.py"), Code.CAPABILITY_CODE),
        (("save", "count", "count.py", "--set", "everything"), Code.PERMISSION_SET),
        (("save", "count", "count.py", "--set", "trusted"), Code.PERMISSION_STEP),
        (("save", "count", "count.py", "--language", "ruby"), Code.USAGE),
        (("show", "count"), Code.CAPABILITY_MISSING),
        (("history", "count"), Code.CAPABILITY_MISSING),
        (("set", "count", "readonly"), Code.CAPABILITY_MISSING),
        (("run", "count"), Code.CAPABILITY_MISSING),
        (("sav", "count", "count.py"), Code.USAGE),
    ],
)
def test_a_mistake_is_one_clear_message(
    consentry: CommandLine, words: tuple[str, ...], code: Code
) -> None:
    """Each has its code and its status, and leaves nothing saved."""
    put(consentry, "count.py", COUNT)
    (consentry.cwd / "folder.py").mkdir()
    (consentry.cwd / "closed.txt").write_text(COUNT)
    (consentry.cwd / "binary.py").write_bytes(b"\x7fELF\xff\xfe")
    (consentry.cwd / "nul.py").write_bytes(b"x = 1\0\n")
    (consentry.cwd / "large.py").write_bytes(b"#" * (MOST_CODE + 1))
    assert_error(consentry("capability", *words), code)
    assert consentry("capability", "list", "--quiet").out == ""


def test_an_unreadable_file_is_told(as_nobody: CommandLine) -> None:
    """An ordinary user who may not read the file is told so."""
    put(as_nobody, "closed.py", COUNT, mode=0o000)
    assert_error(as_nobody("capability", "save", "count", "closed.py"), Code.FILE_UNUSABLE)


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(
    consentry: CommandLine,
) -> None:
    """For every command that takes one."""
    saved(consentry, "word-count", COUNT)
    for words in (("show",), ("run",), ("history",)):
        done = consentry("capability", *words, "wordcount")
        assert_error(done, Code.CAPABILITY_MISSING)
        assert "did you mean `word-count`?" in done.err
    assert "did you mean `word-count`?" in consentry("escalations", "wordcount").err
    assert "did you mean `save`?" in consentry("capability", "sve").err


def test_a_capability_is_found_by_its_id_as_well(consentry: CommandLine) -> None:
    """The id that `show` prints names it, too."""
    saved(consentry, "count", COUNT)
    found = shown(consentry, "count")
    assert shown(consentry, found["id"]) == found


def test_names_are_completed(consentry: CommandLine) -> None:
    """A shell gets the saved names that begin so, and the sets, and makes nothing by asking."""

    def completed(*words: str) -> list[str]:
        done = consentry(
            _CONSENTRY_COMPLETE="bash_complete",
            COMP_WORDS=f"consentry capability {' '.join(words)}",
            COMP_CWORD=str(len(words) + 1),
        )
        return [row.partition(",")[2] for row in done.out.splitlines()]

    assert completed("show", "") == []
    saved(consentry, "word-count", COUNT)
    saved(consentry, "weather", FETCH)
    assert completed("show", "wo") == ["word-count"]
    assert completed("run", "") == ["weather", "word-count"]
    assert completed("set", "weather", "net") == ["network-api"]


def test_the_group_alone_prints_its_page(consentry: CommandLine) -> None:
    """With the status of wrong usage, so that a script does not read success."""
    done = consentry("capability")
    assert done.status == 2
    assert "Usage: consentry capability" in done.err
