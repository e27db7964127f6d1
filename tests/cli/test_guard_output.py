"""What `consentry guard` prints and writes, and that its status is the answer whatever the format."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.guards import STATUSES
from tests.service.patches import adding, bundle_of, wish_of

BUNDLES = {
    "PASS": adding("total = 1"),
    "BLOCKED": adding("import requests"),
    "UNKNOWN": adding("import a_module_that_nobody_knows"),
}
FORMS: list[list[str]] = [[], ["--json"], ["--sarif"], ["--html"], ["--quiet"], ["--verbose"]]


def given(consentry: CommandLine, bundle: dict[str, Any], name: str = "bundle.json") -> str:
    """The bundle as a file where the command is run."""
    (consentry.cwd / name).write_text(json.dumps(bundle))
    return name


@pytest.mark.parametrize("status", BUNDLES)
def test_the_exit_status_is_the_answer_in_every_format(consentry: CommandLine, status: str) -> None:
    """0 PASS, 1 BLOCKED, 2 UNKNOWN (GUARD §out), on standard output and with a file."""
    name = given(consentry, BUNDLES[status])
    for words in FORMS:
        ended = consentry("guard", name, *words)
        assert ended.status == STATUSES[status], words
        assert status in ended.out
        assert (ended.err != "") == (words == ["--verbose"])
    for file in ("v.json", "v.sarif", "v.html"):
        ended = consentry("guard", name, "--out", file)
        assert ended.status == STATUSES[status]
        assert ended.out.startswith(f"{status}: ")
        assert status in (consentry.cwd / file).read_text()


def test_json_is_the_verdict_and_nothing_around_it(consentry: CommandLine) -> None:
    """The very bytes that `--out` writes; keys in the order of the document (GUARD §verdict-1)."""
    name = given(consentry, BUNDLES["BLOCKED"])
    printed = consentry("guard", name, "--json").out
    both = consentry("guard", name, "--json", "--out", "kept.json").out
    assert printed == both == (consentry.cwd / "kept.json").read_text()
    assert list(json.loads(printed)) == [
        "schema_version",
        "status",
        "risk_band",
        "surface_before",
        "surface_after",
        "delta",
        "delta_dimensions",
        "reasons",
        "required_wish_fields_missing",
        "witnesses",
        "rungs",
    ]
    assert printed.isascii()
    assert consentry("--json", "guard", name).out == printed


def test_a_person_reads_what_where_why_and_what_would_allow_it(consentry: CommandLine) -> None:
    """Each power in words with its place, the rule, and a block to paste."""
    lines = "import requests\n\nrequests.get('https://api.example.org/v1')\nopen('/etc/passwd')"
    ended = consentry("guard", given(consentry, adding(lines)))
    assert (
        ended.out
        == """\
BLOCKED: a patch bundle (1 file)

gained, and not allowed (7)
  read `/etc/passwd`
    app.py:4: open(): /etc/passwd
  read by an absolute path
    app.py:4: open(): ABSOLUTE_PATH
  connect to hosts that are not named
    app.py:1: import requests
  connect to `api.example.org:443`
    app.py:3: requests.get(): api.example.org:443
  use tools of the kinds `filesystem`
    app.py:4: open(): filesystem
  use tools of the kinds `python`
    app.py:1: import requests: python
  use tools of the kinds `web`
    app.py:1: import requests: web

why: a protected root is reached that no wish names

this block in the wish would allow it
  under a protected root: /etc/passwd

allowed_capabilities:
  fs_read_roots: ["/etc/passwd"]
  net_access: ALLOWLIST
  tool_classes: ["filesystem", "python", "web"]
  allowlists:
    net_access: ["api.example.org:443"]
