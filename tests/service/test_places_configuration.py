"""Where the configuration is found, what is listed of it, and what of it is trusted."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.service.places import (
    KNOWN_FILES,
    Trust,
    find_configuration,
    find_workspace,
)
from consentry.service.surroundings import Surroundings

MakeAround = Callable[..., Surroundings]


def test_user_folder_comes_first_and_the_workspace_on_top(
    around: MakeAround, home: Path, project: Path
) -> None:
    """Two folders; the one in the workspace is not trusted until accepted."""
    (project / ".consentry").mkdir()
    own = home / ".config/consentry"
    own.mkdir(parents=True)
    workspace = find_workspace(around())
    first, second = find_configuration(around(), workspace).folders
    assert (first.path, first.trust, first.exists) == (own, Trust.OWN, True)
    assert (second.path, second.trust) == (project / ".consentry", Trust.NOT_ACCEPTED)


def test_missing_user_folder_is_reported_as_missing(around: MakeAround, home: Path) -> None:
    """The place is named although nothing is there, and nothing is made."""
    (only,) = find_configuration(around(), find_workspace(around())).folders
    assert (only.path, only.exists) == (home / ".config/consentry", False)
    assert not (home / ".config").exists()


def test_consentry_folder_wins_over_the_older_one(around: MakeAround, project: Path) -> None:
    """When both are there, one is read and the other is mentioned."""
    (project / ".consentry").mkdir()
    (project / ".paper/_cfg").mkdir(parents=True)
    found = find_configuration(around(), find_workspace(around()))
    assert [folder.path.name for folder in found.folders] == ["consentry", ".consentry"]
    assert any(".paper/_cfg" in note for note in found.notes)


def test_known_files_are_listed_and_others_are_not(around: MakeAround, project: Path) -> None:
    """The known names and tools/*.yaml, sorted; anything else is nobody's business here."""
    folder = project / ".paper/_cfg"
    (folder / "tools").mkdir(parents=True)
    for name in (*KNOWN_FILES, "notes.txt", "tools/b.yaml", "tools/a.yaml", "tools/c.yml"):
        (folder / name).touch()
    found = find_configuration(around(), find_workspace(around())).folders[-1]
    assert found.files == (*KNOWN_FILES, "tools/a.yaml", "tools/b.yaml")
    assert found.concerns == ()


def test_nothing_is_parsed(around: MakeAround, project: Path) -> None:
    """A document that no reader could accept is listed like any other."""
    (project / ".consentry").mkdir()
    (project / ".consentry/policy.yaml").write_bytes(b"\xff: [")
    found = find_configuration(around(), find_workspace(around())).folders[-1]
    assert found.files == ("policy.yaml",)
    assert found.concerns == ()


@pytest.mark.parametrize("kind", ["folder", "broken link", "fifo"])
def test_known_name_that_is_no_plain_file_is_a_concern(
    around: MakeAround, project: Path, kind: str
) -> None:
    """Opening it would fail, or hang for ever; it is named instead."""
    folder = project / ".consentry"
    folder.mkdir()
    path = folder / "policy.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere")
    (concern,) = find_configuration(around(), find_workspace(around())).folders[-1].concerns
    assert concern.code is Code.CONFIG_FILE


def test_configuration_place_that_is_a_file_is_a_concern(around: MakeAround, home: Path) -> None:
    """Not the same as missing: something is in the way."""
    (home / ".config").mkdir()
    (home / ".config/consentry").touch()
    (only,) = find_configuration(around(), None).folders
    assert [concern.code for concern in only.concerns] == [Code.CONFIG_FILE]


def test_loop_of_links_is_a_concern_and_not_a_crash(around: MakeAround, home: Path) -> None:
    """A configuration folder that is a link to itself is reported like any other obstacle."""
    (home / ".config").mkdir()
    (home / ".config/consentry").symlink_to("consentry")
    (only,) = find_configuration(around(), find_workspace(around())).folders
    assert [concern.code for concern in only.concerns] == [Code.CONFIG_FILE]


def test_named_configuration_replaces_both(
    around: MakeAround, project: Path, tmp_path: Path
) -> None:
    """`--config` is the only folder then."""
    (project / ".consentry").mkdir()
    named = tmp_path / "named"
    named.mkdir()
    (only,) = find_configuration(around(), find_workspace(around()), str(named)).folders
    assert (only.path, only.trust) == (named, Trust.OWN)


def test_named_configuration_that_is_missing_is_an_error(around: MakeAround) -> None:
    """What was named must be there."""
    with pytest.raises(UsageProblem) as caught:
        find_configuration(around(), None, "missing")
    assert caught.value.code is Code.CONFIG_MISSING


@pytest.mark.parametrize("through_link", [True, False])
def test_whatever_lies_in_the_workspace_is_a_strangers(
    around: MakeAround, project: Path, tmp_path: Path, *, through_link: bool
) -> None:
    """Naming a folder of the workspace, directly or through a link, does not accept its files.

    The control: the same folder outside the workspace is the user's own.
    """
    inside = project / "conf"
    inside.mkdir()
    named = inside
    if through_link:
        named = tmp_path / "link"
        named.symlink_to(inside)
    workspace = find_workspace(around())
    (found,) = find_configuration(around(), workspace, str(named)).folders
    assert found.trust is Trust.NOT_ACCEPTED
    outside = tmp_path / "outside"
    outside.mkdir()
    (found,) = find_configuration(around(), workspace, str(outside)).folders
    assert found.trust is Trust.OWN


def test_variable_that_points_into_the_workspace_gains_no_trust(
    around: MakeAround, project: Path
) -> None:
    """XDG_CONFIG_HOME set to a folder of the workspace does not make its files the user's."""
    (project / "consentry").mkdir()
    inside = around(environ={"XDG_CONFIG_HOME": str(project)})
    found = find_configuration(inside, find_workspace(inside)).folders[0]
    assert (found.exists, found.trust) == (True, Trust.NOT_ACCEPTED)


@pytest.mark.parametrize("linked", [".config", ".config/consentry"])
def test_own_folder_that_is_a_link_into_the_workspace_gains_no_trust(
    around: MakeAround, home: Path, project: Path, linked: str
) -> None:
    """Wherever on the way the link stands: what it leads to is the workspace's."""
    inside = project / "inside"
    (inside / "consentry").mkdir(parents=True)
    (home / linked).parent.mkdir(exist_ok=True)
    (home / linked).symlink_to(inside if linked == ".config" else inside / "consentry")
    found = find_configuration(around(), find_workspace(around())).folders[0]
    assert (found.exists, found.trust) == (True, Trust.NOT_ACCEPTED)
