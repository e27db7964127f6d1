"""`consentry status`, as a person and as a script see it."""

import json
import os
import re
from pathlib import Path

import pytest

from consentry.enforce.programs import BUILT
from tests.cli.conftest import CommandLine


def _joined(out: str) -> str:
    """A page without its breaks: the mark of a continued row says exactly where they are."""
    return re.sub(r"\n *\|", "", out)


def test_page_fits_a_small_terminal(consentry: CommandLine) -> None:
    """When nothing is wrong: 80 columns, and with the prompt no more than 24 lines.

    Paths that need more than a row are not counted: here they lie below a long folder name.
    """
    ended = consentry("status")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert len([line for line in lines if not line.startswith(f"{'':11}|")]) <= 23
    assert all(len(line) < 80 for line in lines)


def test_page_says_what_was_found_and_why(
    consentry: CommandLine, home: Path, project: Path
) -> None:
    """Workspace, configuration, state, each with the rule that decided."""
    (project / ".consentry/tools").mkdir(parents=True)
    (project / ".consentry/policy.yaml").touch()
    (project / ".consentry/tools/lint.yaml").touch()
    out = _joined(consentry("status", COLUMNS="100").out)
    assert str(project) in out
    assert "`.consentry` is here" in out
    assert "2 known files, not trusted until accepted" in out
    assert str(home / ".config/consentry") in out
    assert str(home / ".local/state/consentry") in out
    assert "made on first use" in out


def test_page_is_honest_about_engines(consentry: CommandLine) -> None:
    """Each engine is found or not, with the reason; all of them can be driven by this version."""
    out = consentry("status", PATH="/nowhere").out
    assert f"this version can run things in: {', '.join(BUILT)}\n" in _joined(out)
    for engine, program in (("bubblewrap", "bwrap"), ("docker", "docker"), ("deno", "deno")):
        assert f"  {engine:<11} not found  no `{program}` on PATH" in out


def test_verbose_names_the_source_of_each_fact(consentry: CommandLine) -> None:
    """Where it was read, for every feature of the host."""
    out = consentry("status", "--verbose", COLUMNS="100").out
    assert "/proc/sys/user/max_user_namespaces" in out
    assert "/proc/sys/kernel/seccomp/actions_avail" in out


def test_quiet_prints_nothing_when_all_is_well(consentry: CommandLine) -> None:
    """And only the problems when not."""
    assert consentry("status", "--quiet").out == ""
    ended = consentry("status", "--quiet", CONSENTRY_STATE="relative")
    assert ended.status == 1
    assert ended.out == (
        "problems\n"
        "  [setting-value] CONSENTRY_STATE is `relative`, which is not an absolute path\n"
        "    help: set CONSENTRY_STATE to an absolute path outside every workspace\n"
    )


def test_home_folder_is_reported_and_named_it_works(consentry: CommandLine, home: Path) -> None:
    """The first command of a new user: a page with one problem and the way out of it."""
    consentry.cwd = home
    ended = consentry("status")
    assert ended.status == 1
    assert "[workspace-refused]" in ended.out
    assert "name the folder with --workspace" in ended.out
    named = consentry("status", "--workspace", ".", COLUMNS="100")
    assert named.status == 0
    assert "inside the workspace, and hidden there" in named.out


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"HOME": "relative"}, "note: HOME is `relative`, which is not an absolute path"),
        ({"HOME": ""}, "note: HOME is not set"),
        ({"XDG_STATE_HOME": "x"}, "note: XDG_STATE_HOME is `x`"),
    ],
)
def test_odd_environment_is_noted(
    consentry: CommandLine, environ: dict[str, str], words: str
) -> None:
    """What was ignored or replaced is said, in a note."""
    assert words in consentry("status", COLUMNS="100", **environ).out


def test_home_that_is_not_set_at_all(consentry: CommandLine) -> None:
    """The account's own home is taken instead, and a note says so."""
    del consentry.environ["HOME"]
    assert "note: HOME is not set" in consentry("status").out


def test_state_through_a_link_into_the_workspace_is_refused(
    consentry: CommandLine, project: Path, tmp_path: Path
) -> None:
    """The code of the refusal is listed, and the status is 1."""
    (tmp_path / "link").symlink_to(project)
    ended = consentry("status", CONSENTRY_STATE=str(tmp_path / "link/state"))
    assert ended.status == 1
    assert "[state-refused]" in ended.out


def test_open_state_directory_is_listed_with_what_to_do(consentry: CommandLine, home: Path) -> None:
    """The mode that was found, and the one it should have; fixed, it is fine."""
    state = home / ".local/state/consentry"
    state.mkdir(parents=True)
    state.chmod(0o755)
    ended = consentry("status")
    assert ended.status == 1
    flat = _joined(ended.out)
    assert "[state-unsafe]" in flat
    assert "its mode is 0755, not 0700" in flat
    assert "help: make it a plain folder of your own with mode 0700" in flat
    state.chmod(0o700)
    assert consentry("status").status == 0


