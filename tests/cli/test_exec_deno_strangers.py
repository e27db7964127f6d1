"""What a stranger's script and workspace cannot make of Deno: more code, more permissions, more say."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import put
from tests.cli.test_exec_deno import deno


@pytest.mark.parametrize(
    ("imported", "said"),
    [
        ("npm:cowsay", "--no-npm is specified"),
        ("jsr:@std/path", "--no-remote is specified"),
        ("https://deno.land/std/version.ts", "--no-remote is specified"),
    ],
)
def test_code_from_elsewhere_needs_the_network(
    consentry: CommandLine, imported: str, said: str
) -> None:
    """Refused before anything is asked for, and in words that say why."""
    put(consentry, "imports.ts", f'import * as x from "{imported}"; console.log(x);')
    ended = deno(consentry, "--", "imports.ts")
    assert ended.status == 1
    assert said in ended.err
    assert ended.out == ""


def test_files_of_the_workspace_have_no_say(consentry: CommandLine) -> None:
    """A `deno.json`, a `package.json` and a lock file of a stranger's open nothing and run nothing."""
    put(
        consentry,
        "deno.json",
        json.dumps(
            {
                "permissions": {"default": {"all": True}},
                "tasks": {"one.js": "echo task"},
                "unstable": ["worker-options", "ffi"],
                "imports": {"./one.js": "./two.js"},
            }
        ),
    )
    put(consentry, "package.json", '{"scripts": {"one.js": "echo script"}}')
    put(consentry, "deno.lock", "not a lock file")
    put(
        consentry,
        "one.js",
        "const states = [];\n"
        'for (const name of ["read", "write", "net", "env", "run", "ffi", "sys"])'
        " states.push((await Deno.permissions.query({ name })).state);\n"
        "console.log(states.join());",
    )
    ended = deno(consentry, "--set", "minimal", "--", "one.js")
    assert ended.out == "prompt,prompt,prompt,prompt,denied,denied,prompt\n"
    assert ended.err == ""


WORKER = """
const worker = new Worker(new URL("./inner.js", import.meta.url).href, {
  type: "module", deno: { permissions: { read: true, net: true, run: true } },
});
worker.onmessage = (said) => { console.log(said.data); Deno.exit(0); };
"""


def test_a_worker_gets_no_more_than_its_maker(consentry: CommandLine) -> None:
    """Wider permissions are refused; one with the same has the same."""
    put(consentry, "inner.js", 'postMessage((await Deno.permissions.query({name: "net"})).state);')
    put(consentry, "wider.js", WORKER)
    wider = deno(consentry, "--", "wider.js")
    assert wider.status != 0
    assert wider.out == ""
    put(consentry, "same.js", WORKER.replace("deno:", "plain:"))
    assert deno(consentry, "--", "same.js").out == "prompt\n"


def test_no_deno_of_a_stranger_is_taken_for_deno(consentry: CommandLine, tmp_path: Path) -> None:
    """One in the workspace, or where everybody may put one: it need not obey the flags."""
    folders = {"in": consentry.cwd / "bin", "open": tmp_path / "open", "own": tmp_path / "own"}
    put(consentry, "a.ts", "console.log(1)")
    ended = {}
    for name, folder in folders.items():
        folder.mkdir()
        (folder / "deno").write_text("#!/bin/sh\necho obeys nothing\n")
        (folder / "deno").chmod(0o755)
        folder.chmod(0o777 if name == "open" else 0o755)
        words = ("exec", "--engine", "deno", "--", "a.ts")
        ended[name] = consentry(*words, PATH=f"{folder}:/usr/bin:/bin")
    assert (ended["in"].status, ended["in"].out) == (126, "")
    assert "lies in the workspace" in ended["in"].err
    assert (ended["open"].status, ended["open"].out) == (126, "")
    assert "everybody may write the folder" in ended["open"].err
    # The caller's own is believed, and is in the box whatever it does.
    assert (ended["own"].status, ended["own"].out) == (0, "obeys nothing\n"), ended["own"].err
