"""Which changes may reach the host: grants, denials, obeyed names, links and folders."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from consentry.enforce.layer import Change, ChangeKind, Changes, FileType, LayerRoot, Odd
from consentry.enforce.violations import Operation, Truth
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import MOST_VIOLATIONS, Verdicts, judge
from consentry.surface.pattern import Pattern
from consentry.surface.patterns import PatternScope


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


def _change(
    root: LayerRoot,
    path: str | bytes,
    kind: str = "created",
    file_type: str = "file",
    target: bytes | None = None,
    *,
    drops_set_id: bool = False,
) -> Change:
    return Change(
        root=root,
        path=os.fsencode(path),
        kind=ChangeKind(kind),
        type=FileType(file_type),
        size=1,
        mode=0o644,
        mtime_ns=0,
        target=target,
        drops_set_id=drops_set_id,
    )


def _judged(
    entries: Iterable[Change],
    workspace: Path,
    allowed: Sequence[str] = ("./",),
    denied: Sequence[str] = (),
    odd: Sequence[Odd] = (),
    named: Sequence[str] = (),
) -> Verdicts:
    listed = tuple(entries)
    roots = tuple(dict.fromkeys(each.root for each in (*listed, *odd)))
    changes = Changes(roots, listed, tuple(odd), (), 0, is_complete=True, started_ns=0)
    rules = WriteRules.bound(
        PatternScope.parse([*allowed, *named]),
        workspace=workspace,
        named=map(Pattern.parse, named),
        denied=map(Pattern.parse, denied),
    )
    return judge(changes, rules)


def _paths(verdicts: Verdicts) -> list[str]:
    return [os.fsdecode(each.path) for each in verdicts.accepted]


def _dropped(verdicts: Verdicts, workspace: Path) -> list[str]:
    return [each.resource.removeprefix(f"{workspace}/") for each in verdicts.violations]


def test_writes_inside_the_patterns_are_accepted_and_others_dropped(workspace: Path) -> None:
    """A root is as wide as the kernel needs it; the pattern is what was granted."""
    root = LayerRoot.over(0, workspace)
    (workspace / "latex").mkdir()
    changes = [_change(root, each) for each in ("latex/a.tex", "latex/a.sh", "other")]
    verdicts = _judged(changes, workspace, ["latex/*.tex"])
    assert _paths(verdicts) == ["latex/a.tex"]
    assert _dropped(verdicts, workspace) == ["latex/a.sh", "other"]


def test_a_dropped_write_is_a_violation_with_what_would_allow_it(workspace: Path) -> None:
    """Operation, resource, rule, truth, and the option to type, quoted for a shell."""
    root = LayerRoot.over(0, workspace)
    (violation,) = _judged([_change(root, "a b*")], workspace, ["out/"]).violations
    assert violation.operation is Operation.WRITE
    assert violation.truth is Truth.KERNEL
    assert violation.resource == f"{workspace}/a b*"
    assert violation.rule == "outside the paths that may be written"
    assert violation.allow == f"--write {workspace}/"


def test_what_was_there_already_is_named_itself(workspace: Path) -> None:
    """As a path and not as a pattern, from the top, so that it can be typed anywhere."""
    (workspace / "a b*").touch()
    root = LayerRoot.over(0, workspace)
    change = _change(root, "a b*", "modified")
    (violation,) = _judged([change], workspace, ["out/"]).violations
    assert violation.allow == f"--write '{workspace}/a b*'"


def test_what_the_option_names_is_then_accepted(workspace: Path) -> None:
    """Typing what the violation says allows exactly that path."""
    root = LayerRoot.over(0, workspace)
    changes = [_change(root, "a b*"), _change(root, "a bc")]
    verdicts = _judged(changes, workspace, [r"a b\*"])
    assert _paths(verdicts) == ["a b*"]


def test_outside_the_workspace_the_option_is_an_absolute_path(tmp_path: Path) -> None:
    """A root elsewhere is named from the top."""
    for name in ("ws", "data"):
        (tmp_path / name).mkdir()
    root = LayerRoot.over(0, tmp_path / "data")
    (violation,) = _judged([_change(root, "f")], tmp_path / "ws", ["./"]).violations
    assert violation.allow == f"--write {tmp_path}/data/"


def test_a_denied_name_wins_over_every_grant(workspace: Path) -> None:
    """Deny inside allow: the folder and all below it, and no option would lift it."""
    root = LayerRoot.over(0, workspace)
    changes = [_change(root, each) for each in ("ok", "secret/f", "secret/deep/g")]
    verdicts = _judged(changes, workspace, ["./", "secret/f"], denied=["secret"])
    assert _paths(verdicts) == ["ok"]
    assert [each.allow for each in verdicts.violations] == [None, None]


@pytest.mark.parametrize("kind", ["created", "modified", "deleted", "replaced", "mode"])
@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", "sub/.git/config", ".vscode/tasks.json", "a/.envrc"]
)
def test_obeyed_names_are_dropped_inside_a_writable_folder(
    kind: str, path: str, workspace: Path
) -> None:
    """Whatever is done to them."""
    root = LayerRoot.over(0, workspace)
    verdicts = _judged([_change(root, path, kind)], workspace)
    assert _paths(verdicts) == []
    (workspace / path).parent.mkdir(parents=True)
    verdicts = _judged([_change(root, path, kind)], workspace)
    assert verdicts.violations[0].allow == f"--write {workspace}/{path}"


def test_where_there_is_no_folder_yet_the_one_to_be_made_is_named(workspace: Path) -> None:
    """Unless that says too little: a name that others obey must be spelled out."""
    root = LayerRoot.over(0, workspace)
    changes = [_change(root, ".git/hooks/pre-commit"), _change(root, "sub/.git/config")]
    hook, config = _judged(changes, workspace).violations
    assert hook.allow == f"--write {workspace}/.git/hooks/"
    assert config.allow == f"--write {workspace}/sub/.git/config"


@pytest.mark.parametrize(
    ("path", "grant"),
    [
        (".git/hooks/pre-commit", ".git/hooks/pre-commit"),
        (".git/hooks/pre-commit", ".git/hooks/"),
        (".vscode/tasks.json", ".vscode/*.json"),
        ("sub/.envrc", "sub/.envrc"),
    ],
)
def test_a_grant_that_spells_the_name_out_lifts_it(path: str, grant: str, workspace: Path) -> None:
    """Granted by name, it may be written, also beside a grant that covers the name."""
    root = LayerRoot.over(0, workspace)
    changes = [_change(root, path)]
    assert _paths(_judged(changes, workspace, [grant])) == [path]
    assert _paths(_judged(changes, workspace, ["./"], named=[grant])) == [path]


@pytest.mark.parametrize("grant", ["./", ".git/", ".git/*", ".git/*/", "**/hooks/", ".git/h*/"])
def test_a_grant_of_a_parent_or_by_wildcard_does_not_lift_it(grant: str, workspace: Path) -> None:
    """Only the name itself, spelled out."""
    root = LayerRoot.over(0, workspace)
    assert _paths(_judged([_change(root, ".git/hooks/x")], workspace, named=[grant])) == []


def test_a_name_opens_nothing_beyond_the_grants(workspace: Path) -> None:
    """A name that the surface does not have, because something narrowed it, stays closed."""
    root = LayerRoot.over(0, workspace)
    rules = WriteRules.bound(
        PatternScope.parse(["out/"]), workspace=workspace, named=[Pattern.parse(".envrc")]
    )
    changes = Changes((root,), (_change(root, ".envrc"),), (), (), 0, True, 0)
    assert judge(changes, rules).accepted == ()


def test_a_name_inside_a_lifted_one_must_be_lifted_too(workspace: Path) -> None:
    """Naming `.vscode/` says nothing about a repository in it."""
    root = LayerRoot.over(0, workspace)
    changes = [_change(root, ".vscode/a"), _change(root, ".vscode/x/.git/config")]
    assert _paths(_judged(changes, workspace, named=[".vscode/"])) == [".vscode/a"]


def test_a_name_above_the_writable_folder_does_not_count(tmp_path: Path) -> None:
    """A workspace that lies in such a folder was chosen by the person who works there."""
    workspace = tmp_path / ".claude" / "worktrees" / "one"
    workspace.mkdir(parents=True)
    root = LayerRoot.over(0, workspace)
    assert _paths(_judged([_change(root, "f")], workspace)) == ["f"]


def test_the_staging_name_is_never_granted(workspace: Path) -> None:
    """Not even by name: it is where a commit puts its own files."""
    root = LayerRoot.over(0, workspace)
    name = ".consentry-staging-run-1"
    verdicts = _judged([_change(root, f"{name}/x")], workspace, named=[f"{name}/"])
    assert _paths(verdicts) == []
    assert verdicts.violations[0].allow is None


def test_a_repository_without_its_name_is_known_by_its_head(workspace: Path) -> None:
    """`config` and `hooks` are plain names, unless a HEAD lies beside them."""
    root = LayerRoot.over(0, workspace)
    plain = [_change(root, "a/config"), _change(root, "a/hooks/x")]
    assert _paths(_judged(plain, workspace)) == ["a/config", "a/hooks/x"]
    changes = [_change(root, "a/HEAD"), *plain, _change(root, "a/objects/1")]
    assert _paths(_judged(changes, workspace)) == ["a/HEAD", "a/objects/1"]


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("l", b"/etc/passwd"),
        ("l", b".."),
        ("l", b"../x"),
        ("d/l", b"../../x"),
        ("d/l", b"./../../x"),
        ("d/l", b"s/../y"),
        ("l", b"//x"),
    ],
)
def test_links_that_may_lead_out_are_dropped(path: str, target: bytes, workspace: Path) -> None:
    """Absolute, climbing above the folder, or climbing after a name that may be a link itself."""
    root = LayerRoot.over(0, workspace)
    verdicts = _judged([_change(root, path, file_type="link", target=target)], workspace)
    assert _paths(verdicts) == []
    assert "lead out" in verdicts.violations[0].rule


@pytest.mark.parametrize(
    ("path", "target"),
    [("l", b"x"), ("l", b"d/x"), ("d/l", b"../x"), ("d/e/l", b"../../x/y"), ("l", b"./x//y")],
)
def test_links_that_stay_inside_are_accepted(path: str, target: bytes, workspace: Path) -> None:
    """Relative, climbing no further than the writable folder, then only down."""
    root = LayerRoot.over(0, workspace)
    change = _change(root, path, file_type="link", target=target)
    assert _paths(_judged([change], workspace)) == [path]


def test_links_in_a_new_root_climb_no_further_than_that_root(workspace: Path) -> None:
    """The way to a folder that did not exist is not the run's to point into."""
    root = LayerRoot.over(0, workspace / "out")
    inside = _change(root, "out/d/l", file_type="link", target=b"../x")
    leaving = _change(root, "out/l", file_type="link", target=b"../x")
    assert _paths(_judged([inside, leaving], workspace)) == ["out/d/l"]


