"""Installed distributions are read by their own list of files, which is not believed blindly."""

from pathlib import Path

import pytest

from consentry.base.errors import UsageProblem
from consentry.service.distributionplace import own_sites
from consentry.service.sources import NotRead, Skipped
from tests.service.codesamples import COUNTS, STARTS, examined, write_tree


def _installed(site: Path, record: str) -> Path:
    info = {"app-1.0.dist-info/METADATA": "Name: app\nVersion: 1.0\n"}
    info["app-1.0.dist-info/RECORD"] = record + "app-1.0.dist-info/METADATA,,\n"
    write_tree(site, info)
    return site


def test_distributions_of_this_environment() -> None:
    """The real ones that the tests themselves run with."""
    for name in ("click", "pytest", "PyYAML"):
        found = examined(name)
        assert found.described.startswith(name)
        assert found.files > 5
        assert {"_pytest/monkeypatch.py"} & {
            each.file for each in found.side.found
        } or name != "pytest"


def test_only_listed_files_are_the_distribution(tmp_path: Path) -> None:
    """A file that nobody listed is not known; compiled ones and missing ones are said."""
    record = "app/__init__.py,,\napp/a.py,,\napp/__pycache__/a.cpython-312.pyc,,\napp/gone.py,,\n"
    site = _installed(tmp_path, record)
    write_tree(
        site,
        {
            "app/__init__.py": "from app import a\nimport slipped_in\n",
            "app/a.py": STARTS,
            "app/__pycache__/a.cpython-312.pyc": "x",
            "slipped_in.py": STARTS,
        },
    )
    found = examined("app", site=str(site))
    assert found.not_read == (
        NotRead("app/__pycache__", Skipped.COMPILED),
        NotRead("app/gone.py", Skipped.MISSING),
    )
    assert [each.about.key for each in found.side.doubts] == ["import slipped_in"]


def test_scripts_lie_beside_and_nothing_further_away(tmp_path: Path) -> None:
    """`bin` belongs to the environment; what lies outside of that is not read."""
    site = _installed(
        tmp_path / "env/lib/python3.12/site-packages",
        "../../../bin/app,,\n../../../../secret.py,,\n/etc/passwd,,\napp.py,,\n",
    )
    write_tree(tmp_path, {"secret.py": STARTS, "env/bin/app": "#!/usr/bin/python3\n" + STARTS})
    write_tree(site, {"app.py": COUNTS})
    found = examined("app", site=str(site))
    assert {each.file for each in found.side.found} == {"bin/app"}
    assert [each.file for each in found.side.doubts] == ["../../../../secret.py", "/etc/passwd"]


@pytest.mark.parametrize("record", ["\xff\n", "x" * 200_000 + ",,\n"])
def test_a_list_that_cannot_be_read(record: str, tmp_path: Path) -> None:
    """A clear error, and no distribution without files."""
    site = _installed(tmp_path, "")
    (site / "app-1.0.dist-info/RECORD").write_bytes(record.encode("latin-1"))
    with pytest.raises(UsageProblem, match="cannot be read"):
        examined("app", site=str(site))


def test_without_a_list_there_is_no_answer(tmp_path: Path) -> None:
    """Nothing is guessed from names."""
    write_tree(tmp_path, {"app-1.0.dist-info/METADATA": "Name: app\nVersion: 1.0\n"})
    with pytest.raises(UsageProblem, match="without a list"):
        examined("app", site=str(tmp_path))


def test_the_current_folder_is_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that lies in wait with metadata in it is not found by a name."""
    _installed(tmp_path, "app.py,,\n")
    monkeypatch.chdir(tmp_path)
    assert Path.cwd() not in own_sites()
    with pytest.raises(UsageProblem):
        examined("app")
