"""A push to a real repository, smuggled into local operations: it does not arrive.

Nothing grants a push, so that there is no leg in which one is allowed; a commit by the same words is the
leg in which the token works. The third leg is plain git, in no box and with no token: there each attack
that a hook or a setting makes does arrive.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.decide.gitoperations import GitLocalOperation
from consentry.decide.tokens import GitLocalOpsCapability
from tests.cli.conftest import CommandLine
from tests.service.test_tokens import code_of
from tests.service.tokening import STEWARD, Place, git, place_of

pytestmark = pytest.mark.timeout(120)

INSIDE, OUTSIDE = "inside.git", "outside.git"
EVERY = {"operations": [each.value for each in GitLocalOperation]}


@pytest.fixture
def place(home: Path, project: Path) -> Iterator[Place]:
    """A project with two bare repositories to push to: one in it, and one beside it."""
    with place_of(CommandLine(project, {"HOME": str(home), "PATH": "/usr/bin:/bin"})) as made:
        for bare in bares(made):
            git(project, "init", "-q", "--bare", str(bare))
        yield made


def bares(place: Place) -> tuple[Path, Path]:
    """Where a push could arrive."""
    return place.project / INSIDE, place.project.parent / OUTSIDE


def arrived(place: Place) -> list[str]:
    """The references that either has, as plain git sees them."""
    return [
        f"{bare.name}: {line}"
        for bare in bares(place)
        for line in git(bare, "for-each-ref").splitlines()
    ]


def smuggled(bare: Path) -> list[tuple[str, list[str]]]:
    """Operations and words that would be a push, if git got to see them so."""
    push = f"!git push {bare} main"
    return [
        ("push", [str(bare), "main"]),
        ("-c", ["alias.x=push", "x", str(bare), "main"]),
        ("commit", ["-c", f"alias.commit={push}", "-m", "x"]),
        ("x", []),
        ("commit", ["--allow-empty", "-m", "x", "--exec-path=/usr/lib/git-core"]),
        ("commit", ["-C", str(bare)]),
        ("log", [f"--upload-pack={push}"]),
        ("log", ["--receive-pack=x", str(bare)]),
        ("merge", [f"ext::git push {bare} main"]),
        ("merge", [f"file://{bare}"]),
        ("switch", [f"ext::{push}"]),
        ("remote-ext", ["origin", f"git push {bare} main"]),
        ("send-pack", [str(bare), "main"]),
        ("fetch", [str(bare)]),
        ("pull", [str(bare)]),
        ("remote", ["add", "origin", str(bare)]),
        ("config", ["core.sshCommand", push]),
        ("branch", ["--edit-description"]),
        ("rebase", ["--exec", f"git push {bare} main", "HEAD"]),
        ("bisect", ["run", "git", "push", str(bare), "main"]),
        ("submodule", ["foreach", f"git push {bare} main"]),
        ("init", [f"--template={bare}"]),
        ("init", [f"--separate-git-dir={bare}"]),
    ]


def test_a_push_in_the_words_is_refused_before_anything_starts(place: Place) -> None:
    """TRUST §token-4: each is refused by its own check, nothing is used, nothing arrives."""
    token = place.mint(GitLocalOpsCapability, EVERY, budget={"git_local": 0})
    for bare in bares(place):
        for operation, words in smuggled(bare):
            code = code_of(lambda o=operation, w=words: place.desk.git_local(token, o, w))  # type: ignore[misc]
            assert code is Code.TOKEN_REFUSED, (operation, words)
    assert arrived(place) == []
    plain = code_of(lambda: place.desk.git_local(token, "log"))
    assert plain is Code.BUDGET_EXHAUSTED  # what is no push comes as far as that


def hook(place: Place, name: str) -> None:
    """A hook that pushes."""
    file = place.project / ".git/hooks" / name
    bare = bares(place)[0]
    file.write_text(
        f"#!/bin/sh\nunset GIT_DIR GIT_INDEX_FILE\ngit push -q {bare} HEAD:refs/heads/x\n"
    )
    file.chmod(0o755)


def setting(place: Place, *pairs: tuple[str, str]) -> None:
    """Settings of the repository; PUSH is a program of the workspace that pushes."""
    pusher = place.project / "pusher"
    bare = bares(place)[0]
    lines = f"unset GIT_DIR GIT_INDEX_FILE\ngit push -q {bare} HEAD:refs/heads/x\ncat 2>&1"
    pusher.write_text(f"#!/bin/sh\n{lines} </dev/null\nexit 0\n")
    pusher.chmod(0o755)
    for name, value in pairs:
        place.git("config", name, value.replace("PUSH", str(pusher)))


def use_hook(place: Place) -> None:
    """Before and behind a commit."""
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        hook(place, name)


def use_hooks_path(place: Place) -> None:
    """The same from another folder."""
    hook(place, "pre-commit")
    (place.project / ".git/hooks").rename(place.project / "hooks")
    place.git("config", "core.hooksPath", str(place.project / "hooks"))


def use_filter(place: Place) -> None:
    """A program for the content of files."""
    setting(place, ("filter.push.clean", "PUSH"))
    (place.project / ".gitattributes").write_text("*.txt filter=push\n")


def use_watcher(place: Place) -> None:
    """A program that says which files changed."""
    setting(place, ("core.fsmonitor", "PUSH"))


def use_signing(place: Place) -> None:
    """A program that signs."""
    setting(place, ("commit.gpgSign", "true"), ("gpg.program", "PUSH"))


def use_diff(place: Place) -> None:
    """A program for differences."""
    setting(place, ("diff.external", "PUSH"), ("core.pager", "PUSH"), ("core.editor", "PUSH"))


def use_include(place: Place) -> None:
    """Settings from a file of the workspace."""
    setting(place)
    more = place.project / "more.ini"
    more.write_text(f"[core]\n\tfsmonitor = {place.project / 'pusher'}\n")
    place.git("config", "include.path", str(more))


WAYS = [use_hook, use_hooks_path, use_filter, use_watcher, use_signing, use_diff, use_include]


def steps(place: Place) -> list[tuple[str, list[str]]]:
    """Ordinary work that meets all of these."""
    (place.project / "a.txt").write_text("changed\n")
    (place.project / "b.txt").write_text("b\n")
    return [
        ("status", []),
        ("add", ["a.txt", "b.txt"]),
        ("diff", ["--cached"]),
        ("commit", ["-m", "two"]),
    ]


@pytest.mark.parametrize("way", WAYS, ids=lambda each: each.__name__)
def test_what_a_repository_names_does_not_push(place: Place, way: object) -> None:
    """Hooks and settings of a stranger's repository; the commit is there, the push is not."""
    assert callable(way)
    way(place)
    token = place.mint(GitLocalOpsCapability, EVERY)
    for operation, words in steps(place):
        done = place.desk.git_local(token, operation, words, identity=STEWARD)
        assert done.exit_code == 0, done.stderr
    assert place.git("-c", "core.fsmonitor=false", "log", "-1", "--format=%s").strip() == "two"
    assert arrived(place) == []