def test_new_folders_are_made_for_what_may_be_in_them(workspace: Path) -> None:
    """The way to a granted file comes with it; a folder for nothing does not."""
    root = LayerRoot.over(0, workspace)
    changes = [
        _change(root, "out", file_type="folder"),
        _change(root, "out/a.txt"),
        _change(root, "out/b.sh"),
        _change(root, "stray", file_type="folder"),
        _change(root, "stray/b.sh"),
        _change(root, "void", file_type="folder"),
    ]
    verdicts = _judged(changes, workspace, ["out/*.txt"])
    assert _paths(verdicts) == ["out", "out/a.txt"]
    assert _dropped(verdicts, workspace) == ["out/b.sh", "stray/b.sh", "void"]


def test_a_folder_is_deleted_only_with_everything_in_it(workspace: Path) -> None:
    """What must stay keeps its folders; the rest goes one by one."""
    root = LayerRoot.over(0, workspace)
    changes = [
        _change(root, "d", "deleted", "folder"),
        _change(root, "d/.envrc", "deleted"),
        _change(root, "d/e", "deleted", "folder"),
        _change(root, "d/e/f", "deleted"),
    ]
    verdicts = _judged(changes, workspace)
    assert _paths(verdicts) == ["d/e", "d/e/f"]
    assert _dropped(verdicts, workspace) == ["d/.envrc"]


