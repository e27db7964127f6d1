"""Which programs an acceptance covers besides the documents (the rule of trust)."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.canonical import digest_bytes
from consentry.base.errors import Where
from consentry.declare.tool import Command, Entrypoint, ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.service.surroundings import Surroundings
from consentry.service.workspaceprograms import programs_in
from tests.service.configuring import tool_text

MakeAround = Callable[..., Surroundings]
SCRIPT = "#!/bin/sh\nexit 0\n"
STRANGER = 23456


def manifest(*lines: tuple[str, ...]) -> ToolManifest:
    """A tool that starts these command lines."""
    read = read_tool_manifest(tool_text("check").encode(), "check.yaml")
    commands = tuple(Command(each[0], each[1:], "it", Where()) for each in lines)
    return replace(read, capabilities=replace(read.capabilities, commands=commands))


def script(path: Path) -> Path:
    """A program that does nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SCRIPT)
    path.chmod(0o755)
    return path


def test_programs_and_scripts_in_the_workspace_are_covered(
    around: MakeAround, project: Path
) -> None:
    """A program by its path, and the script that an interpreter is given; no data beside it."""
    script(project / "check.sh")
    script(project / "tools/lint.py")
    (project / "main.tex").write_text("text")
    found = programs_in(
        project,
        [manifest(("./check.sh",), ("/usr/bin/python3", "tools/lint.py", "main.tex"))],
        around(environ={"PATH": "/usr/bin:/bin"}),
    )
    assert found == dict.fromkeys(("check.sh", "tools/lint.py"), digest_bytes(SCRIPT.encode()))


def test_the_entry_point_is_covered_and_so_is_a_link_to_it(
    around: MakeAround, project: Path
) -> None:
    """Under the name it is started by; what the link leads to is what is hashed."""
    script(project / "real.sh")
    (project / "link.sh").symlink_to("real.sh")
    entry = Entrypoint("./link.sh", (), ".", Where())
    tool = replace(manifest(), entrypoint=entry)
    before = programs_in(project, [tool], around())
    (project / "real.sh").write_text(SCRIPT + "# more\n")
    after = programs_in(project, [tool], around())
    assert before.keys() == after.keys()
    assert before
    assert before != after


def test_what_is_missing_is_no_file_and_comes_as_another(around: MakeAround, project: Path) -> None:
    """A program that appears later changes what was accepted."""
    tool = manifest(("./later.sh",))
    assert programs_in(project, [tool], around()) == {}
    script(project / "later.sh")
    assert list(programs_in(project, [tool], around())) == ["later.sh"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_program_outside_that_others_may_change_is_covered(
    around: MakeAround, project: Path, tmp_path: Path
) -> None:
    """The attack: an accepted manifest starts a file that anybody may rewrite later."""
    planted = script(tmp_path / "planted.sh")
    tool = manifest((str(planted),))
    os.chown(planted, STRANGER, STRANGER)
    assert list(programs_in(project, [tool], around())) == [str(planted)]