"""
    )


def test_the_block_that_is_printed_lets_the_change_pass(consentry: CommandLine) -> None:
    """Pasted into a wish as it is; what the wish said before stays in it."""
    lines = (
        "import os\nimport subprocess\nimport hashlib\n"
        "subprocess.run(['git', 'log'])\nopen('data/in file.csv')\nopen('out/x', 'w')\n"
        "os.environ['TOKEN']\nhashlib.md5(b'')\nopen('/srv/\"quoted\" é')"
    )
    name = given(consentry, adding(lines))
    wish = consentry.cwd / "wish.yaml"
    head = "wish_ir_version: '1'\nid: wish-mine\nscope: []\nnon_goals: []\n"
    wish.write_text(f"{head}allowed_capabilities: {{net_access: NONE, fs_read_roots: [docs]}}\n")
    first = consentry("guard", name, "--wish", "wish.yaml")
    assert first.status == 1
    block = first.out[first.out.index("allowed_capabilities:") :]
    assert "net_access: NONE" in block
    assert '"docs"' in block
    wish.write_text(head + block)
    second = consentry("guard", name, "--wish", "wish.yaml")
    assert second.status == 0, second.out
    assert second.out.splitlines()[2].startswith("gained, as the wish allows (")


def test_what_no_wish_can_allow_is_said_and_not_suggested(consentry: CommandLine) -> None:
    """Loading code beyond LIMITED has no line in the block."""
    ended = consentry("guard", given(consentry, adding("eval(input())")))
    assert "no wish can allow (1)\n  turn data into code at run time (app.py:1)\n" in ended.out
    assert "this block in the wish would allow the rest\n" in ended.out
    assert "dynamic_code_load:" not in ended.out


def test_the_answer_fits_a_page_and_the_rest_is_counted(consentry: CommandLine) -> None:
    """Some sixty lines, however many powers there are."""
    lines = "\n".join(f"open('data/file{number}.csv')" for number in range(200))
    ended = consentry("guard", given(consentry, adding(lines)))
    assert len(ended.out.splitlines()) <= 60
    assert "gained, and not allowed (202)" in ended.out
    assert "  and 190 more: --json lists them" in ended.out
    assert '"data/file199.csv"' in ended.out  # the block is whole all the same


def test_quiet_is_the_first_line_and_verbose_says_more_on_the_other_stream(
    consentry: CommandLine,
) -> None:
    """Files, witnesses and the time go to standard error; the answer stays as it is."""
    files = {"app.py": "import lib\n", "lib.py": "x = 1\n"}
    bundle = bundle_of(files, {**files, "app.py": "import lib\n\ntotal = 1\n"})
    name = given(consentry, bundle)
    assert consentry("guard", name, "-q").out == "PASS: a patch bundle (1 file)\n"
    plain, more = consentry("guard", name), consentry("guard", name, "--verbose")
    assert more.out == plain.out
    assert "touched app.py\nfollowed lib.py\n" in more.err
    assert "witness compute://cap_surface/extract_v1#sha256:" in more.err
    assert "files read, in " in more.err


def test_a_folder_gets_the_file_of_the_usual_name(consentry: CommandLine) -> None:
    """GUARD §out: `CAPABILITY_VERDICT.json`; the other formats have the same name before the dot."""
    name = given(consentry, BUNDLES["PASS"])
    (consentry.cwd / "results").mkdir()
    for words in ([], ["--sarif"], ["--html"]):
        assert consentry("guard", name, "--out", "results", *words).status == 0
    assert sorted(each.name for each in (consentry.cwd / "results").iterdir()) == [
        "CAPABILITY_VERDICT.html",
        "CAPABILITY_VERDICT.json",
        "CAPABILITY_VERDICT.sarif",
    ]


def test_a_verdict_takes_the_place_of_a_verdict_and_of_nothing_else(consentry: CommandLine) -> None:
    """An earlier verdict is replaced whole; another file, and what a link leads to, stay."""
    first = given(consentry, BUNDLES["BLOCKED"])
    second = given(consentry, BUNDLES["PASS"], "second.json")
    kept = consentry.cwd / "kept.json"
    assert consentry("guard", first, "--out", "kept.json").status == 1
    assert consentry("guard", second, "--out", "kept.json").status == 0
    assert json.loads(kept.read_text())["status"] == "PASS"
    assert [each.name for each in consentry.cwd.iterdir() if each.name.startswith(".kept")] == []
    other = consentry.cwd / "other.json"
    for content in ("", "{}", '{"schema_version": 1, "status": "PASS"}', "text"):
        other.write_text(content)
        assert_error(consentry("guard", second, "--out", "other.json"), Code.FILE_UNUSABLE)
        assert other.read_text() == content
    (consentry.cwd / "link.json").symlink_to("kept.json")
    before = kept.read_bytes()
    assert consentry("guard", first, "--out", "link.json").status == 2
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["--sarif", "--html"],
        ["--json", "--sarif"],
        ["--json", "--html"],
        ["HEAD", "--staged"],
        ["HEAD", "--bundle", "bundle.json"],
        ["--staged", "--bundle", "bundle.json"],
        ["--strict", "--no-strict"],
    ],
)
def test_options_that_contradict_each_other(consentry: CommandLine, words: list[str]) -> None:
    """One message, and nothing is examined."""
    given(consentry, BUNDLES["PASS"])
    ended = consentry("guard", *words)
    assert ended.status == 2
    assert "contradict each other" in ended.err + ended.out


@pytest.mark.parametrize("option", ["--wish", "--registry", "--recipe", "--replay"])
def test_a_malformed_document_is_status_3(consentry: CommandLine, option: str) -> None:
    """Nobody could tell what it was to allow: no verdict, on either stream."""
    name = given(consentry, BUNDLES["PASS"])
    for content in ("{", "[]", '{"wish": 1}', '{"schema_version": true, "status": "PASS"}'):
        (consentry.cwd / "bad.json").write_text(content)
        ended = consentry("guard", name, option, "bad.json")
        assert (ended.status, ended.out) == (3, "")
        assert ended.err.startswith("consentry: error[document-invalid]: ")
        assert json.loads(consentry("guard", name, option, "bad.json", "--json").out)["error"]
    assert consentry("guard", name, option, "missing.json").status == 2


def test_a_malformed_recipe_in_the_change_is_status_3(consentry: CommandLine) -> None:
    """As one that is named: it is a document, and not code."""
    bundle = bundle_of({}, {"x.recipe.json": '{"recipe_version": "2"}\n'})
    ended = consentry("guard", given(consentry, bundle))
    assert (ended.status, ended.out) == (3, "")


def test_a_bundle_that_cannot_be_read_is_unknown(consentry: CommandLine, tmp_path: Path) -> None:
    """GUARD §extract-closed: there, and no bundle. A name that leads nowhere is wrong usage."""
    (consentry.cwd / "bad.json").write_text("{")
    (tmp_path / "empty").mkdir()
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for name in ("bad.json", str(tmp_path / "empty"), str(pipe)):
        ended = consentry("guard", "--bundle", name, "--json")
        assert ended.status == 2
        found = json.loads(ended.out)
        assert found["status"] == "UNKNOWN"
        assert [each["tag"] for each in found["reasons"]] == ["insufficient_patch_data"]
    assert_error(consentry("guard", "--bundle", "nowhere"), Code.FILE_UNUSABLE)


def test_a_folder_is_a_bundle_by_its_parts(consentry: CommandLine) -> None:
    """With or without `--bundle`, with `touched_paths` alone as well: a diff that is missing is told."""
    bundle = BUNDLES["BLOCKED"]
    folder = consentry.cwd / "patch"
    for side in ("base", "after"):
        (folder / side).mkdir(parents=True)
        for path, content in bundle[side].items():
            (folder / side / path).write_text(content)
    (folder / "touched_paths").write_text("app.py\n")
    assert consentry("guard", "patch").out.startswith("UNKNOWN: a patch bundle (0 files)\n")
    (folder / "patch.diff").write_text(bundle["patch.diff"])
    as_json = consentry("guard", given(consentry, bundle), "--json").out
    for words in (["patch"], ["patch/"], ["--bundle", "patch"]):
        assert consentry("guard", *words, "--json").out == as_json


def test_names_and_targets_cannot_command_a_terminal_or_a_page(consentry: CommandLine) -> None:
    """Escapes, markup, direction marks and bytes that are no text are shown, and do nothing."""
    name = "a\x1b[31m<script>alert(1)<\u202ex\udcff\nBLOCKED: b.py"
    line = "open('/srv/\\x1b[2J<img src=x onerror=alert(1)>\\u202e')"
    raw = name.encode("utf-8", "surrogateescape")
    quoted = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in raw)
    bundle = {
        "patch.diff": f'--- /dev/null\n+++ "b/{quoted}"\n@@ -0,0 +1 @@\n+{line}\n',
        "touched_paths": [name],
        "after": {name: f"{line}\n"},
    }
    file = given(consentry, bundle)
    for words in FORMS:
        ended = consentry("guard", file, *words)
        assert ended.status == 1
        shown = ended.out + ended.err
        assert not {"\x1b", "\u202e", "\udcff"} & set(shown), words
        assert "<script" not in shown if "--html" in words else True
        assert "<img" not in shown if "--html" in words else True
        assert sum(each.startswith("BLOCKED") for each in shown.splitlines()) <= 1
    assert "a\\x{ff}" not in consentry("guard", file, "--json").out  # JSON has no escapes of ours
    log = json.loads(consentry("guard", file, "--sarif").out)
    places = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in log["runs"][0]["results"]
    ]
    assert all(each.isascii() and "%FF" in each and "<" not in each for each in places)


def test_a_wish_beside_an_empty_block_is_told_from_none(consentry: CommandLine) -> None:
    """GUARD §wish-2: what the block lacks is listed; a wish without a block lacks every field."""
    name = given(consentry, BUNDLES["BLOCKED"])
    (consentry.cwd / "w.json").write_text(json.dumps(wish_of(tool_classes=["python", "web"])))
    found = json.loads(consentry("guard", name, "--wish", "w.json", "--json").out)
    assert found["required_wish_fields_missing"] == ["allowed_capabilities.net_access"]