def test_a_folder_that_cannot_be_listed_is_not_deleted(workspace: Path) -> None:
    """What is in it is unknown, so it stays."""
    root = LayerRoot.over(0, workspace)
    changes = [
        _change(root, "d", "deleted", "folder"),
        _change(root, "d/e", "deleted", "folder"),
    ]
    odd = [Odd(root, b"d/e", FileType.FOLDER, "what lies in it cannot be listed")]
    assert _paths(_judged(changes, workspace, odd=odd)) == []


def test_something_in_the_place_of_a_folder_is_all_or_nothing(workspace: Path) -> None:
    """A file does not take the place of a folder in which something must stay."""
    root = LayerRoot.over(0, workspace)
    changes = [
        _change(root, "d", "replaced"),
        _change(root, "d/.envrc", "deleted"),
        _change(root, "d/f", "deleted"),
    ]
    assert _paths(_judged(changes, workspace)) == []


def test_a_folder_in_the_place_of_a_file_that_must_stay_is_dropped_whole(workspace: Path) -> None:
    """What is in it has nowhere to go."""
    root = LayerRoot.over(0, workspace)
    changes = [_change(root, "x", "replaced", "folder"), _change(root, "x/a.txt")]
    assert _paths(_judged(changes, workspace, ["x/*.txt"])) == []


