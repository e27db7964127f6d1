"""`consentry exec --layer`: where what a program writes is kept, by line, profile and record."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import home_of, last_record, put

PROFILE = """
sandboxConfig:
  profiles:
    build:
      filesystem:
        readWrite: ["${WORKSPACE}/out"]
      layer: disk
"""


def _state(line: CommandLine) -> Path:
    return home_of(line) / ".local/state/consentry"


def _git(line: CommandLine, *words: str) -> str:
    """Git outside of any box, as whoever the command is run as."""
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=m")
    done = subprocess.run(
        ["/usr/bin/git", *identity, *words],
        cwd=line.cwd,
        env=line.environ,
        check=True,
        capture_output=True,
        text=True,
        **line.options,
    )
    return done.stdout


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_what_is_written_arrives_from_either_kind(line: CommandLine, place: str) -> None:
    """The same files reach the workspace, the record says where they were, and nothing is left."""
    put(line, "old.txt", "old")
    code = "echo new > old.txt; mkdir made; echo x > made/f"
    ended = line("exec", "--layer", place, "--write", ".", "--exec", "any", "--", "sh", "-c", code)
    assert ended.status == 0, ended.err
    assert (line.cwd / "old.txt").read_text(encoding="utf-8") == "new\n"
    assert (line.cwd / "made" / "f").read_text(encoding="utf-8") == "x\n"
    owner = line.cwd.stat().st_uid
    assert {each.lstat().st_uid for each in line.cwd.rglob("*")} == {owner}
    sandbox = last_record(line)["sandbox"]
    assert sandbox["layer"] == place
    written = next(each for each in sandbox["controls"] if each["control"] == "written")
    held_by = {"memory": ("tmpfs-size", "kernel"), "disk": ("watcher", "observed")}
    assert (written["mechanism"].partition(":")[0], written["truth"]) == held_by[place]
    layers = _state(line) / "layers"
    assert not layers.exists() or list(layers.iterdir()) == []


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_git_moves_a_folder_that_was_there_before(line: CommandLine, place: str) -> None:
    """`git mv folder other` works, and git finds every file of it renamed."""
    (line.cwd / ".git").rmdir()
    _git(line, "init", "-q")
    for name in ("folder/a", "folder/inner/b", "folder/inner/deep/c"):
        put(line, name, f"content of {name}\n")
    _git(line, "add", "-A")
    _git(line, "commit", "-qm", "x")
    options = ("--layer", place, "--write", ".", "--exec", "any")
    ended = line("exec", *options, "--", "git", "mv", "folder", "other")
    assert ended.status == 0, ended.err
    assert "stopped" not in ended.err
    assert _git(line, "status", "--short").splitlines() == [
        "R  folder/a -> other/a",
        "R  folder/inner/b -> other/inner/b",
        "R  folder/inner/deep/c -> other/inner/deep/c",
    ]
    assert not (line.cwd / "folder").exists()


def test_a_profile_names_the_kind_and_the_line_has_the_last_word(line: CommandLine) -> None:
    """`layer: disk` in a profile; `--layer memory` holds instead."""
    put(line, "profile.yaml", PROFILE)
    (line.cwd / "out").mkdir()
    owner = line.cwd.stat()
    subprocess.run(["/bin/chown", f"{owner.st_uid}:{owner.st_gid}", line.cwd / "out"], check=True)
    words = ("--profile", "profile.yaml:build", "--", "/usr/bin/touch", "out/f")
    assert line("exec", *words).status == 0
    assert last_record(line)["sandbox"]["layer"] == "disk"
    assert line("exec", "--layer", "memory", *words).status == 0
    assert last_record(line)["sandbox"]["layer"] == "memory"


def test_a_run_over_its_quota_on_the_disk_is_ended_and_nothing_is_left(line: CommandLine) -> None:
    """The status and the record say so, and no file of it reaches the workspace."""
    put(line, "profile.yaml", PROFILE + "      resources: {maxWritten: 8MB}\n")
    (line.cwd / "out").mkdir()
    owner = line.cwd.stat()
    subprocess.run(["/bin/chown", f"{owner.st_uid}:{owner.st_gid}", line.cwd / "out"], check=True)
    code = "for n in range(99): open(f'out/{n}', 'wb').write(bytes(4 << 20))"
    options = ("--profile", "profile.yaml:build", "--", "/usr/bin/python3", "-I", "-c", code)
    ended = line("exec", *options)
    assert ended.status == 137, ended.err
    record = last_record(line)
    assert record["execution"]["limit"] == "written_bytes"
    assert list((line.cwd / "out").iterdir()) == []
    assert list((_state(line) / "layers").iterdir()) == []


def test_what_a_run_writes_at_its_very_end_counts(line: CommandLine) -> None:
    """Too many folders to be looked through in one go, then too much at once, and it is over."""
    put(line, "profile.yaml", PROFILE + "      resources: {maxWritten: 16MB}\n")
    (line.cwd / "out").mkdir()
    owner = line.cwd.stat()
    subprocess.run(["/bin/chown", f"{owner.st_uid}:{owner.st_gid}", line.cwd / "out"], check=True)
    code = (
        "import os\n"
        "for n in range(3000): os.mkdir(f'out/{n}')\n"
        "for n in range(2): open(f'out/{n}/f', 'wb').write(bytes(9 << 20))\n"
        "os._exit(0)"
    )
    options = ("--profile", "profile.yaml:build", "--", "/usr/bin/python3", "-I", "-c", code)
    ended = line("exec", *options)
    assert ended.status == 137, ended.err
    assert last_record(line)["execution"]["limit"] == "written_bytes"
    assert list((line.cwd / "out").iterdir()) == []


def test_a_snippet_refuses_it_clearly(line: CommandLine) -> None:
    """What a snippet writes is kept in memory."""
    put(line, "profile.yaml", PROFILE)
    put(line, "snippet.py", "print(1)\n")
    ended = line("code", "--profile", "profile.yaml:build", "snippet.py")
    assert ended.status == 126, ended.err
    assert "what a snippet writes is kept in memory" in ended.err


def test_a_layer_and_direct_writes_exclude_each_other(line: CommandLine) -> None:
    """The profile is refused where it says both."""
    put(line, "profile.yaml", PROFILE + "      writes: direct\n")
    ended = line("exec", "--profile", "profile.yaml:build", "--", "/bin/true")
    assert ended.status == 3
    assert "there is no layer with `writes: direct` in line" in ended.err
