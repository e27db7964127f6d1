"""Attacks by a script in Deno, with Deno's own control and the box's taken away one after the other.

Deno refuses each; granted, it works; without Deno's flags the box refuses what the kernel can refuse;
without both the attack succeeds. Deno's flags are taken away by starting it as an ordinary program with `--allow-all`.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.conftest import CommandLine, as_nobody, consentry, home, line, project
from tests.cli.execs import last_record, put
from tests.denos import deno_line, deno_or_skip
from tests.elsewhere import folder_elsewhere
from tests.enforce.egress.peers import http_peer

__all__ = ["as_nobody", "consentry", "deno_line", "home", "line", "project"]  # fixtures

SECRET = "a secret of the host's"
ATTACK = """
const { read, write, net } = JSON.parse(Deno.args[0]);
const attacks: Record<string, () => unknown> = {
  read: () => Deno.readTextFileSync(read),
  write: () => Deno.writeTextFileSync(write, "planted"),
  net: async () => await (await fetch(net)).text(),
  env: () => Deno.env.get("A_SECRET"),
  run: () => new TextDecoder().decode(new Deno.Command("/usr/bin/id").outputSync().stdout),
  ffi: () => Deno.dlopen("libc.so.6", { getpid: { parameters: [], result: "i32" } }).symbols.getpid(),
};
const got: Record<string, string> = {};
for (const [name, attack] of Object.entries(attacks)) {
  try { got[name] = String(await attack()); } catch (e) { got[name] = ""; console.error(String(e)); }
}
console.log(JSON.stringify(got));
"""


class Place(NamedTuple):
    """What is attacked, and the word that tells the script."""

    secret: Path
    planted: Path
    peer: Any

    @property
    def port(self) -> int:
        """Where the peer listens."""
        found: int = self.peer.server_port
        return found

    @property
    def word(self) -> str:
        """For the script."""
        net = f"http://localhost:{self.port}/reached"
        return json.dumps({"read": str(self.secret), "write": str(self.planted), "net": net})

    def reached(self) -> dict[str, bool]:
        """What happened, seen from outside."""
        return {"write": self.planted.exists(), "net": bool(self.peer.seen)}


@pytest.fixture
def place(deno_line: CommandLine) -> Iterator[Place]:
    """Outside the workspace, and open to whoever runs the command."""
    put(deno_line, "attack.ts", ATTACK)
    owner = deno_line.cwd.stat()
    with folder_elsewhere() as folder, http_peer() as peer:
        secret = folder / "secret.txt"
        secret.write_text(SECRET)
        (folder / "out").mkdir()
        for each in (folder, secret, folder / "out"):
            os.chown(each, owner.st_uid, owner.st_gid)
        yield Place(secret, folder / "out/planted.txt", peer)


def got(ended: Any) -> dict[str, str]:
    """What the script came away with."""
    found: dict[str, str] = json.loads(ended.out)
    return found


def test_deno_refuses_each(deno_line: CommandLine, place: Place) -> None:
    """All six, by Deno itself; the record has them as its own word."""
    words = ["exec", "--engine", "deno", "--", "attack.ts", place.word]
    ended = deno_line(*words, A_SECRET=SECRET)
    assert got(ended) == dict.fromkeys(("read", "write", "net", "env", "run", "ffi"), "")
    assert place.reached() == {"write": False, "net": False}
    found = {
        (each["operation"], each["truth"])
        for each in last_record(deno_line)["sandbox"]["violations"]
    }
    assert found == {(name, "reported") for name in ("read", "write", "net", "env", "run", "ffi")}


def test_what_is_granted_works(deno_line: CommandLine, place: Place) -> None:
    """Four of them; `run` and `ffi` are granted by nothing."""
    granted = [
        *("--read", str(place.secret), "--write", str(place.planted)),
        *("--net", f"localhost:{place.port}", "--env", "A_SECRET"),
    ]
    words = ["exec", "--engine", "deno", *granted, "--", "attack.ts", place.word]
    ended = deno_line(*words, A_SECRET=SECRET)
    found = got(ended)
    assert (found["read"], found["net"], found["env"]) == (SECRET, "/reached", SECRET)
    assert (found["run"], found["ffi"]) == ("", "")
    assert place.planted.read_text() == "planted"
    assert place.reached() == {"write": True, "net": True}


def test_without_denos_flags_the_box_refuses(deno_line: CommandLine, place: Place) -> None:
    """All that the kernel can refuse; a library in one's own process is not among it."""
    words = ["exec", "--", "deno", "run", "--allow-all", "attack.ts", place.word]
    ended = deno_line(*words, A_SECRET=SECRET)
    found = got(ended)
    assert {name: found[name] for name in ("read", "write", "net", "run")} == {
        "read": "",
        "write": "",
        "net": "",
        "run": "",
    }
    assert found["env"] == "undefined"
    assert found["ffi"] != ""
    assert place.reached() == {"write": False, "net": False}
    truths = {each["truth"] for each in last_record(deno_line)["sandbox"]["violations"]}
    assert truths <= {"observed", "mediated"}


def test_without_either_every_attack_succeeds(deno_line: CommandLine, place: Place) -> None:
    """The attacks are real."""
    words = [str(deno_or_skip()), "run", "--allow-all", "attack.ts", place.word]
    if deno_line.options:
        words[0] = "deno"
    done = subprocess.run(
        words,
        cwd=deno_line.cwd,
        env={**deno_line.environ, "A_SECRET": SECRET, "NO_COLOR": "1"},
        capture_output=True,
        check=True,
        **deno_line.options,
    )
    found = json.loads(done.stdout)
    assert (found["read"], found["net"], found["env"]) == (SECRET, "/reached", SECRET)
    assert "uid=" in found["run"]
    assert found["ffi"].isdigit()
    assert place.reached() == {"write": True, "net": True}
