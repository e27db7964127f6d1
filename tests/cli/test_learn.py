"""`consentry learn`: watched in a rehearsal, and written down as narrowly as it will do."""

import json
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.declare.tool import ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import put

SCRIPT = """\
#!/bin/sh
set -e
cat notes/a.txt notes/b.txt > out/all.txt
sed -i s/old/new/ out/state
echo same > out/same
rm out/gone
"""


@pytest.fixture
def project(line: CommandLine) -> CommandLine:
    """A script that reads two files, changes one, rewrites one as it was, makes one, removes one."""
    put(line, "build.sh", SCRIPT, 0o755)
    put(line, "notes/a.txt", "a\n")
    put(line, "notes/b.txt", "b\n")
    put(line, "notes/other.txt", "c\n")
    put(line, "out/state", "old\n")
    put(line, "out/same", "same\n")
    put(line, "out/gone", "gone\n")
    return line


def _manifest(line: CommandLine, name: str = "build") -> ToolManifest:
    file = line.cwd / f".consentry/tools/{name}.yaml"
    return read_tool_manifest(file.read_bytes(), str(file))


def test_what_it_needs_is_written_and_nothing_else_is_changed(project: CommandLine) -> None:
    """Files by their names, programs by theirs; the workspace stays as it was."""
    ended = project("learn", "--", "./build.sh")
    assert ended.status == 0, ended.err
    tool = _manifest(project)
    asked = tool.capabilities
    assert [need.entry.written for need in asked.file_read] == [
        "build.sh",
        "notes/a.txt",
        "notes/b.txt",
    ]
    assert [need.entry.written for need in asked.file_write] == [
        "out/all.txt",
        "out/gone",
        "out/same",
        "out/state",
        "out/sed??????",
    ]
    assert sorted(each.command for each in asked.commands) == ["cat", "rm", "sed"]
    assert tool.entrypoint is not None
    assert tool.entrypoint.command == "./build.sh"
    assert (project.cwd / "out/state").read_text() == "old\n"
    assert not (project.cwd / "out/all.txt").exists()
    assert "nothing was changed yet" in ended.err
    assert "consentry commit" in ended.err


def test_learning_again_adds_what_is_new(project: CommandLine) -> None:
    """And keeps every word that a person has written meanwhile."""
    project("learn", "--", "./build.sh")
    file = project.cwd / ".consentry/tools/build.yaml"
    text = file.read_text().replace("to fill in: what it is for", "Builds the notes")
    put(project, str(file), f"# mine\n{text}")
    assert "of it already" in project("learn", "--", "./build.sh", COLUMNS="300").err
    assert file.read_text() == f"# mine\n{text}"
    put(project, "build.sh", SCRIPT + "cat notes/other.txt\n", 0o755)
    ended = project("learn", "--", "./build.sh")
    assert "added reads notes/other.txt" in ended.err
    again = file.read_text()
    assert again.startswith("# mine\n")
    assert "Builds the notes" in again
    assert "notes/other.txt" in again


def test_sensitive_reads_are_called_out(project: CommandLine) -> None:
    """At the end, and beside the entry."""
    put(project, "build.sh", "#!/bin/sh\ncat .env deploy/server.pem\n", 0o755)
    put(project, ".env", "KEY=1\n")
    put(project, "deploy/server.pem", "key\n")
    ended = project("learn", "--", "./build.sh")
    assert "look at .env: variables" in ended.err
    text = (project.cwd / ".consentry/tools/build.yaml").read_text()
    assert text.count("# look at this:") == 2


def test_what_is_never_given_is_not_learned(project: CommandLine) -> None:
    """A key outside is refused while it is watched, told, and not asked for."""
    key = put(project, str(Path(project.environ["HOME"]) / ".ssh/id_rsa"), "secret\n")
    put(project, "build.sh", f"#!/bin/sh\ncat {key} || true\n", 0o755)
    ended = project("learn", "--json", "--", "./build.sh")
    assert json.loads(ended.out)["refused"][0].startswith(f"read {key}: protected root")
    tool = _manifest(project)
    assert [need.entry.written for need in tool.capabilities.file_read] == ["build.sh"]
    assert "secret" not in ended.err + ended.out


