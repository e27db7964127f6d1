"""A tool is bound to what a run of it would start and could do; what cannot be bound is refused."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.service.toolbinding import bind_tool
from consentry.surface.modes import View, Writes
from tests.service.configuring import load
from tests.service.conftest import MakeAround
from tests.service.toolplaces import PATH, OwnPlace

TRUE = {"command": "true", "arguments": [], "purpose": "p"}


@pytest.fixture
def own(around: MakeAround, project: Path) -> OwnPlace:
    """Tools of whoever runs the tests."""
    return OwnPlace(around(environ=PATH), project)


def needs(*patterns: str) -> list[dict[str, str]]:
    """Files, and why."""
    return [{"pattern": each, "purpose": "needed"} for each in patterns]


def refusal(own: OwnPlace, name: str, *words: str) -> ConsentryError:
    """Why the tool cannot be bound."""
    with pytest.raises(ConsentryError) as raised:
        own.bind(name, *words)
    return raised.value


def test_without_an_entry_point_the_commands_are_started(own: OwnPlace) -> None:
    """In order, in the workspace, under a profile of the tool's own name (CONTRACTS §7)."""
    echo = {"command": "echo", "arguments": ["a b"], "purpose": "p"}
    own.tool("two", processExecution=[TRUE, echo])
    bound = own.bind("two")
    assert [step.words for step in bound.steps] == [("true",), ("echo", "a b")]
    assert bound.bound.confinement.program.line == ("true", "echo 'a b'")
    assert bound.bound.confinement.program.folder == own.project
    assert bound.profile == "tool:two"
    assert bound.facts.subject == "tool:two"


def test_an_entry_point_is_started_and_the_commands_may_be(own: OwnPlace) -> None:
    """In its folder, with the words of the caller behind its own (CONTRACTS §7)."""
    (own.project / "sub").mkdir()
    script = own.project / "go.sh"
    script.write_text('#!/bin/sh\npwd; echo "$@"; printf "%s\\n" end | cat; date 2>/dev/null\n')
    script.chmod(0o755)
    entry = {"command": "./go.sh", "arguments": ["one"], "workingDirectory": "sub"}
    cat = {"command": "cat", "arguments": ["/nowhere"], "purpose": "p"}
    own.tool("entry", fileRead=needs("./"), processExecution=[cat], entrypoint=entry)
    bound = own.bind("entry", "two", "-x y")
    assert bound.arguments == ("two", "-x y")
    [step] = bound.steps
    assert step.words[1:] == ("one", "two", "-x y")
    run = own.run("entry", "two", "-x y")
    said = f"{own.project}/sub\none two -x y\nend\n"
    assert run.outcome.stdout.decode() == said
    assert run.entry["tool"]["arguments"][1:] == ["one", "two", "-x y"]  # type: ignore[index,call-overload]


def test_a_link_to_a_program_is_started_by_what_it_leads_to(own: OwnPlace) -> None:
    """The link itself is not granted, and not there; the program's bytes are."""
    (own.project / "bin").mkdir()
    script = own.project / "tool.sh"
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o755)
    (own.project / "bin/tool").symlink_to("../tool.sh")
    command = {"command": "bin/tool", "arguments": [], "purpose": "p"}
    own.tool("link", processExecution=[command])
    assert own.run("link").outcome.stdout == b"hello\n"


def test_words_without_an_entry_point_are_an_error(own: OwnPlace) -> None:
    """They would reach nothing, and the message says what to do."""
    own.tool("plain", processExecution=[TRUE])
    problem = refusal(own, "plain", "word")
    assert problem.code is Code.USAGE
    assert "entrypoint" in str(problem.help_line)


@pytest.mark.parametrize("word", ["a\0b", "\udcff"])
def test_words_that_could_not_be_recorded_are_refused(own: OwnPlace, word: str) -> None:
    """As on a command line."""
    own.tool("entry", entrypoint={"command": "true"})
    assert refusal(own, "entry", word).code is Code.USAGE


def test_a_manifest_that_starts_nothing_is_an_error(own: OwnPlace) -> None:
    """With its file and line."""
    own.tool("nothing")
    problem = refusal(own, "nothing")
    assert problem.code is Code.DOCUMENT_INVALID
    assert problem.where is not None
    assert str(problem.where.file).endswith("nothing.yaml")


def test_a_program_that_is_not_there_is_told_with_its_line(own: OwnPlace) -> None:
    """Of a command that is started, and of one that may be."""
    missing = {"command": "no-such-program", "arguments": [], "purpose": "p"}
    for keys in ({}, {"entrypoint": {"command": "true"}}):
        own.tool("lacks", processExecution=[TRUE, missing], **keys)
        problem = refusal(own, "lacks")
        assert problem.code is Code.PROGRAM_UNKNOWN
        assert problem.where is not None


@pytest.mark.parametrize("where", ["the folder", "on the way", "the file"])
def test_a_pattern_that_leads_through_a_link_is_refused(own: OwnPlace, where: str) -> None:
    """A workspace could say `notes` and mean another place; the line of the manifest is named."""
    outside = own.project.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "file").write_text("x")
    (own.project / "notes").symlink_to(outside)
    patterns = {"the folder": "notes/**", "on the way": "notes/deep/*.md", "the file": "notes/file"}
    own.tool("follows", processExecution=[TRUE], fileRead=needs(patterns[where]))
    problem = refusal(own, "follows")
    assert problem.code is Code.FILE_UNUSABLE
    assert problem.where is not None
    (own.project / "notes").unlink()
    (own.project / "notes").mkdir()
    own.bind("follows")


