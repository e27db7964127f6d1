"""Names that other programs obey are known at any depth and in every spelling."""

import pytest

from consentry.enforce.configescapes import config_escapes, fold_name
from consentry.enforce.layer import FileType

OBEYED = [
    ".git/hooks/pre-commit",
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules/lib/hooks/post-checkout",
    ".git/modules/vendor/lib/config",
    ".git/worktrees/side/gitdir",
    "backup.git/config",
    "backup.git/hooks/update",
    ".gitmodules",
    ".husky/pre-push",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".config/fish/config.fish",
    ".envrc",
    ".mcp.json",
    ".claude/settings.json",
    ".cursor/mcp.json",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    "project.code-workspace",
    ".devcontainer/devcontainer.json",
    ".exrc",
    ".gdbinit",
    ".consentry/sandbox-config.yaml",
    ".paper/_cfg/policy.yaml",
    ".consentry-staging-run-1/new/0",
]
ORDINARY = [
    ".git/objects/ab/cdef",
    ".git/index",
    ".git/refs/heads/main",
    ".git/HEAD",
    ".gitignore",
    ".gitattributes",
    "git/hooks/x",
    "hooks/x",
    "config",
    "src/.bashrc.py",
    "vscode/tasks.json",
    ".paper/text.tex",
    "claude/settings.json",
    ".env",
]


def _hits(path: bytes, kind: FileType = FileType.FILE) -> list[str]:
    return [hit.escape.text for hit in config_escapes().hits(path.split(b"/"), kind)]


@pytest.mark.parametrize("path", OBEYED)
@pytest.mark.parametrize("above", ["", "sub/", "a/b/c/"])
def test_obeyed_names_are_hit_at_any_depth(path: str, above: str) -> None:
    """The name itself and all below it."""
    assert _hits(f"{above}{path}".encode())


@pytest.mark.parametrize("path", ORDINARY)
def test_ordinary_names_are_not_hit(path: str) -> None:
    """A repository's data, and names that only look alike."""
    assert _hits(path.encode()) == []


@pytest.mark.parametrize(
    "spelling",
    [
        b".GIT/Hooks/x",
        b".Git/CONFIG",
        ".g\u200cit/hooks/x".encode(),
        ".gi\ufefft/config".encode(),
        b".git./config",
        b".git /config",
        b"GIT~1/config",
        b".git::$INDEX_ALLOCATION/config",
        ".v\u017fcode/tasks.json".encode(),
        "\uff0egit/config".encode(),
    ],
)
def test_other_spellings_of_the_same_name_are_hit(spelling: bytes) -> None:
    """What some file system takes for the same name counts as the same."""
    assert _hits(spelling)


def test_a_git_file_is_obeyed_and_a_git_folder_is_not() -> None:
    """A file or link of that name sends git elsewhere; a folder is a repository like any."""
    assert _hits(b"sub/.git", FileType.FILE)
    assert _hits(b"sub/.git", FileType.LINK)
    assert _hits(b"sub/.git", FileType.FOLDER) == []


def test_beside_a_head_even_plain_names_are_obeyed() -> None:
    """Git takes a folder with HEAD in it for a repository, whatever it is called."""
    names = b"innocent/config".split(b"/")
    hits = list(config_escapes().hits(names, FileType.FILE, beside_head=[1]))
    assert [hit.end for hit in hits] == [2]
    assert list(config_escapes().hits(names, FileType.FILE)) == []


def test_names_that_are_not_unicode_are_folded_without_harm() -> None:
    """Odd bytes stay apart from each other."""
    assert fold_name(b"\xff") != fold_name(b"\xfe")


def test_every_row_says_why() -> None:
    """A person who meets a row is told what it is about."""
    assert all(escape.why and escape.parts for escape in config_escapes().escapes)
