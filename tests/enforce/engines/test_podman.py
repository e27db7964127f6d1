"""What Podman alone has to be kept from: it reads more settings than the one file that is ours."""

import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.cli.execs import home_of, put
from tests.enforce.engines.benches import Bench, bench_of, engines_here, users_of

pytestmark = pytest.mark.skipif(
    "podman" not in engines_here(), reason="there is no podman on this machine"
)
_WITHOUT = """
from dataclasses import replace
from consentry.enforce.engines.podman import Podman
Podman.dialect = replace(Podman.dialect, first_words=())
import runpy
runpy.run_module("consentry", run_name="__main__")
"""


@pytest.fixture(scope="module")
def keeping() -> Iterator[Bench]:
    """As an ordinary user, whose own settings count."""
    with bench_of("podman", *users_of("podman")) as made:
        yield made


def test_no_folder_is_added_to_a_container(keeping: Bench) -> None:
    """Neither its files, which Landlock closes, nor their names: only a grant shows them."""
    line, home = keeping.line, home_of(keeping.line)
    kept = put(line, f"{home}/kept/name", "secret").parent
    put(line, f"{home}/.config/ours", "")
    put(line, f"{home}/.config/containers/mounts.conf", f"{kept}:/run/added\n")
    attack = keeping.run("ls", "/run/added")
    assert (attack.status, attack.out) == (2, ""), attack.err
    assert keeping.run("ls", str(kept), options=("--read", str(kept))).out == "name\n"
    python = line.program[:1] if "-m" in line.program else (sys.executable,)
    bare = Bench("podman", replace(line, program=(*python, "-B", "-c", _WITHOUT)))
    assert bare.run("ls", "/run/added").out == "name\n"
