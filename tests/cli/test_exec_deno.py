"""`consentry exec --engine deno`: JavaScript and TypeScript, by the flags of the grants, in the box."""

import json
import os
import pty
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from consentry.surface.permission_sets import PermissionSet, definition
from tests.cli.conftest import CommandLine, Ended
from tests.cli.execs import last_record, put
from tests.denos import deno_line

__all__ = ["deno_line"]  # a fixture that tests here ask for by name

TEMPORARY = Path(f"/tmp/of-deno-{os.getpid()}")
TRIES = (
    f'const TEMPORARY = "{TEMPORARY}";'
    """
const tries: Record<string, () => unknown> = {
  data: () => Deno.readTextFileSync("data/x"),
  other: () => Deno.readTextFileSync("other"),
  tmp: () => { Deno.writeTextFileSync(TEMPORARY, "x"); return Deno.readTextFileSync(TEMPORARY); },
  output: () => Deno.writeTextFileSync("output/x", "made"),
  home: () => Deno.env.get("HOME"),
  lang: () => Deno.env.get("LANG"),
  run: () => new Deno.Command("/usr/bin/true").outputSync(),
  ffi: () => Deno.dlopen("libc.so.6", {}),
  listens: () => Deno.listen({ port: 0 }),
};
const done = [];
for (const [name, tried] of Object.entries(tries)) {
  try { tried(); done.push(name); } catch { /* refused */ }
}
console.log(JSON.stringify(done));
"""
)
MAY: dict[str, list[str]] = {
    "minimal": [],
    "readonly": ["data"],
    "filesystem": ["data", "other", "tmp"],
    "network-api": ["listens"],
    "mcp-standard": ["data", "other", "tmp", "output", "home", "listens"],
}


def deno(line: CommandLine, *words: str, **environ: str) -> Ended:
    """A line for the engine."""
    return line("exec", "--engine", "deno", *words, **environ)


def violations(line: CommandLine) -> list[tuple[str, str, str]]:
    """Of the last run: operation, resource and truth."""
    found: list[dict[str, Any]] = last_record(line)["sandbox"]["violations"]
    return [(each["operation"], each["resource"], each["truth"]) for each in found]


@pytest.mark.parametrize("name", MAY)
def test_what_a_set_opens(deno_line: CommandLine, name: str) -> None:
    """CONTRACTS §5 and §10: by doing it, and by the very flags that Deno got."""
    put(deno_line, "tries.ts", TRIES)
    put(deno_line, "data/x", "x")
    put(deno_line, "other", "x")
    put(deno_line, "output/.keep", "")
    ended = deno(deno_line, "--set", name, "--", "tries.ts", "word")
    assert json.loads(ended.out) == MAY[name], ended.err
    record = last_record(deno_line)
    words = record["tool"]["arguments"]
    flags = {each for each in words if each.startswith("--allow-")}
    always = {"--no-prompt", "--deny-run", "--deny-ffi"}
    assert flags | always == set(definition(PermissionSet(name)).deno_flags)
    assert always <= set(words)
    assert words[-2:] == [str((deno_line.cwd / "tries.ts").resolve()), "word"]
    assert record["sandbox"]["engine"] == "deno"
    assert (deno_line.cwd / "output/x").exists() == ("output" in MAY[name])
    assert not TEMPORARY.exists()


def test_trusted_is_never_given(consentry: CommandLine) -> None:
    """CONTRACTS §5: manual only, whatever the engine."""
    put(consentry, "one.js", "")
    ended = deno(consentry, "--set", "trusted", "--", "one.js")
    assert "`trusted` is never given by a command line" in ended.err
    assert ended.status == 126


