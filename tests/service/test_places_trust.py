"""What makes configuration the user's own: every link on the way, and who else may change it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service.places import ConfigurationFolder, Trust, find_configuration, find_workspace
from consentry.service.surroundings import Surroundings

MakeAround = Callable[..., Surroundings]
SOMEBODY = 23456


def _first(around: Surroundings, named: str | None = None) -> ConfigurationFolder:
    return find_configuration(around, find_workspace(around), named).folders[0]


def _codes(folder: ConfigurationFolder) -> list[Code]:
    return [concern.code for concern in folder.concerns]


@pytest.fixture
def own(home: Path) -> Path:
    """The user's own configuration folder, with one file of each kind."""
    folder = home / ".config/consentry"
    (folder / "tools").mkdir(parents=True)
    (folder / "policy.yaml").touch(mode=0o644)
    (folder / "tools/lint.yaml").touch(mode=0o644)
    return folder


@pytest.mark.parametrize("spelled", [".consentry", "{project}/.consentry", "./a/../.consentry"])
def test_named_link_in_the_workspace_gains_no_trust(
    around: MakeAround, project: Path, tmp_path: Path, spelled: str
) -> None:
    """The workspace's link decides which folder is read, so that folder is the workspace's word.

    The control: the same folder, named itself, is the user's own.
    """
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "a").mkdir()
    (project / ".consentry").symlink_to("../../outside")
    named = spelled.format(project=project)
    assert _first(around(), named).trust is Trust.NOT_ACCEPTED
    assert _first(around(), str(outside)).trust is Trust.OWN


def test_link_outside_that_leads_through_the_workspace_gains_no_trust(
    around: MakeAround, project: Path, tmp_path: Path
) -> None:
    """It begins and ends outside, and a link in the workspace still chooses where it ends."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "hop").symlink_to(outside)
    link = tmp_path / "link"
    link.symlink_to(project / "hop")
    assert _first(around(), str(link)).trust is Trust.NOT_ACCEPTED
    link.unlink()
    link.symlink_to(outside)
    assert _first(around(), str(link)).trust is Trust.OWN


@pytest.mark.parametrize("deep", [True, False])
def test_relative_name_that_leaves_the_workspace_is_ones_own(
    around: MakeAround, project: Path, *, deep: bool
) -> None:
    """Leaving by `..` from the current folder asks nothing in the workspace."""
    (project / ".consentry").mkdir()
    (project / "deep").mkdir()
    (project.parent / "conf").mkdir()
    here = around(project / "deep") if deep else around()
    assert _first(here, "../../conf" if deep else "../conf").trust is Trust.OWN


@pytest.mark.parametrize("name", ["policy.yaml", "tools/lint.yaml", "tools"])
def test_own_file_that_leads_into_the_workspace_takes_the_trust_away(
    around: MakeAround, project: Path, own: Path, name: str
) -> None:
    """One file written by the workspace is enough, and it is named.

    The control: the same link to a file outside the workspace is the user's own.
    """
    for target, trust, codes in (
        (project / "theirs", Trust.NOT_ACCEPTED, [Code.CONFIG_UNSAFE]),
        (project.parent / "mine", Trust.OWN, []),
    ):
        (own / name).rename(target)
        (own / name).symlink_to(target)
        found = _first(around())
        assert (found.trust, _codes(found)) == (trust, codes)
        (own / name).unlink()
        target.rename(own / name)


@pytest.mark.parametrize(
    "foreign", [".config", ".config/consentry", ".config/consentry/policy.yaml"]
)
def test_own_configuration_of_somebody_else_is_unsafe(
    around: MakeAround, home: Path, own: Path, foreign: str
) -> None:
    """Whoever owns the folder, one above it or a file in it may consent for the user.

    The controls: one's own is fine, and so is the caller's behind sudo.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can make a file that belongs to somebody else")
    assert (_first(around()).path, _codes(_first(around()))) == (own, [])
    os.chown(home / foreign, SOMEBODY, SOMEBODY)
    found = _first(around())
    assert _codes(found) == [Code.CONFIG_UNSAFE]
    assert f"`{home / foreign}` belongs to user {SOMEBODY}" in found.concerns[0].message
    assert _codes(_first(around(environ={"SUDO_UID": str(SOMEBODY)}))) == []


@pytest.mark.parametrize("name", [".", "tools", "policy.yaml", "tools/lint.yaml"])
def test_own_configuration_that_everybody_may_write_is_unsafe(
    around: MakeAround, own: Path, name: str
) -> None:
    """The write bit for everybody, on a folder or a file; without it nothing is said."""
    assert _codes(_first(around())) == []
    (own / name).chmod(0o777)
    found = _first(around())
    assert _codes(found) == [Code.CONFIG_UNSAFE]
    assert "everybody may write" in found.concerns[0].message


def test_named_configuration_is_looked_at_as_well(around: MakeAround, tmp_path: Path) -> None:
    """What was named counts in full, so others must not be able to change it."""
    named = tmp_path / "named"
    named.mkdir()
    assert _codes(_first(around(), str(named))) == []
    named.chmod(0o777)
    assert _codes(_first(around(), str(named))) == [Code.CONFIG_UNSAFE]


def test_configuration_in_the_workspace_is_not_judged_by_its_owner(
    around: MakeAround, project: Path
) -> None:
    """It is not trusted anyway, whoever may write it."""
    (project / ".consentry").mkdir()
    (project / ".consentry").chmod(0o777)
    found = find_configuration(around(), find_workspace(around())).folders[-1]
    assert (found.trust, _codes(found)) == (Trust.NOT_ACCEPTED, [])
