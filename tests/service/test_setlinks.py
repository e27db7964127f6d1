"""A link where a permission set opens a folder of the workspace: a workspace may be anybody's.

In threes: the set leads nowhere else; with a folder in that place it works; with the control taken
away, what lies behind the link is read and written.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.service import capabilitybinding
from consentry.service.binding import surface_of_set
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.snippetruns import CodeWish, bind_code
from consentry.surface.lattice import Surface
from consentry.surface.permission_sets import PermissionSet, definition
from tests.denos import deno_or_skip
from tests.service.capabilityplaces import PYTHON, TYPESCRIPT, Workplace, listing, workplace
from tests.service.conftest import MakeAround

READONLY, STANDARD = PermissionSet.READONLY, PermissionSet.MCP_STANDARD
IN_DENO = "Deno.writeTextFileSync(place + '/new', 'x'); return 1"


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace."""
    with workplace(around(environ={"PATH": "/usr/bin:/bin"}), project) as made:
        yield made


@pytest.fixture
def outside(project: Path) -> Path:
    """A folder beside the workspace, with something in it."""
    folder = project.parent / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


def linked(project: Path, name: str, target: Path | str) -> None:
    """As a cloned repository may bring it."""
    found = project / name
    if found.is_dir():
        found.rename(project / f"{name}-before")
    found.symlink_to(target)


@pytest.mark.parametrize("target", ["outside", "..", ".", "nowhere", "data-before"])
@pytest.mark.parametrize(("in_set", "name"), [(READONLY, "data"), (STANDARD, "output")])
def test_a_set_follows_no_link(
    place: Workplace, outside: Path, in_set: PermissionSet, name: str, target: str
) -> None:
    """Wherever it leads, the workspace itself included: nothing runs, nothing is read or written."""
    linked(place.project, name, outside if target == "outside" else target)
    before = listing(place.project.parent)
    with pytest.raises(Refused) as refusal:
        place.attempt(f"open({str(outside / 'secret.txt')!r}).read()", PYTHON, in_set)
    assert refusal.value.code is Code.FILE_UNUSABLE
    assert f"`{name}/`" in refusal.value.message
    with pytest.raises(Refused):
        place.attempt(IN_DENO, TYPESCRIPT, in_set, arguments={"place": name})
    assert listing(place.project.parent).keys() >= before.keys()
    assert not (outside / "new").exists()


def test_a_line_that_names_the_set_follows_none_either(place: Workplace, outside: Path) -> None:
    """`exec --set` and `code --set` open what the set says, and no more."""
    linked(place.project, "data", outside)
    with pytest.raises(Refused):
        bind_code(CodeWish(b"1", "it", permission_set=READONLY), place.project, place.around)
    with pytest.raises(Refused):
        bind_wish(RunWish(words=("cat",), permission_set=READONLY), place.project, place.around)


def test_a_folder_is_opened(place: Workplace) -> None:
    """The same with folders in these places; one that is not there yet is made."""
    assert place.attempt("open('data/x.txt').read()", PYTHON, READONLY).result == "in data"
    code = "import os; os.makedirs('output', exist_ok=True); open('output/new', 'w').write('x')"
    assert place.attempt(code, PYTHON, STANDARD).is_success
    assert (place.project / "output/new").read_text() == "x"


def test_a_workspace_behind_a_link_is_opened(place: Workplace) -> None:
    """Only what lies in the workspace is looked at, not the way to it."""
    (place.project.parent / "by-link").symlink_to(place.project)
    found = surface_of_set(STANDARD, place.project.parent / "by-link")
    assert found == definition(STANDARD).surface


def test_without_the_control_the_link_would_be_followed(
    place: Workplace, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies behind it is read in `readonly`, and written in `mcp-standard`."""

    def followed(permission_set: PermissionSet, _: Path) -> Surface:
        return definition(permission_set).surface

    monkeypatch.setattr(capabilitybinding, "surface_of_set", followed)
    linked(place.project, "data", outside)
    linked(place.project, "output", outside)
    secret = str(outside / "secret.txt")
    assert place.attempt(f"open({secret!r}).read()", PYTHON, READONLY).result == "secret"
    deno_or_skip()
    place.attempt(IN_DENO, TYPESCRIPT, STANDARD, arguments={"place": "output"})
    assert (outside / "new").exists()