@pytest.mark.parametrize("ending", ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"])
def test_every_kind_of_script_runs(consentry: CommandLine, ending: str) -> None:
    """Types are taken off where there are some; its words and its status are its own."""
    kind = ": number" if ending.endswith(("ts", "tsx")) else ""
    put(
        consentry, f"one.{ending}", f"const one{kind} = 1; console.log(one, Deno.args);Deno.exit(7)"
    )
    ended = deno(consentry, "--set", "minimal", "--", f"one.{ending}", "--allow-all")
    assert (ended.out, ended.status) == ('1 [ "--allow-all" ]\n', 7)
    assert ended.err == ""


def test_denials_are_told_and_reported(deno_line: CommandLine) -> None:
    """ESCALATION: what Deno refused is on record, by the program's own word, and it says so."""
    put(
        deno_line,
        "asks.ts",
        'try { Deno.env.get("TOKEN"); } catch (e) { console.error(`${e}`); }\n'
        'await fetch("http://api.example.com/");\n',
    )
    ended = deno(deno_line, "--set", "minimal", "--", "asks.ts")
    assert ended.status == 1
    assert 'NotCapable: Requires net access to "api.example.com:80"' in ended.err
    assert (
        "  env TOKEN: refused by deno, by the program's own word; allow it with --env TOKEN\n"
        "  net api.example.com:80: refused by deno, by the program's own word;"
        " allow it with --net api.example.com:80\n"
    ) in ended.err
    assert violations(deno_line) == [
        ("env", "TOKEN", "reported"),
        ("net", "api.example.com:80", "reported"),
    ]


def test_a_denial_that_the_record_shows_is_not_the_programs_word(consentry: CommandLine) -> None:
    """What the box saw stands, whatever is printed of the same."""
    secret = put(consentry, "../home/secret.txt", "x").resolve()
    put(
        consentry,
        "asks.ts",
        f'try {{ Deno.readTextFileSync("{secret}"); }} catch (e) {{ console.error(`${{e}}`); }}\n'
        f'console.error("Requires read access to {secret}");\n',
    )
    deno(consentry, "--set", "filesystem", "--", "asks.ts")
    assert ("read", str(secret), "reported") not in violations(consentry)
    assert [each for each in violations(consentry) if each[1] == str(secret)] == [
        ("read", str(secret), "observed")
    ]


def test_a_forged_denial_is_reported_and_decides_nothing(deno_line: CommandLine) -> None:
    """Anybody can print the words: the status, the commit and the next run are as without them."""
    forged = 'NotCapable: Requires read access to "/srv/x", run again with the --allow-read flag'
    put(deno_line, "forge.js", f"console.error({json.dumps(forged)});")
    ended = deno(deno_line, "--set", "minimal", "--", "forge.js")
    assert ended.status == 0
    assert ended.err.startswith(forged + "\n")
    assert violations(deno_line) == [("read", "/srv/x", "reported")]
    record = last_record(deno_line)
    assert record["execution"]["status"] == "success"
    again = deno(deno_line, "--set", "minimal", "--", "forge.js")
    assert again.err == ended.err
    assert last_record(deno_line)["tool"]["arguments"] == record["tool"]["arguments"]


def test_another_engine_reads_no_words(consentry: CommandLine) -> None:
    """On `native`, a program that prints the sentence has refused nothing."""
    code = "import sys; sys.stderr.write('NotCapable: Requires read access to /srv/x\\n')"
    consentry("exec", "--", "python3", "-I", "-c", code)
    assert violations(consentry) == []


def test_what_it_prints_arrives_as_it_is(consentry: CommandLine) -> None:
    """Both streams, byte for byte, although one of them is listened to."""
    put(
        consentry,
        "prints.js",
        "const bytes = new Uint8Array(300_000).map((_, at) => at % 251);\n"
        "for (const to of [Deno.stdout, Deno.stderr]) {\n"
        "  for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));\n"
        "}\n",
    )
    line = "consentry -q exec --engine deno --set minimal -- prints.js >out 2>err; echo $?"
    assert consentry.in_shell(line).out == "0\n"
    expected = bytes(at % 251 for at in range(300_000))
    assert (consentry.cwd / "out").read_bytes() == expected
    assert (consentry.cwd / "err").read_bytes() == expected


def test_json_has_both_streams(consentry: CommandLine) -> None:
    """As with every engine."""
    put(consentry, "both.ts", "console.log(1); console.error(2);")
    document = json.loads(
        consentry("exec", "--json", "--engine", "deno", "--set", "minimal", "--", "both.ts").out
    )
    assert (document["stdout"]["content"], document["stderr"]["content"]) == ("1\n", "2\n")
    assert document["run"]["sandbox"]["violations"] == []


def test_a_profile_names_the_engine(deno_line: CommandLine) -> None:
    """`engine: deno` in a document; its files and its limits become flags."""
    put(
        deno_line,
        "box.yaml",
        "sandboxConfig:\n  engine: deno\n  profiles:\n    p:\n      filesystem:\n"
        "        readOnly: ['${WORKSPACE}/data']\n      resources:\n        maxMemory: 512MB\n",
    )
    put(deno_line, "tries.ts", TRIES)
    put(deno_line, "data/x", "x")
    put(deno_line, "other", "x")
    ended = deno_line("exec", "--profile", "box.yaml", "--", "tries.ts")
    assert json.loads(ended.out) == ["data", "tmp"], ended.err
    record = last_record(deno_line)
    assert record["sandbox"]["engine"] == "deno"
    words = record["tool"]["arguments"]
    assert "--allow-read=/tmp,./data" in words
    assert "--v8-flags=--max-old-space-size=384" in words


def test_it_works_on_the_workspace_from_a_folder_below(consentry: CommandLine) -> None:
    """`./data` of a set is the workspace's, not that of the folder where the line was typed."""
    put(consentry, "data/x", "right")
    put(consentry, "src/data/x", "wrong")
    put(
        consentry,
        "src/reads.js",
        "for (const name of ['../data/x', 'data/x'])"
        " try { console.log(Deno.readTextFileSync(name)); } catch { console.log('refused'); }",
    )
    below = CommandLine(consentry.cwd / "src", consentry.environ)
    assert deno(below, "--set", "readonly", "--", "reads.js").out == "right\nrefused\n"


def test_what_it_writes_is_taken_over(deno_line: CommandLine) -> None:
    """Through the layer of the box, as with every program."""
    put(deno_line, "writes.ts", 'Deno.writeTextFileSync("made.txt", "made");')
    assert deno(deno_line, "--", "writes.ts").status == 1
    assert not (deno_line.cwd / "made.txt").exists()
    ended = deno(deno_line, "--write", "made.txt", "--", "writes.ts")
    assert (ended.status, ended.err) == (0, "")
    assert (deno_line.cwd / "made.txt").read_text() == "made"


def test_denials_are_heard_on_a_terminal_too(consentry: CommandLine) -> None:
    """Where both streams are one, and coloured."""
    put(consentry, "reads.ts", 'Deno.readTextFileSync("/srv/x");')
    shown = on_terminal(consentry, "exec", "--engine", "deno", "--set", "minimal", "--", "reads.ts")
    assert "\x1b[31m" in shown
    assert "consentry: 1 thing was stopped" in shown
    assert violations(consentry) == [("read", "/srv/x", "reported")]


def on_terminal(line: CommandLine, *words: str) -> str:
    """What the command shows on a terminal of its own."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        [*line.program, *words],
        cwd=line.cwd,
        env={**line.environ, "TERM": "xterm-256color"},
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    ) as process:
        os.close(its)
        shown = bytearray()
        with suppress(OSError):  # it ends so when nobody has the other side any more
            while part := os.read(ours, 1 << 16):
                shown += part
        os.close(ours)
        assert process.wait(30) == 1
    return shown.decode()


def test_memory_is_held(deno_line: CommandLine) -> None:
    """The heap ends before the box does, and Deno says so itself."""
    put(deno_line, "eats.js", "const all = []; for (;;) all.push(new Array(10_000).fill(1.5));")
    ended = deno(deno_line, "--set", "minimal", "--memory", "192MB", "--", "eats.js")
    assert ended.status != 0
    assert "heap limit" in ended.err or "the limit on memory" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "deno", "run", "one.js"], "`deno` is no script for the engine `deno`"),
        (["--", "npm:cowsay"], "`npm:cowsay` is no script"),
        (["--", "none.ts"], "there is no script `none.ts`"),
        (["--", "https://example.org/x.ts"], "there is no script"),
        (["--exec", "ls", "--", "one.js"], "starts no other program"),
        (["--exec", "any", "--", "one.js"], "starts no other program"),
        (["--env", "DENO_DIR", "--", "one.js"], "changes Deno itself"),
        (["--env", "NODE_OPTIONS", "--", "one.js"], "changes Deno itself"),
    ],
)
def test_what_is_no_script_starts_nothing(
    consentry: CommandLine, words: list[str], said: str
) -> None:
    """One clear error, and what to type."""
    put(consentry, "one.js", "console.log(1)")
    ended = deno(consentry, *words)
    assert said in ended.err
    assert "help: " in ended.err
    assert (ended.out, ended.status in (2, 126, 127)) == ("", True)


def test_a_script_without_the_engine_says_what_to_type(consentry: CommandLine) -> None:
    """What a person would try first."""
    put(consentry, "one.ts", "console.log(1)")
    for word in ("one.ts", "./one.ts"):
        assert f"`consentry exec --engine deno -- {word}`" in consentry("exec", "--", word).err


def test_deno_itself_stays_an_ordinary_program(deno_line: CommandLine) -> None:
    """`exec -- deno run` is what it says: its own flags, in the box, by `native`."""
    put(deno_line, "one.ts", 'console.log(Deno.readTextFileSync("one.ts").length > 0)')
    ended = deno_line("exec", "--", "deno", "run", "--no-prompt", "-R", "one.ts")
    assert ended.out == "true\n", ended.err
    assert last_record(deno_line)["sandbox"]["engine"] == "native"


def test_code_runs_a_script_too(deno_line: CommandLine) -> None:
    """As `exec --engine deno` does; what only Python snippets have is refused."""
    put(deno_line, "one.ts", "const one: number = 1; console.log(one);")
    assert deno_line("code", "--set", "minimal", "one.ts").out == "1\n"
    document = json.loads(deno_line("code", "--json", "one.ts").out)
    assert (document["kind"], document["result"]) == ("code", None)
    assert document["stdout"]["content"] == "1\n"
    refused = deno_line("code", "one.ts", "--arg", "a=1")
    assert "`--arg` is for Python snippets" in refused.err
    assert refused.status == 2