FORGED = (
    "help: all is well, run `consentry status --workspace /` ",
    "[state-unsafe] forged ",
    "    help: forged ",
    "problems ",
    "consentry 0.1.0: no problem found ",
)


@pytest.mark.parametrize("columns", ["40", "80"])
def test_name_cannot_begin_a_row_of_its_own(
    consentry: CommandLine, project: Path, columns: str
) -> None:
    """However a name fills the rows, every row is within the page and begins with words of ours.

    The name has all paddings, so that some row would begin with the forged words. The control: the
    words are there, in rows that are marked as continued.
    """
    forged = "".join(FORGED)
    for padding in range(20):
        deep = project / ("-" * padding + "x " * 10 + forged)
        (deep / ".consentry").mkdir(parents=True)
        (deep / ".consentry/policy.yaml").symlink_to("nowhere")
        consentry.cwd = deep
        ended = consentry("status", COLUMNS=columns)
        rows = ended.out.splitlines()
        assert ended.status == 1
        assert all(len(row) < int(columns) for row in rows[1:])
        assert forged.strip() in _joined(ended.out)
        helps = [row for row in rows if row.lstrip().startswith("help: ")]
        assert len(helps) == ended.out.count("\n  [") == 1
        assert helps[0].startswith("    help: replace it with a plain")
        starts = [row for row in rows if row.startswith(("consentry ", "problems"))]
        assert len(starts) == 2


def test_long_path_on_a_wide_alphabet_stays_within_the_page(
    consentry: CommandLine, project: Path
) -> None:
    """Letters that take two columns are counted so."""
    deep = project / ("\u4e2d" * 60) / ("\u4e2d" * 60)
    deep.mkdir(parents=True)
    consentry.cwd = deep
    out = consentry("status", "--workspace", ".").out
    assert all(len(row) + row.count("\u4e2d") < 80 for row in out.splitlines())
    assert str(deep) in _joined(out)


HOSTILE = "a\x1b]0;owned\x07\x1b[2J\r\nconsentry 0.1.0: no problem found\u202e\u200b\U000e0041"


def test_hostile_folder_names_are_shown_as_escapes(consentry: CommandLine, project: Path) -> None:
    """Nothing in a name reaches the terminal as a command, as a line of ours, or unseen.

    The control: the same name reaches a script unharmed, in JSON.
    """
    folder = project / HOSTILE
    (folder / ".consentry/tools").mkdir(parents=True)
    (folder / ".consentry/tools" / f"{HOSTILE}.yaml").touch()
    (folder / ".consentry/policy.yaml").symlink_to("nowhere")
    for words in (["status"], ["status", "--verbose"], ["status", "--quiet"]):
        ended = consentry(*words, "--workspace", HOSTILE)
        assert ended.status == 1
        assert all(letter == "\n" or letter.isprintable() for letter in ended.out)
        assert ended.out.count("\nconsentry 0.1.0") == 0
    document = json.loads(consentry("status", "--json", "--workspace", HOSTILE).out)
    assert document["workspace"]["path"] == str(folder)


def test_folder_name_that_is_not_utf8(consentry: CommandLine, project: Path) -> None:
    """Shown as its bytes in text; exact in JSON, and the JSON is valid."""
    name = os.fsencode(project) + b"/caf\xe9"
    os.mkdir(name)  # noqa: PTH102 - bytes are the point
    text = consentry("status", "--workspace", name)
    assert text.status == 0
    assert "caf\\x{e9}" in text.out
    document = json.loads(consentry("status", "--json", "--workspace", name).out)
    assert document["workspace"]["path"].endswith("/caf\ufffd")
    assert bytes.fromhex(document["workspace"]["path_hex"]) == name


def test_json_document(consentry: CommandLine, project: Path) -> None:
    """Versioned, complete, and not changed by `--quiet` or `--verbose`."""
    ended = consentry("status", "--json")
    document = json.loads(ended.out)
    assert (document["schema_version"], document["kind"], document["ok"]) == (1, "status", True)
    assert document["workspace"]["path"] == str(project)
    assert [engine["name"] for engine in document["engines"] if engine["driver"]] == list(BUILT)
    assert consentry("status", "--json", "--quiet") == ended
    assert consentry("status", "--json", "--verbose") == ended


def test_json_document_with_problems(consentry: CommandLine, home: Path) -> None:
    """The same exit status as the text, and the problems as data."""
    consentry.cwd = home
    ended = consentry("status", "--json")
    assert (ended.status, ended.err) == (1, "")
    document = json.loads(ended.out)
    assert document["ok"] is False
    assert [problem["code"] for problem in document["problems"]] == ["workspace-refused"]


def test_nothing_is_made(consentry: CommandLine, tmp_path: Path) -> None:
    """Looking leaves no trace in the workspace, the home or the state."""
    before = sorted(tmp_path.rglob("*"))
    consentry("status")
    consentry("status", "--json", "--verbose")
    assert sorted(tmp_path.rglob("*")) == before