def test_odd_files_are_violations(workspace: Path) -> None:
    """A pipe in a granted place is still no file."""
    root = LayerRoot.over(0, workspace)
    odd = [Odd(root, b"p", FileType.FIFO, "a fifo is never committed")]
    (violation,) = _judged([], workspace, odd=odd).violations
    assert violation.rule == "a fifo is never committed"
    assert violation.allow is None


def test_bits_that_lend_an_identity_are_reported(workspace: Path) -> None:
    """The file is committed without them."""
    root = LayerRoot.over(0, workspace)
    verdicts = _judged([_change(root, "f", drops_set_id=True)], workspace)
    assert _paths(verdicts) == ["f"]
    assert "identity" in verdicts.violations[0].rule


def test_a_pattern_for_the_runs_own_tmp_opens_nothing_on_the_host(tmp_path: Path) -> None:
    """`/tmp/` is the run's own, even where the workspace lies below the host's."""
    workspace = Path("/tmp/somewhere/ws")
    root = LayerRoot(0, os.fsencode(workspace), (0, 0), os.fsencode(workspace))
    verdicts = _judged([_change(root, "f"), _change(root, "out/g")], workspace, ["out/", "/tmp/"])
    assert _paths(verdicts) == ["out/g"]
    assert tmp_path.is_dir()


def test_a_grant_through_a_link_reaches_what_it_led_to(tmp_path: Path) -> None:
    """Links are resolved when the rules are bound, and both spellings hold."""
    workspace, data = tmp_path / "ws", tmp_path / "data"
    workspace.mkdir()
    data.mkdir()
    (workspace / "link").symlink_to(data)
    root = LayerRoot.over(0, data)
    assert _paths(_judged([_change(root, "f")], workspace, ["link/"])) == ["f"]


def test_names_that_are_not_unicode_are_judged_like_others(workspace: Path) -> None:
    """A wildcard matches an odd byte; the option cannot spell it, and names the folder."""
    root = LayerRoot.over(0, workspace)
    change = _change(root, b"out/\xff.txt")
    assert len(_judged([change], workspace, ["out/*.txt"]).accepted) == 1
    (violation,) = _judged([change], workspace, ["in/"]).violations
    assert violation.allow == f"--write {workspace}/out/"
    assert violation.resource == f"{workspace}/out/\\xff.txt"


def test_the_list_of_violations_is_bounded_and_counted(workspace: Path) -> None:
    """A flood evicts nothing and is counted to the end."""
    root = LayerRoot.over(0, workspace)
    changes = [_change(root, str(number)) for number in range(MOST_VIOLATIONS + 5)]
    verdicts = _judged(changes, workspace, ["out/"])
    assert len(verdicts.violations) == MOST_VIOLATIONS
    assert verdicts.violations_left_out == 5


def test_an_empty_grant_accepts_nothing(workspace: Path) -> None:
    """Deny by default."""
    root = LayerRoot.over(0, workspace)
    assert _paths(_judged([_change(root, "f")], workspace, [])) == []


def test_written_and_deleted_files_are_told_apart(workspace: Path) -> None:
    """For the record of the run; folders are in neither list."""
    root = LayerRoot.over(0, workspace)
    changes = [
        _change(root, "a", file_type="folder"),
        _change(root, "a/f"),
        _change(root, "g", "deleted"),
        _change(root, "l", file_type="link", target=b"g"),
    ]
    verdicts = _judged(changes, workspace)
    assert [each.path for each in verdicts.written] == [b"a/f", b"l"]
    assert [each.path for each in verdicts.deleted] == [b"g"]
