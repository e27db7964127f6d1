"""What firejail alone has to be kept from: it is told of a box in words that can mean something else."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cli.execs import put
from tests.enforce.engines.benches import Bench, bench_of, engines_here, users_of

pytestmark = pytest.mark.skipif(
    "firejail" not in engines_here(), reason="there is no firejail on this machine"
)

_PROFILE = """
sandboxConfig:
  profiles:
    server:
      writes: direct
      filesystem:
        readOnly: ['${{WORKSPACE}}']
        readWrite: ['{place}']
"""


@pytest.fixture(scope="module")
def jail() -> Iterator[Bench]:
    """As an ordinary user, for whom alone it is of use."""
    with bench_of("firejail", *users_of("firejail")) as made:
        yield made


@pytest.fixture
def roots_folder() -> Iterator[Path]:
    """For programs of the system, which are started where they lie."""
    if os.getuid() != 0:
        pytest.skip("only root can add a program to the system")
    with TemporaryDirectory(prefix="consentry-test-", dir="/usr/local/lib") as place:
        Path(place).chmod(0o755)
        yield Path(place)


def _echo(folder: Path) -> str:
    folder.mkdir()
    return str(shutil.copy("/bin/echo", folder / "echo"))


def test_a_program_is_never_taken_for_a_variable(jail: Bench, roots_folder: Path) -> None:
    """Else its first argument would be started instead of what was agreed to."""
    odd, plain = _echo(roots_folder / "a=b"), _echo(roots_folder / "a-b")
    refused = jail.run(odd, "/usr/bin/id")
    assert (refused.status, refused.out) == (126, "")
    assert "has a `=` in it" in refused.err
    granted = jail.run(plain, "/usr/bin/id")
    assert (granted.status, granted.out) == (0, "/usr/bin/id\n"), granted.err
    # What sets the environment in the box does this with such a name.
    words = ["/usr/bin/env", "-i", odd, "/usr/bin/id"]
    taken = subprocess.run(words, capture_output=True, check=True)
    assert taken.stdout.startswith(b"uid=")


def test_a_grant_that_would_not_be_there_is_refused(jail: Bench) -> None:
    """What is written in a folder that firejail has anew would be lost, and nobody told."""
    uid = jail.project.stat().st_uid
    with TemporaryDirectory(prefix="consentry-test-", dir=pwd.getpwuid(uid).pw_dir) as place:
        os.chown(place, uid, uid)
        program = ("sh", "-c", f"echo kept >{place}/new")
        profile = _PROFILE.format(place=place)
        put(jail.line, "home.yaml", profile)
        words = ("--profile", "home.yaml", "--exec", "any", "--", *program)
        refused = jail.line("exec", "--engine", "firejail", *words)
        assert refused.status == 126, refused
        assert "would not be there" in refused.err
        assert not Path(place, "new").exists()
        assert jail.line("exec", "--engine", "native", *words).status == 0
        assert Path(place, "new").read_text() == "kept\n"


def test_a_user_that_no_list_names_is_told_so() -> None:
    """Firejail looks for a home folder there; that it is of no use is an answer, not a traceback."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    program = (
        "import os, sys; sys.path[:0] = sys.argv[1:]\n"
        "from consentry.enforce.engines.firejail import Firejail\n"
        "from consentry.enforce.engines.ground import EngineGround\n"
        "from consentry.surface.protected import protected_roots\n"
        "ground = EngineGround(None, protected_roots(), os.environ['PATH'])\n"
        "os.setgroups([]); os.setresgid(*[54321] * 3); os.setresuid(*[54321] * 3)\n"
        "shown = Firejail(ground).try_out().probe\n"
        "print(shown.is_usable, shown.lacking[0].why)"
    )
    argv = [sys.executable, "-c", program, *sys.path]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("False the list of users has no home folder"), done.stderr
