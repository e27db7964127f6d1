"""`trusted` on the real engines: everything of the host but what is never granted (CONTRACTS §10)."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.enforce.roots import OWN_FOLDERS
from consentry.service import codeattempts, trustedreads
from consentry.service.keptruns import Place
from consentry.service.protection import protected_here
from consentry.service.trustedreads import trusted_places, trusted_reads
from consentry.surface.permission_sets import PermissionSet, definition
from tests.denos import deno_or_skip
from tests.elsewhere import folder_elsewhere
from tests.service.capabilityplaces import PYTHON, TYPESCRIPT, Language, Workplace, workplace
from tests.service.conftest import MakeAround

LANGUAGES = (PYTHON, TYPESCRIPT)


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace."""
    with workplace(around(environ={"PATH": "/usr/bin:/bin"}), project) as made:
        yield made


def require(language: Language) -> None:
    """Skips what needs a program that is not here."""
    if language is not PYTHON:
        deno_or_skip()


def test_no_place_is_protected_a_link_or_the_runs_own(place: Workplace) -> None:
    """Whatever lies on this host: each place may be granted, and none lies in another."""
    protected = protected_here(place.around, place.project)
    places = trusted_places(place.project, protected)
    assert trusted_reads(places) <= definition(PermissionSet.TRUSTED).surface.fs_read_roots
    never = ("/etc", "/proc", "/sys", "/dev", "/run", "/var", "/boot", "/tmp", "/usr", "/home/user")
    for each in places:
        assert not each.is_symlink()
        assert not any(each == Path(name) or each.is_relative_to(name) for name in never)
        assert not any(Path(name).is_relative_to(each) for name in never)
        assert not Path(sys.base_prefix).resolve().is_relative_to(each)
        assert not any(other != each and other.is_relative_to(each) for other in places)


def test_around_a_border_the_neighbours_are_taken(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with something of its own further down is not shown as one."""
    top = tmp_path / "top"
    for name in ("a/b/own/x", "a/b/beside", "a/c", "d"):
        (top / name).mkdir(parents=True)
    (top / "file").write_text("x")
    (top / "link").symlink_to("d")
    own = str(top / "a/b/own")
    monkeypatch.setattr(trustedreads, "_TOP", top)
    monkeypatch.setattr(trustedreads, "OWN_FOLDERS", (own,))
    found = trusted_places(place.project, protected_here(place.around, place.project))
    assert [str(each.relative_to(top)) for each in found] == ["a/b/beside", "a/c", "d", "file"]


def test_what_is_taken_away_meanwhile_is_bound_anew(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy host: a name that was listed and is gone costs another try, and each is on record."""
    real = codeattempts.recover_here
    with folder_elsewhere() as folder:
        border, gone = folder / "border", folder / "gone"
        border.mkdir()
        gone.mkdir()
        monkeypatch.setattr(trustedreads, "OWN_FOLDERS", (*OWN_FOLDERS, str(border)))

        def meanwhile(effects: Place) -> None:
            if gone.exists():
                gone.rmdir()
            real(effects)

        monkeypatch.setattr(codeattempts, "recover_here", meanwhile)
        attempt = place.attempt("1 + 1", PYTHON, PermissionSet.TRUSTED)
    assert attempt.result == 2
    ended = [each["payload"]["execution"]["status"] for each in place.events("tool.audit")]
    assert (ended[0], ended[-1]) == ("not_started", "success")


def test_what_cannot_be_read_is_left_out(place: Workplace, tmp_path: Path) -> None:
    """An ordinary user's box holds what that user may read, and no error for the rest."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    protected = protected_here(place.around, place.project)
    may = trustedreads._may_be_shown(closed, protected)
    assert may == os.access(closed, os.R_OK | os.X_OK)
    closed.chmod(0o700)


@pytest.mark.parametrize("language", LANGUAGES)
def test_trusted_reads_no_protected_root_and_starts_no_program(
    place: Workplace, language: Language
) -> None:
    """CONTRACTS §10: any but protected roots, and neither run nor ffi, whoever set it."""
    require(language)
    home = Path(place.around.environ["HOME"])
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("key")
    for path in (home / ".ssh/id", Path("/etc/shadow"), Path("/proc/1/environ")):
        read = {
            PYTHON: f"open({str(path)!r}).read()",
            TYPESCRIPT: f'return Deno.readTextFileSync("{path}")',
        }
        attempt = place.attempt(read[language], language, PermissionSet.TRUSTED)
        assert attempt.error is not None, path
    started = {
        PYTHON: "import subprocess; subprocess.run(['/usr/bin/true'])",
        TYPESCRIPT: "return new Deno.Command('/usr/bin/true').outputSync()",
    }
    attempt = place.attempt(started[language], language, PermissionSet.TRUSTED)
    assert attempt.error is not None
    assert attempt.denial is not None
    assert "Requires run access to" in attempt.denial


def test_trusted_is_no_more_than_its_surface(place: Workplace) -> None:
    """What is bound for it lies in what the set is defined to open; nothing else is permitted."""
    attempt = place.attempt("1", PYTHON, PermissionSet.TRUSTED)
    assert attempt.result == 1
    surface = attempt.run.facts.bound.confinement.surface
    assert surface <= definition(PermissionSet.TRUSTED).surface
    assert surface == attempt.run.facts.permit.order.surface


def test_trusted_hands_on_no_variable_that_changes_the_interpreter(
    around: MakeAround, project: Path
) -> None:
    """Who may read every variable may not be started with one that loads code before it."""
    environ = {"PATH": "/usr/bin:/bin", "LD_PRELOAD": "/x.so", "PYTHONSTARTUP": "/x", "MINE": "yes"}
    code = "import os\nsorted(name for name in os.environ if name in names)"
    with workplace(around(environ=environ), project) as place:
        attempt = place.attempt(
            code, PYTHON, PermissionSet.TRUSTED, arguments={"names": list(environ)}
        )
    assert attempt.result == ["MINE", "PATH"]