@pytest.mark.parametrize("way", WAYS, ids=lambda each: each.__name__)
def test_in_no_box_and_without_a_token_the_push_arrives(place: Place, way: object) -> None:
    """The controls taken away: the attack is real."""
    assert callable(way)
    way(place)
    for operation, words in steps(place):
        place.git(operation, *words)
    assert arrived(place) != []


def test_a_merge_starts_git_again_and_not_to_push(place: Place) -> None:
    """The one operation in which git may start itself: still no transport is open."""
    place.git("config", "remote.origin.url", str(bares(place)[0]))
    place.git("config", "push.default", "current")
    place.git("config", "merge.push.driver", "git-push")
    (place.project / ".gitattributes").write_text("*.txt merge=push filter=push\n")
    place.git("config", "filter.push.smudge", "git-push")
    place.git("switch", "-q", "-c", "side")
    (place.project / "a.txt").write_text("aside\n")
    place.git("-c", "filter.push.smudge=cat", "commit", "-q", "-am", "aside")
    place.git("-c", "filter.push.smudge=cat", "switch", "-q", "main")
    (place.project / "a.txt").write_text("ours\n")
    place.git("-c", "filter.push.smudge=cat", "commit", "-q", "-am", "ours")
    token = place.mint(GitLocalOpsCapability, EVERY)
    place.desk.git_local(token, "merge", ["-m", "join", "side"], identity=STEWARD)
    assert arrived(place) == []


def test_the_same_words_push_where_nobody_checks_them(place: Place) -> None:
    """The control taken away: git itself would have done it."""
    inside, outside = bares(place)
    place.git("-c", "alias.x=push", "x", str(inside), "main")
    place.git("-c", f"alias.y=!git push {outside} main", "y")
    assert len(arrived(place)) == 2
