"""What permission sets open on the command line, for root and for an ordinary user (CONTRACTS §10)."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.service.programbinding import FIXED_ENVIRONMENT
from tests.cli.capabilities import run, saved
from tests.cli.conftest import CommandLine
from tests.cli.execs import put
from tests.denos import deno_line
from tests.elsewhere import folder_elsewhere

__all__ = ["deno_line"]  # a fixture that tests here ask for by name

ENDINGS = ("py", "ts")
VARIABLES = {
    "py": "import os\nresult = {name: os.environ.get(name) for name in names}\n",
    "ts": (
        "const found: Record<string, string | null> = {};\n"
        "for (const name of names) {\n"
        "  try { found[name] = Deno.env.get(name) ?? null; } catch { found[name] = null; }\n"
        "}\nreturn found;\n"
    ),
}
READ = {
    "py": "result = open(path).read()\n",
    "ts": "return Deno.readTextFileSync(path);\n",
}


@pytest.fixture
def elsewhere(deno_line: CommandLine) -> Iterator[CommandLine]:
    """The same user with a home and a project that do not lie below `/tmp`."""
    owner = deno_line.cwd.stat()
    with folder_elsewhere() as folder:
        folder.chmod(0o755)
        for name in ("me", "me/.ssh", "project", "project/.git"):
            (folder / name).mkdir()
            os.chown(folder / name, owner.st_uid, owner.st_gid)
        environ = {**deno_line.environ, "HOME": str(folder / "me"), "SECRET": "of the host"}
        yield CommandLine(folder / "project", environ, deno_line.options, deno_line.program)


def in_set(line: CommandLine, code: str, ending: str, name: str) -> None:
    """The code as `it`, in the set of that name."""
    saved(line, "it", code, ending=ending)
    words = ("--by-hand",) if name == "trusted" else ()
    done = line("capability", "set", "it", name, *words)
    assert done.status == 0, done.err


def asked(line: CommandLine, **arguments: Any) -> Any:
    """Its result, or None where it failed."""
    words = [f"{name}={json.dumps(value)}" for name, value in arguments.items()]
    done = run(line, "it", *(word for each in words for word in ("--arg", each)))
    return json.loads(done.out) if done.status == 0 else None


@pytest.mark.parametrize("ending", ENDINGS)
def test_mcp_standard_has_home_and_path_and_they_are_ours(
    elsewhere: CommandLine, ending: str
) -> None:
    """CONTRACTS §10-mcp-standard: not the values of whoever runs it, and no other of theirs."""
    in_set(elsewhere, VARIABLES[ending], ending, "mcp-standard")
    found = asked(elsewhere, names=["HOME", "PATH", "SECRET", "LC_ALL"])
    assert found["HOME"] == FIXED_ENVIRONMENT["HOME"] != elsewhere.environ["HOME"]
    assert found["PATH"].endswith("/usr/bin:/sbin:/bin" if ending == "ts" else "/usr/bin:/bin")
    of_the_host = set(elsewhere.environ["PATH"].split(":")) - {"/usr/bin", "/bin"}
    assert of_the_host.isdisjoint(found["PATH"].split(":"))
    assert (found["SECRET"], found["LC_ALL"]) == (None, None)


@pytest.mark.parametrize("ending", ENDINGS)
def test_mcp_standard_reads_the_workspace_and_writes_output(
    elsewhere: CommandLine, ending: str
) -> None:
    """CONTRACTS §10-mcp-standard: what it wrote beside `output` is refused, and `/tmp` is its own."""
    write = {
        "py": (
            "import os\ndef tried(name):\n    try:\n        return open(name, 'w').write('x')\n"
            "    except OSError:\n        return None\n"
            "result = [open('y').read(), *map(tried, ['output/a', 'y', '/tmp/a'])]\n"
        ),
        "ts": (
            "const tried = (name: string) => {\n"
            '  try { Deno.writeTextFileSync(name, "x"); return 1 } catch { return null }\n};\n'
            'return [Deno.readTextFileSync("y"), ...["output/a", "y", "/tmp/a"].map(tried)];\n'
        ),
    }[ending]
    put(elsewhere, "y", "top")
    in_set(elsewhere, write, ending, "mcp-standard")
    assert asked(elsewhere) == ["top", 1, None, 1]
    assert (elsewhere.cwd / "output/a").read_text() == "x"
    assert (elsewhere.cwd / "y").read_text() == "top"
    assert not Path("/tmp/a").exists()


@pytest.mark.parametrize("ending", ENDINGS)
def test_trusted_reads_a_home_but_for_its_keys(elsewhere: CommandLine, ending: str) -> None:
    """CONTRACTS §10-trusted: what no row protects can be read, and what one does cannot."""
    home = Path(elsewhere.environ["HOME"])
    put(elsewhere, str(home / "plain"), "plain")
    put(elsewhere, str(home / ".ssh/id"), "key")
    in_set(elsewhere, READ[ending], ending, "trusted")
    assert asked(elsewhere, path=str(home / "plain")) == "plain"
    assert asked(elsewhere, path=str(home / ".ssh/id")) is None
    state = home / ".local/state/consentry"
    for kept in [each for each in state.iterdir() if each.is_file()]:
        assert asked(elsewhere, path=str(kept)) is None, kept
    assert any(state.iterdir())
    in_set(elsewhere, READ[ending] + " ", ending, "mcp-standard")
    assert asked(elsewhere, path=str(home / "plain")) is None
