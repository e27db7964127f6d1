"""Which words git is started with under a token: those that are listed, and no other."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.decide.gitoperations import (
    GRAMMARS,
    GitLocalOperation,
    check_words,
    operation_named,
)

GIT = shutil.which("git") or "git"
TAKEN = [
    ("add", ["notes", "--", "-odd-name"]),
    ("add", ["--all"]),
    ("branch", ["side"]),
    ("branch", ["-d", "side"]),
    ("commit", ["-m", "ext::sh -c 'a message may say what it likes'"]),
    ("commit", ["--message=--upload-pack=x", "--allow-empty"]),
    ("diff", ["HEAD~1", "HEAD", "--stat"]),
    ("diff", ["--unified=0", "main..side", "--", "a/b..c"]),
    ("init", ["-b", "main"]),
    ("log", ["--oneline", "-n", "3", "--format=%an"]),
    ("merge", ["--no-ff", "-m", "join", "side"]),
    ("reset", ["--hard", "HEAD"]),
    ("status", ["--short"]),
    ("status", ["--porcelain=v2"]),
    ("switch", ["-c", "side"]),
    ("tag", ["-a", "v1", "-m", "first"]),
]
REFUSED = [
    ("add", ["--exec-path=/tmp/x"]),
    ("branch", ["--set-upstream-to=origin/main"]),
    ("branch", ["-u", "origin/main"]),
    ("commit", ["-c", "alias.x=push"]),
    ("commit", ["-C", "/elsewhere"]),
    ("commit", ["--upload-pack=x"]),
    ("commit", ["--git-dir=/elsewhere"]),
    ("commit", ["-S"]),
    ("commit", ["--gpg-sign"]),
    ("commit", ["--edit"]),
    ("commit", ["-mx"]),
    ("commit", ["--mess=abbreviated"]),
    ("diff", ["--ext-diff"]),
    ("diff", ["--textconv"]),
    ("diff", ["--output=/elsewhere"]),
    ("diff", ["--no-index", "/etc/passwd", "x"]),
    ("diff", ["/etc/hosts", "/etc/passwd"]),
    ("diff", ["--", "../one", "a/../../two"]),
    ("diff", ["-U", "--output=/elsewhere"]),
    ("diff", ["--unified", "--no-index"]),
    ("init", ["--template=/tmp/x"]),
    ("init", ["--separate-git-dir=/tmp/x"]),
    ("init", ["/elsewhere"]),
    ("log", ["--remotes", "ext::sh -c x"]),
    ("log", ["--pretty", "--output=/elsewhere"]),
    ("merge", ["ext::sh -c x"]),
    ("merge", ["--strategy=x"]),
    ("merge", ["https://host/repository"]),
    ("merge", ["fd::7"]),
    ("status", ["--porcelain", "--column"]),
    ("status", ["--untracked-files", "--column"]),
    ("switch", ["--recurse-submodules"]),
    ("tag", ["--sign"]),
]


@pytest.mark.parametrize(("operation", "words"), TAKEN)
def test_what_is_listed_is_taken_as_it_is(operation: str, words: list[str]) -> None:
    """The value of an option is a value, whatever it looks like."""
    assert check_words(operation_named(operation), words) == tuple(words)


@pytest.mark.parametrize(("operation", "words"), REFUSED)
def test_what_is_not_listed_is_refused(operation: str, words: list[str]) -> None:
    """TRUST §token-4: a program, another repository, or an option that nobody listed."""
    with pytest.raises(Refused) as refusal:
        check_words(operation_named(operation), words)
    assert refusal.value.code is Code.TOKEN_REFUSED


@pytest.mark.parametrize(
    "word",
    ["push", "fetch", "pull", "clone", "remote", "remote-ext", "send-pack", "config", "-c", ""],
)
def test_what_speaks_to_others_is_no_operation(word: str) -> None:
    """TRUST §token-4: nor what would make git do so at its next command."""
    with pytest.raises(Refused) as refusal:
        operation_named(word)
    assert refusal.value.code is Code.TOKEN_REFUSED


def test_an_option_without_its_value_is_an_error() -> None:
    """And so is a NUL."""
    for words in (["-m"], ["-m", "a\0b"]):
        with pytest.raises(ConsentryError):
            check_words(GitLocalOperation.COMMIT, words)


def test_every_operation_has_its_words() -> None:
    """One that had none would take nothing, or anything."""
    assert set(GRAMMARS) == set(GitLocalOperation)
    for grammar in GRAMMARS.values():
        assert all(each.startswith("-") for each in (*grammar.flags, *grammar.valued))


def test_git_takes_a_separate_value_where_we_skip_one(tmp_path: Path) -> None:
    """A word that we take for a value is never an option to git: asked of git itself."""
    quiet = {"cwd": tmp_path, "capture_output": True, "stdin": subprocess.DEVNULL}
    subprocess.run([GIT, "init", "-q"], **quiet, check=True)  # type: ignore[call-overload]
    for operation, grammar in GRAMMARS.items():
        for option in sorted(grammar.valued):
            with suppress(Refused):
                check_words(operation, [option, "--no-such-option"])
                done = subprocess.run(  # type: ignore[call-overload]
                    [GIT, operation, option, "--no-such-option"], **quiet, check=False
                )
                said = done.stderr.decode()
                is_option = "unknown option" in said or "--no-such-option: " in said
                assert not is_option, (operation, option, said)
                assert "unrecognized argument: --no-such" not in said, (operation, option)
                assert "invalid option: --no-such" not in said, (operation, option)