def test_a_plain_name_that_is_a_folder_means_all_below(own: OwnPlace) -> None:
    """And one that is a file means that file (CONTRACTS §9)."""
    (own.project / "folder").mkdir()
    (own.project / "file").touch()
    own.tool("names", processExecution=[TRUE], fileRead=needs("folder", "file"))
    assert list(own.bind("names").surface.fs_read_roots) == ["file", "folder/"]


def test_what_is_never_granted_is_refused(own: OwnPlace, home: Path) -> None:
    """By the manifest's own rules, and for a program that lies there."""
    keys = home / ".ssh"
    keys.mkdir()
    program = keys / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    command = {"command": str(program), "arguments": [], "purpose": "p"}
    own.tool("thief", processExecution=[command])
    with pytest.raises(ConsentryError) as raised:
        own.bind("thief")
    assert raised.value.code in (Code.PROTECTED_ROOT, Code.DOCUMENT_INVALID)


def test_the_ways_of_a_profile_hold(own: OwnPlace) -> None:
    """View, writing and what it closes; `isolateFileSystem` counts without one."""
    (own.project / "out").mkdir()
    files = {"readWrite": ["${WORKSPACE}/out"], "noAccess": ["/home/*/.ssh"]}
    own.profile("direct", filesystem=files, writes="direct", view="visible")
    wants: dict[str, Any] = {"profile": "direct"}
    own.tool("ways", processExecution=[TRUE], fileWrite=needs("out/"), sandboxRequirements=wants)
    bound = own.bind("ways")
    wanted = bound.bound.confinement
    assert (wanted.view, wanted.writes, bound.profile) == (View.VISIBLE, Writes.DIRECT, "direct")
    assert [each.text for each in wanted.denied] == ["/home/*/.ssh/"]
    own.tool("ways", processExecution=[TRUE], sandboxRequirements={"isolateFileSystem": False})
    assert own.bind("ways").bound.confinement.view is View.VISIBLE
    own.tool("ways", processExecution=[TRUE])
    assert own.bind("ways").bound.confinement.view is View.PRIVATE


def test_a_stranger_s_manifest_loosens_nothing(own: OwnPlace) -> None:
    """What a workspace's tool says of less confinement does not count (TRUST)."""
    own.tool(
        "loose",
        processExecution=[TRUE],
        networkAccess=True,
        sandboxRequirements={"isolateFileSystem": False, "restrictNetwork": False},
    )
    folder = own.project / ".consentry/tools"
    folder.mkdir(parents=True)
    (own.config / "tools/loose.yaml").rename(folder / "loose.yaml")
    effective = load(own.around)
    bound = bind_tool(effective.tool("loose"), effective, (), own.project, own.around)
    assert not bound.tool.is_trusted
    assert bound.bound.confinement.view is View.PRIVATE
    assert bound.surface.net_access.level == "NONE"


def test_a_working_directory_that_is_not_there_is_told(own: OwnPlace) -> None:
    """Nor is a link followed."""
    own.tool("sub", entrypoint={"command": "true", "workingDirectory": "sub"})
    assert refusal(own, "sub").code is Code.FILE_UNUSABLE
    (own.project / "sub").symlink_to("/usr")
    assert refusal(own, "sub").code is Code.FILE_UNUSABLE


@pytest.mark.parametrize(("level", "listed"), [("minimal", 0), ("standard", 1), ("detailed", 1)])
def test_the_log_level_says_how_much_is_listed(own: OwnPlace, level: str, listed: int) -> None:
    """With `minimal` there are no lists of files, only how many there were (CONTRACTS §12)."""
    (own.project / "in").write_text("x")
    cat = {"command": "cat", "arguments": ["in"], "purpose": "p"}
    audit = {"logLevel": level, "retainLogs": "30d", "includeInReport": False}
    own.tool("logs", fileRead=needs("in"), processExecution=[cat], auditConfig=audit)
    entry: dict[str, Any] = own.run("logs").entry
    assert len(entry["impact"]["filesRead"]) == listed
    assert entry["impact"]["filesReadUnlisted"] == 1 - listed
    assert entry["tool"]["auditConfig"] == {
        "logLevel": level,
        "retainLogs": "30d",
        "includeInReport": False,
    }


def test_the_reference_tool_builds_its_paper(around: MakeAround, project: Path) -> None:
    """The paper of the examples, by four commands in one box (CONSENT §manifest, §sandbox)."""
    if not os.access("/usr/bin/pdflatex", os.X_OK):
        pytest.skip("pdflatex is not installed here")

    examples = Path(__file__).parents[2] / "examples/paper"
    shutil.copytree(examples, project, dirs_exist_ok=True)
    place = OwnPlace(around(environ=PATH), project)
    run = place.run("build-latex")
    assert run.status == "success", run.outcome.stdout[-2000:]
    assert (project / "output-final/pdf/main.pdf").stat().st_size > 0
    assert run.entry["sandbox"]["profile"] == "latex-build"  # type: ignore[index,call-overload]
