"""The lines of `docs/how-to/install-packages.md`, run as they stand against peers of this machine.

Only the host, and where the index lies, are put in their place: no public index can be reached from a
test, and none would answer the same twice.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record, put
from tests.enforce.egress.packages import git_repository, npm_registry, simple_index
from tests.enforce.egress.peers import http_peer

PAGE = Path(__file__).parents[2] / "docs/how-to/install-packages.md"


def line_of(heading: str) -> str:
    """The command of the first block below a heading, from `consentry` on."""
    text = PAGE.read_text().split(f"\n## {heading}\n")[1]
    block = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    assert block is not None
    return "consentry" + block[1].partition("consentry")[2]


def here(line: str, place: str) -> str:
    """The same for a peer of this machine, which programs else reach without the proxy."""
    return line.replace("INDEX:443", place)


def test_pip(consentry: CommandLine) -> None:
    """One host and one folder are enough for a wheel."""
    made = [sys.executable, "-m", "venv", "--system-site-packages", consentry.cwd / ".venv"]
    subprocess.run(made, check=True)
    with http_peer(files=simple_index("tinyword")) as peer:
        place = f"localhost:{peer.server_port}"
        line = here(line_of("pip"), place).replace("requests", "tinyword")
        line = line.replace("install ", f"install -q --index-url http://{place}/simple ")
        ended = consentry.in_shell(line)
    assert ended.status == 0, ended
    assert list(consentry.cwd.glob(".venv/lib/*/site-packages/tinyword.py"))


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm(consentry: CommandLine) -> None:
    """The lock file, the project and the packages are written, and nothing else."""
    put(consentry, "package.json", '{"name": "app", "version": "1.0.0"}')
    files = npm_registry("tinyword")
    with http_peer(files=files) as peer:
        place = f"localhost:{peer.server_port}"
        files["/tinyword"] = files["/tinyword"].replace(b"PLACE", place.encode())
        line = here(line_of("npm"), place).replace("left-pad", "tinyword")
        path = f"{Path(shutil.which('npm') or '').parent}:/usr/bin:/bin"
        ended = consentry.in_shell(f"{line.strip()} --registry http://{place}", PATH=path)
    assert ended.status == 0, ended
    assert (consentry.cwd / "node_modules/tinyword/index.js").is_file()
    assert "tinyword" in (consentry.cwd / "package-lock.json").read_text()


def test_git(consentry: CommandLine, tmp_path: Path) -> None:
    """A clone below the folder that was opened."""
    with http_peer(files=git_repository(tmp_path, "/group/project.git")) as peer:
        place = f"localhost:{peer.server_port}"
        line = line_of("git").replace("git.example:443", place).replace("--depth 1 ", "")
        ended = consentry.in_shell(line.replace("https://git.example/", f"http://{place}/"))
    assert ended.status == 0, ended
    assert (consentry.cwd / "vendor/project/word.txt").read_text() == "cloned\n"
    assert last_record(consentry)["impact"]["committed"]
