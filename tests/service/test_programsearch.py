"""Programs are found as a shell finds them, and behind the shims of version managers."""

from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.service.programsearch import find_program, script_of
from tests.service.conftest import MakeAround


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_first_folder_of_path_wins(around: MakeAround, tmp_path: Path) -> None:
    """Relative and empty folders are never looked into."""
    first, second = (_program(tmp_path / name / "tool") for name in ("first", "second"))
    here = around(environ={"PATH": f":.:relative:{first.parent}:{second.parent}"})
    assert find_program("tool", here) == first


def test_file_that_is_not_executable_is_told_apart(around: MakeAround, tmp_path: Path) -> None:
    """It is there, and cannot be started; another one behind it is taken."""
    plain = _program(tmp_path / "first/tool")
    plain.chmod(0o644)
    here = around(environ={"PATH": str(plain.parent)})
    with pytest.raises(ConsentryError) as raised:
        find_program("tool", here)
    assert raised.value.code is Code.PROGRAM_UNSTARTABLE
    other = _program(tmp_path / "second/tool")
    both = around(environ={"PATH": f"{plain.parent}:{other.parent}"})
    assert find_program("tool", both) == other


@pytest.mark.parametrize("named_by", ["project", "manager", "nobody"])
def test_shim_leads_to_the_version_that_is_asked_for(
    around: MakeAround, project: Path, tmp_path: Path, named_by: str
) -> None:
    """By a file from here upwards, else by the manager's own; else the next program on PATH."""
    root = tmp_path / "manager"
    shim = _program(root / "shims/python3")
    wanted = _program(root / "versions/3.12.1/bin/python3")
    other = _program(root / "versions/3.11.0/bin/python3")
    behind = _program(tmp_path / "system/python3")
    if named_by == "project":
        (project / ".python-version").write_text("3.12.1\n")
    if named_by != "nobody":
        (root / "version").write_text("3.11.0\n")
    here = around(environ={"PATH": f"{shim.parent}:{behind.parent}"})
    expected = {"project": wanted, "manager": other, "nobody": behind}[named_by]
    assert find_program("python3", here) == expected


def test_version_file_cannot_lead_elsewhere(
    around: MakeAround, project: Path, tmp_path: Path
) -> None:
    """A workspace is a stranger's: its version is a plain name below the manager's folder."""
    root = tmp_path / "manager"
    shim = _program(root / "shims/python3")
    (root / "versions").mkdir()
    _program(project / "evil/bin/python3")
    behind = _program(tmp_path / "system/python3")
    (project / ".python-version").write_text(f"../../../{project.name}/evil\n{project}/evil\n")
    here = around(environ={"PATH": f"{shim.parent}:{behind.parent}"})
    assert find_program("python3", here) == behind


@pytest.mark.parametrize(
    ("words", "is_found"),
    [
        (("python3", "job.py"), True),
        (("python3", "-X", "dev", "job.py"), True),
        (("python3", "-c", "job.py"), False),
        (("python3", "-m", "job.py"), False),
        (("python3", "missing.py"), False),
        (("cat", "job.py"), False),
    ],
)
def test_script_is_what_an_interpreter_is_given(
    project: Path, words: tuple[str, ...], *, is_found: bool
) -> None:
    """The first word that is a file, unless code stands on the line itself."""
    (project / "job.py").touch()
    found = script_of(words, Path("/usr/bin", words[0]), project)
    assert found == ((project / "job.py") if is_found else None)
