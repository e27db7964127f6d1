"""`consentry explain`, for words, for paths, and for what is neither."""

import json
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service.words import all_words
from tests.cli.conftest import CommandLine, assert_error


def test_list_has_every_word_under_its_kind(consentry: CommandLine) -> None:
    """Without a word, all of them."""
    out = consentry("explain").out
    assert out.startswith("Terms\n  surface, ")
    assert "Permission sets\n  minimal, readonly, filesystem," in out
    flat = out.replace(",", " ").split()
    for word in all_words():
        assert word.name in flat


def test_quiet_list_is_one_word_on_a_line(consentry: CommandLine) -> None:
    """For a script that wants to go through them."""
    assert consentry("explain", "-q").out.split("\n")[:-1] == [word.name for word in all_words()]


def test_every_word_of_the_list_can_be_explained(consentry: CommandLine) -> None:
    """In one JSON document all, and each with something to say."""
    words = json.loads(consentry("explain", "--json").out)["words"]
    assert [word["name"] for word in words] == [word.name for word in all_words()]
    assert all(word["summary"] for word in words)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("state-refused", "state-refused (error code)\n"),
        ("126", "126 (exit status)\n"),
        ("NO_COLOR", "NO_COLOR (setting)\n"),
        ("minimal", "minimal (permission set)\n"),
        ("net_access", "NET_ACCESS (surface dimension)\n"),
        ("state.read", "state.read (module capability)\n"),
        ("landlock", "landlock (host feature)\n"),
        ("native", "native (engine)\n"),
        ("/etc/shadow", "/etc/shadow (path)\n"),
    ],
)
def test_word_is_explained(consentry: CommandLine, word: str, expected: str) -> None:
    """Its name, its kind, and at least one line more."""
    ended = consentry("explain", word)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith(expected + "  ")


def test_quiet_answer_is_the_meaning_alone(consentry: CommandLine) -> None:
    """One line."""
    assert consentry("explain", "usage", "--quiet").out == f"{Code.USAGE.meaning}\n"


@pytest.mark.parametrize(
    ("word", "suggestion"),
    [
        ("state-refuse", "state-refused"),
        ("minimul", "minimal"),
        ("LANDLOK", "landlock"),
        ("consentry_stat", "CONSENTRY_STATE"),
    ],
)
def test_mistyped_word_gets_a_suggestion(
    consentry: CommandLine, word: str, suggestion: str
) -> None:
    """The nearest word of any kind."""
    ended = consentry("explain", word)
    assert ended.status == 2
    assert ended.err == (
        f"consentry: error[unknown-word]: `{word}` is not a word of the product\n"
        f"help: did you mean `{suggestion}`?\n"
    )


def test_unknown_word_says_where_to_look(consentry: CommandLine) -> None:
    """When nothing is near."""
    ended = consentry("explain", "qqqqqqqq")
    assert ended.err.endswith("help: run `consentry explain` without a word to list them\n")


def test_path_below_home(consentry: CommandLine, home: Path) -> None:
    """Quoted from the shell, `~` still means the home folder."""
    assert "in a protected root" in consentry("explain", "~/.ssh/id_ed25519").out
    answer = json.loads(consentry("explain", "~/.ssh/id_ed25519", "--json").out)
    details = {each["title"]: each["text"] for each in answer["words"][0]["details"]}
    assert details["rule"] == f"{home}/.ssh/"


def test_hostile_path_is_shown_as_escapes(consentry: CommandLine) -> None:
    """A path comes back as text that cannot command a terminal."""
    ended = consentry("explain", "/srv/\x1b[2J\nx")
    assert ended.status == 0
    assert ended.out.startswith("/srv/\\u{1b}[2J\\u{a}x (path)\n")


@pytest.mark.parametrize("path", ["/" + "a/" * 3000, "/" + "*" * 2500, "/" + "x" * 100_000])
def test_path_that_is_too_long_is_wrong_usage(consentry: CommandLine, path: str) -> None:
    """No pattern could name it, and the help says what can be asked instead."""
    ended = consentry("explain", path)
    assert_error(ended, Code.USAGE)
    assert "too long" in ended.err
    assert "help: explain a folder above it" in ended.err


def test_path_with_wildcards_is_a_name(consentry: CommandLine) -> None:
    """Stars in a path are letters of it, as long as there are not too many."""
    assert consentry("explain", "/srv/" + "*" * 200).status == 0


@pytest.mark.parametrize("name", ["HOME", "CONSENTRY_STATE", "XDG_STATE_HOME"])
def test_setting_that_is_too_long_is_named(consentry: CommandLine, name: str) -> None:
    """The path that was asked is fine; what cannot be used is said."""
    ended = consentry("explain", "/srv", **{name: "/" + "a/" * 3000})
    assert_error(ended, Code.SETTING_VALUE)
    assert name in ended.err


def test_long_path_cannot_begin_a_row_of_its_own(consentry: CommandLine) -> None:
    """Each row is within the page; those that go on are marked."""
    ended = consentry("explain", "/srv/" + "x" * 70 + "  rule   none; open to all " * 9)
    assert ended.status == 0
    rows = ended.out.splitlines()
    assert all(len(row) < 80 for row in rows)
    assert [row for row in rows if row.startswith("  rule")] == []
    assert rows[1].startswith("|")


def test_works_without_home_and_current_folder(consentry: CommandLine) -> None:
    """Words are explained from the tables alone, wherever the command is started."""
    del consentry.environ["HOME"]
    script = "mkdir gone && cd gone && rmdir ../gone && consentry explain usage"
    assert consentry.in_shell(script).status == 0
