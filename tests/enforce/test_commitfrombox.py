"""From a real box to the host: what a confined program wrote, scanned, judged and committed."""

import os
from pathlib import Path

import pytest

from consentry.enforce.commit import CommitResult, commit
from consentry.enforce.layer import ChangeKind, LayerRoot, file_clock_ns
from consentry.enforce.layerscan import scan
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import Verdicts, judge
from consentry.surface.lattice import Surface
from consentry.surface.modes import LayerPlace
from consentry.surface.pattern import Pattern
from consentry.surface.patterns import PatternScope
from tests.enforce.boxes import run_in_box
from tests.enforce.layers import opened
from tests.enforce.treesight import sight_of

SCRIPT = """
echo new > changed
echo made > made
mkdir -p folder/deep && echo x > folder/deep/f && ln -s deep/f folder/link
rm deleted; rm -r tree; chmod 700 mode
mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit && echo data > .git/HEAD
mkfifo pipe; ln -s /etc/passwd leaves
"""


@pytest.fixture(params=list(LayerPlace), ids=str)
def kind(request: pytest.FixtureRequest) -> LayerPlace:
    """Where the layer lies."""
    found: LayerPlace = request.param
    return found


def _box(
    workspace: Path, state: Path, script: str, write: str, kind: LayerPlace
) -> tuple[Verdicts, CommitResult]:
    """Runs a script in a box that may write `write`, and commits what it may."""
    root = LayerRoot.over(0, workspace)
    scope = PatternScope.parse([write])
    rules = WriteRules.bound(scope, workspace=workspace, named=[Pattern.parse(write)])
    started_ns = file_clock_ns()
    found: list[tuple[Verdicts, CommitResult]] = []

    def see(folder: Path) -> None:
        with opened(folder) as layer:
            verdicts = judge(scan(layer, [root], started_ns=started_ns), rules)
            outcome = commit(layer, verdicts, run="run-1", state=state)
            found.append((verdicts, outcome.result))

    surface = Surface.of(read=["./"], write=[write, "/tmp/"])
    run = run_in_box(
        ["sh", "-ec", script],
        workspace=workspace,
        surface=surface,
        run_any=True,
        see_layer=see,
        state=state if kind is LayerPlace.DISK else None,
    )
    assert kind is LayerPlace.MEMORY or list((state / "layers").iterdir()) == []
    assert run.ended.status == 0, run.stderr
    return found[0]


def _workspace(place: Path) -> Path:
    workspace = place / "ws"
    (workspace / "tree" / "b").mkdir(parents=True)
    for name in ("changed", "deleted", "mode", "untouched", "tree/a", "tree/b/c"):
        (workspace / name).write_text("old\n", encoding="utf-8")
    return workspace


def test_what_a_program_wrote_in_its_box_reaches_the_host(tmp_path: Path, kind: LayerPlace) -> None:
    """New, changed and deleted files arrive, as those of whoever owns the folder."""
    workspace, state = _workspace(tmp_path), tmp_path / "state"
    verdicts, result = _box(workspace, state, SCRIPT, "./", kind)
    assert result is CommitResult.COMMITTED
    assert (workspace / "changed").read_text(encoding="utf-8") == "new\n"
    assert (workspace / "folder" / "link").read_text(encoding="utf-8") == "x\n"
    assert (workspace / "mode").stat().st_mode & 0o777 == 0o700
    names = sorted(path for path in sight_of(workspace) if "/" not in path)
    assert names == [".git", "changed", "folder", "made", "mode", "untouched"]
    owners = {os.lstat(workspace / path).st_uid for path in sight_of(workspace)}
    assert owners == {os.geteuid()}
    kinds = {each.path: each.kind for each in verdicts.accepted}
    assert kinds[b"mode"] is ChangeKind.MODE
    assert b"untouched" not in kinds


def test_what_may_not_leave_the_box_is_dropped_and_told(tmp_path: Path, kind: LayerPlace) -> None:
    """A hook, a pipe and a link that leads out are violations that the layer attests."""
    workspace, state = _workspace(tmp_path), tmp_path / "state"
    verdicts, _ = _box(workspace, state, SCRIPT, "./", kind)
    told = {each.resource.removeprefix(f"{workspace}/"): each for each in verdicts.violations}
    assert sorted(told) == [".git/hooks/pre-commit", "leaves", "pipe"]
    assert told[".git/hooks/pre-commit"].allow == f"--write {workspace}/.git/hooks/"
    assert sorted(path for path in sight_of(workspace) if ".git" in path) == [".git", ".git/HEAD"]


def test_a_hook_that_was_granted_by_name_arrives(tmp_path: Path, kind: LayerPlace) -> None:
    """The same script, with the very option that the violation names."""
    workspace, state = _workspace(tmp_path), tmp_path / "state"
    (workspace / ".git" / "hooks").mkdir(parents=True)
    script = "echo good > .git/hooks/pre-commit"
    _, result = _box(workspace, state, script, ".git/hooks/", kind)
    assert result is CommitResult.COMMITTED
    hook = workspace / ".git" / "hooks" / "pre-commit"
    assert hook.read_text(encoding="utf-8") == "good\n"