OBEYED = """\
#!/bin/sh
mkdir -p .git/hooks
echo x > .git/hooks/pre-commit
echo x > .git/hooks/post-merge
rm .git/hooks/post-merge
"""


def test_names_that_other_programs_obey_are_not_learned(project: CommandLine) -> None:
    """A hook is refused, told, and not asked for, though the layer took it."""
    put(
        project,
        "build.sh",
        OBEYED,
        0o755,
    )
    ended = project("learn", "--", "./build.sh", COLUMNS="300")
    assert "refused write" in ended.err
    text = (project.cwd / ".consentry/tools/build.yaml").read_text()
    assert ".git" not in text.partition("# Refused")[0]


def test_a_script_names_the_tool(project: CommandLine) -> None:
    """And not the interpreter that runs it."""
    assert "learned `build`" in project("learn", "--", "sh", "./build.sh").err
    assert "learned `sh`" in project("learn", "--", "sh", "-c", "true").err


def test_hostile_names_do_not_break_the_document(project: CommandLine) -> None:
    """However a tool calls its files."""
    script = "#!/usr/bin/python3\nopen('out/a\\n  - pattern: \"x\"\\u202e#x', 'w').close()\n"
    put(project, "build.sh", script, 0o755)
    ended = project("learn", "--", "./build.sh")
    assert ended.status == 0, ended.err
    assert len(_manifest(project).capabilities.file_write) == 1
    assert "\u202e" not in ended.err


def test_it_can_be_printed(project: CommandLine) -> None:
    """Then no manifest is written, and the output of the command is not in between."""
    put(project, "build.sh", "#!/bin/sh\necho loud\n", 0o755)
    ended = project("learn", "--out", "-", "--name", "other", "--", "./build.sh")
    assert read_tool_manifest(ended.out.encode(), "x.yaml").name == "other"
    assert not (project.cwd / ".consentry").exists()


def test_a_command_that_fails_is_told(project: CommandLine) -> None:
    """Its status is passed on, and what was seen is written."""
    put(project, "build.sh", "#!/bin/sh\ncat notes/a.txt\nexit 7\n", 0o755)
    ended = project("learn", "--", "./build.sh")
    assert ended.status == 7
    assert "it ended with 7" in ended.err
    assert "notes/a.txt" in (project.cwd / ".consentry/tools/build.yaml").read_text()


def test_a_manifest_that_is_none_is_told_before_anything_runs(project: CommandLine) -> None:
    """With file and line."""
    put(project, ".consentry/tools/build.yaml", "tool:\n  name: build\n")
    ended = project("learn", "--", "./build.sh")
    assert ended.status == 3
    assert Code.DOCUMENT_INVALID in ended.err
    assert "build.yaml:2" in ended.err
    assert not (project.cwd / "out/all.txt").exists()


def test_what_could_not_be_written_is_told_before_anything_runs(project: CommandLine) -> None:
    """A folder that is not there, a program that no manifest can name."""
    words = ("learn", "--out", "nowhere/x.yaml", "--", "./build.sh")
    assert_error(project(*words), Code.FILE_UNUSABLE)
    put(project, "a*b", SCRIPT, 0o755)
    assert_error(project("learn", "--", "./a*b"), Code.USAGE)
    assert not (project.cwd / "out/all.txt").exists()


def test_only_yaml_is_written(project: CommandLine) -> None:
    """The name of the file says so."""
    assert_error(project("learn", "--out", "x.json", "--", "./build.sh"), Code.FILE_UNUSABLE)


def test_in_a_document(project: CommandLine) -> None:
    """Everything that is told, for a script."""
    document = json.loads(project("learn", "--json", "--", "./build.sh").out)
    assert document["new"] is True
    assert document["exit_status"] == 0
    assert document["file"].endswith(".consentry/tools/build.yaml")
    assert read_tool_manifest(document["manifest"].encode(), "x.yaml").name == "build"
