"""What is said about a path: protected or not, by which rule."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.service.pathwords import explain_path, is_path
from consentry.service.surroundings import Home, Surroundings
from consentry.service.words import Word

MakeAround = Callable[..., Surroundings]

PROTECTED = "in a protected root; no grant ever opens it"
OPEN = "in no protected root; a grant may open it"


def _details(word: Word) -> dict[str, str]:
    return dict(word.details)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("/", True), ("/etc", True), ("~", True), ("~/x", True), ("~root", False), ("a/b", False)],
)
def test_what_counts_as_a_path(text: str, *, expected: bool) -> None:
    """Absolute, or below the own home; anything else is a word."""
    assert is_path(text) is expected


def test_system_file_is_protected_and_the_rule_is_named(around: MakeAround) -> None:
    """The row of the table, why it is there, and the table's identity."""
    word = explain_path("/etc/passwd", around())
    assert word.summary == PROTECTED
    assert _details(word)["rule"] == "/etc/"
    assert _details(word)["table"].startswith("canon://policy/protected_roots_v1")


@pytest.mark.parametrize("text", ["/srv/../etc/passwd", "//etc/passwd", "/etc/./passwd"])
def test_spelling_does_not_matter(around: MakeAround, text: str) -> None:
    """Dots and doubled slashes lead to the same answer."""
    assert explain_path(text, around()).summary == PROTECTED


def test_own_keys_are_protected(around: MakeAround, home: Path) -> None:
    """`~` is the home of the user who asks, wherever it is; the file need not exist."""
    for text in ("~/.ssh/id_ed25519", str(home / ".ssh/id_ed25519")):
        assert explain_path(text, around()).summary == PROTECTED
    assert explain_path("~/notes.txt", around()).summary == OPEN


def test_keys_of_another_account_are_protected(around: MakeAround, tmp_path: Path) -> None:
    """The rows under `~` hold for every home the user database names."""
    theirs = tmp_path / "odd/place"
    base = around()
    asked = Surroundings(base.environ, base.cwd, base.uid, homes=(Home(theirs, "somebody's"),))
    assert explain_path(str(theirs / ".ssh/key"), asked).summary == PROTECTED
    assert explain_path(str(theirs / ".ssh/key"), base).summary == OPEN


def test_link_to_a_protected_place_is_protected(around: MakeAround, project: Path) -> None:
    """A grant is bound to what a link leads to, so that decides; a link to elsewhere is open."""
    (project / "link").symlink_to("/etc/passwd")
    word = explain_path(str(project / "link"), around())
    assert (word.summary, _details(word)["leads to"]) == (PROTECTED, "/etc/passwd")
    (project / "other").symlink_to(project)
    assert explain_path(str(project / "other/x"), around()).summary == OPEN


def test_moved_state_directory_is_protected(around: MakeAround, tmp_path: Path) -> None:
    """Where CONSENTRY_STATE points is never granted; without it the same folder is like any."""
    place = tmp_path / "moved"
    moved = around(environ={"CONSENTRY_STATE": str(place)})
    assert explain_path(str(place / "ledger"), moved).summary == PROTECTED
    assert explain_path(str(place / "ledger"), around()).summary == OPEN


def test_exception_is_told_as_what_it_is(around: MakeAround) -> None:
    """Provided by the engine to read, and still not granted."""
    word = explain_path("/etc/ld.so.cache", around())
    assert word.summary == "protected, but provided by the engine to read; no grant opens it"
    assert _details(word)["exception"] == "/etc/ld.so.cache"


def test_folder_that_contains_protected_places_says_so(around: MakeAround, home: Path) -> None:
    """A home folder may be granted; what must stay hidden in it is listed."""
    word = explain_path("~", around())
    assert word.summary.startswith("in no protected root, but ")
    assert str(home) in _details(word)["hidden in it"]


def test_no_home_is_an_error_for_a_home_path(around: MakeAround) -> None:
    """`~` without any home folder is nothing."""
    with pytest.raises(UsageProblem) as caught:
        explain_path("~/x", around(environ={"HOME": ""}))
    assert caught.value.code is Code.SETTING_VALUE


def test_name_that_is_not_utf8_is_answered(around: MakeAround) -> None:
    """Bytes that are no text are compared as bytes."""
    assert explain_path(os.fsdecode(b"/etc/\xff"), around()).summary == PROTECTED
    assert explain_path(os.fsdecode(b"/srv/\xff"), around()).summary == OPEN
