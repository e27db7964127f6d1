"""Saved code as whoever runs the tests, and as an ordinary user: the same sets, the same box."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, as_nobody, consentry, line
from tests.cli.execs import put
from tests.denos import deno_line
from tests.elsewhere import folder_elsewhere
from tests.service.capabilityplaces import fetching, served

# Fixtures that tests here ask for by name.
__all__ = ["as_nobody", "consentry", "deno_line", "line"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git root with nothing in it, as the command's own tests have it."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def save(line: CommandLine, code: str, in_set: str, ending: str) -> None:
    """The code as `it`, in a set that is given by hand."""
    put(line, f"it.{ending}", code)
    saved = line("capability", "save", "it", f"it.{ending}")
    assert saved.status == 0, saved.err
    words = ["trusted", "--by-hand"] if in_set == "trusted" else [in_set]
    given = line("capability", "set", "it", *words)
    assert given.status == 0, given.err


def run(line: CommandLine, *words: str) -> object:
    """Its result."""
    done = line("capability", "run", "it", *words)
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_deno_fetches_and_writes(deno_line: CommandLine) -> None:
    """ESCALATION AC10: the box has the network of its list, and what it wrote is taken over."""
    with served() as server:
        code = fetching(server).replace("return", "const text =")
        save(
            deno_line,
            f'{code} Deno.writeTextFileSync("output/a", text); return n',
            "mcp-standard",
            "ts",
        )
        assert run(deno_line, "--net", server.place, "--arg", "n=[1]") == [1]
        assert server.paths == ["/x"]
    assert (deno_line.cwd / "output/a").read_text() == "pong"
    assert (deno_line.cwd / "output/a").stat().st_uid == deno_line.cwd.stat().st_uid


def test_python_writes_in_its_set(line: CommandLine) -> None:
    """The same by the native engine alone."""
    save(line, "open('output/a', 'w').write('a' * n)", "mcp-standard", "py")
    assert run(line, "--arg", "n=3") == 3
    assert (line.cwd / "output/a").read_text() == "aaa"


@pytest.mark.parametrize("ending", ["py", "ts"])
def test_trusted_reads_what_its_user_can(deno_line: CommandLine, ending: str) -> None:
    """CONTRACTS §10: anything but protected roots, the workspace to write, every variable."""
    if os.geteuid() != 0 and not os.access("/srv", os.W_OK):
        pytest.skip("there is no place outside that everybody can read")
    with folder_elsewhere() as folder:
        folder.chmod(0o755)
        (folder / "x").write_text("outside")
        path = str(folder / "x")
        code = {
            "py": f"import os\nopen('made', 'w').write(open({path!r}).read())\n"
            "[os.environ['OF_A_TEST'], os.path.exists('/etc/shadow')]",
            "ts": f'Deno.writeTextFileSync("made", Deno.readTextFileSync("{path}"));\n'
            'let there = true; try { Deno.statSync("/etc/shadow"); } catch { there = false; }\n'
            'return [Deno.env.get("OF_A_TEST"), there];',
        }[ending]
        save(deno_line, code, "trusted", ending)
        environ = {**deno_line.environ, "OF_A_TEST": "its value"}
        mine = CommandLine(deno_line.cwd, environ, deno_line.options, deno_line.program)
        assert run(mine) == ["its value", False]
    assert (deno_line.cwd / "made").read_text() == "outside"
