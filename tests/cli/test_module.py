"""`consentry module import`, `list`, `show`, `catalog`, `hosts` and `remove`, in real processes."""

import json
import subprocess
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.declare.modulepackage import MOST_BYTES
from consentry.surface.catalog import capability_catalog
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import (
    HOSTILE,
    events,
    granted,
    harmless,
    host_at,
    imported,
    named,
    other_host,
    package,
    put,
    put_host,
    renamed,
    told,
)
from tests.cli.terminals import at_terminal
from tests.declare.modulesamples import HOST, package_bytes

pytestmark = pytest.mark.timeout(180)


def test_the_catalog_is_shown_with_scope_and_hard_limits(consentry: CommandLine) -> None:
    """MODULES §catalog-1, AC-1: six ids, each with what it opens and never does; denied by default."""
    catalog = capability_catalog()
    shown = " ".join(consentry("module", "catalog").out.split())
    assert len(catalog.entries) == 6
    for entry in catalog.entries:
        assert f"{entry.capability_id} scope {entry.scope} limit" in shown
        assert all(f"limit {limit}" in shown for limit in entry.limits)
    assert f"version {catalog.version}; denied unless granted" in shown
    document = told(consentry, "module", "catalog")
    assert document["kind"] == "module-catalog"
    assert document["capabilityCatalogVersion"] == catalog.version
    assert [each["capabilityId"] for each in document["capabilities"]] == consentry(
        "module", "catalog", "--quiet"
    ).out.split()


def test_a_package_is_imported_into_the_only_host(line: CommandLine) -> None:
    """MODULES AC-1: with the envelope; as any user; nothing that it asks for is granted by that."""
    put_host(line)
    put(line, "module.json", package())
    assert line("module", "hosts", "--register", "host.json").status == 0
    document = told(line, "module", "import", "module.json")
    assert document == {
        "schema_version": 1,
        "kind": "module-import",
        "ok": True,
        "code": "imported",
        "moduleId": "note-tools",
        "moduleVersion": "1.2.0",
        "replaced": False,
    }
    again = line("module", "import", "module.json")
    assert again.status == 0
    assert "imported note-tools 1.2.0 into note-board, in place of what was registered" in again.out
    assert "nothing of that is granted" in again.out
    (listed,) = told(line, "module", "list")["modules"]
    assert {each["state"] for each in listed["capabilities"]} == {"not-granted"}
    assert "not granted" in line("module", "list").out
    assert line("module", "list", "--quiet").out == "note-tools\n"


def test_a_package_comes_from_standard_input(consentry: CommandLine) -> None:
    """`-` stands for it, of the package or of the graph, and not of both."""
    file = put_host(consentry)
    words = [*consentry.program, "module", "import", "-", "--host", str(file)]
    done = subprocess.run(
        words,
        input=package_bytes(),
        cwd=consentry.cwd,
        env=consentry.environ,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert_error(consentry("module", "import", "-", "--graph", "-"), Code.USAGE)


def test_a_rejected_package_has_its_code_place_and_what_to_do(consentry: CommandLine) -> None:
    """CONTRACTS §1-envelope: status 3, the same code and path as text and as JSON; none is registered."""
    host = put_host(consentry)
    put(consentry, "bad.json", package(capabilitiesRequested=["state.read", "state.*"]))
    ended = consentry("module", "import", "bad.json", "--host", str(host))
    assert_error(ended, Code.MODULE_REJECTED)
    assert "bad.json `package.capabilitiesRequested[1]`: capability-unknown-id: " in ended.err
    assert "help: `consentry module catalog` lists the capabilities" in ended.err
    again = consentry("module", "import", "bad.json", "--json")
    assert again.status == 3
    document = json.loads(again.out)
    assert {name: document[name] for name in ("kind", "ok", "code", "path")} == {
        "kind": "module-import",
        "ok": False,
        "code": "capability-unknown-id",
        "path": "package.capabilitiesRequested[1]",
    }
    assert told(consentry, "module", "list")["modules"] == []
    assert len(events(consentry, "module.import.rejected")) == 2


def test_check_registers_and_records_nothing(consentry: CommandLine) -> None:
    """Right or wrong: no ledger comes to be, and where there is one nothing is added to it."""
    host = str(put_host(consentry))
    put(consentry, "good.json", package())
    put(consentry, "bad.json", package(displayName=" "))
    good = told(consentry, "module", "import", "good.json", "--check", "--host", host)
    assert (good["kind"], good["ok"], good["replaces"]) == ("module-check", True, None)
    bad = consentry("module", "import", "bad.json", "--check", "--host", host)
    assert_error(bad, Code.MODULE_REJECTED)
    document = told(consentry, "module", "import", "bad.json", "--check", "--host", host)
    assert (document["code"], document["path"]) == ("invalid-display-name", "package.displayName")
    assert not (Path(consentry.environ["HOME"]) / ".local/state").exists()
    imported(consentry)
    before = told(consentry, "audit", "verify")["events"]
    put(consentry, "new.json", package(moduleVersion="1.3.0"))
    assert "in place of 1.2.0" in consentry("module", "import", "new.json", "--check").out
    assert consentry("module", "import", "bad.json", "--check").status == 3
    assert told(consentry, "audit", "verify")["events"] == before
    assert told(consentry, "module", "show", "note-tools")["module"]["moduleVersion"] == "1.2.0"


def test_files_that_cannot_be_a_package(consentry: CommandLine) -> None:
    """Missing, a folder, larger than is read, or no text: one answer each, in bounds, none registered."""
    host = str(put_host(consentry))
    (consentry.cwd / "folder").mkdir()
    for name in ("missing.json", "folder"):
        assert_error(consentry("module", "import", name, "--host", host), Code.FILE_UNUSABLE)
    assert_error(consentry("module", "import", "x.json", "--host", "no.json"), Code.FILE_UNUSABLE)
    with (consentry.cwd / "large.json").open("wb") as large:
        large.truncate(50 << 20)
    (consentry.cwd / "no-text.json").write_bytes(b'{"moduleId": "\xff\xfe"}')
    (consentry.cwd / "deep.json").write_bytes(b"[" * 10_000 + b"]" * 10_000)
    (consentry.cwd / "full.json").write_bytes(b" " * (MOST_BYTES + 1))
    for name in ("large.json", "no-text.json", "deep.json", "full.json"):
        document = told(consentry, "module", "import", name, "--host", host)
        assert (document["code"], document["path"]) == ("invalid-package-root", "package")
    assert told(consentry, "module", "list")["modules"] == []


def test_the_host_is_never_guessed(consentry: CommandLine) -> None:
    """None known, an unknown one, several and none named: `host-unknown`, with what to do; status 2."""
    put(consentry, "module.json", package())
    none = consentry("module", "import", "module.json")
    assert_error(none, Code.HOST_UNKNOWN)
    assert "name the file that describes it" in none.err
    for host in (HOST, other_host()):
        put_host(consentry, host)
        assert consentry("module", "hosts", "--register", "host.json").status == 0
    unknown = consentry("module", "import", "module.json", "--host", "nobody")
    assert_error(unknown, Code.HOST_UNKNOWN)
    assert "known are: note-board, other-board" in unknown.err
    several = consentry("module", "import", "module.json")
    assert_error(several, Code.HOST_UNKNOWN)
    assert "--host with one of: note-board, other-board" in several.err
    assert consentry("module", "import", "module.json", "--host", "other-board").status == 0


def test_a_module_of_several_hosts_has_to_be_named_with_its_host(consentry: CommandLine) -> None:
    """And one that no host has is unknown, also where nothing was ever recorded."""
    assert_error(consentry("module", "show", "note-tools"), Code.MODULE_UNKNOWN)
    assert_error(consentry("module", "list", "--host", "note-board"), Code.HOST_UNKNOWN)
    imported(consentry)
    imported(consentry, host=other_host())
    for words in (("show",), ("graph",), ("remove", "--yes")):
        ended = consentry("module", *words, "note-tools")
        assert_error(ended, Code.HOST_UNKNOWN)
        assert "note-board, other-board" in ended.err
    shown = told(consentry, "module", "show", "note-tools", "--host", "other-board")
    assert shown["module"]["hostId"] == "other-board"
    assert_error(consentry("module", "show", "nobody"), Code.MODULE_UNKNOWN)
    only = told(consentry, "module", "list", "--host", "note-board")["modules"]
    assert [each["hostId"] for each in only] == ["note-board"]


def test_a_list_tells_how_each_capability_stands(consentry: CommandLine) -> None:
    """MODULES §deny-1: granted, for a session, stale and not granted, side by side."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "state.read")
        granted(application, "ui.slot.render", decision="approve_session")
        rows = consentry("module", "list").out.splitlines()
        assert rows[0] == "note-tools 1.2.0 in note-board"
        assert rows[1].split() == ["granted", "state.read"]
        assert rows[2].split() == ["for", "a", "session", "ui.slot.render"]
        assert rows[3].startswith("  not granted")
    states = _states(consentry)
    assert states["state.read"] == "granted"
    assert states["ui.slot.render"] == "stale"  # its session is over
    with host_at(consentry) as application:
        application.import_module(package(moduleVersion="2.0.0"))
    states = _states(consentry)
    assert (states["state.read"], states["state.write.tx"]) == ("stale", "not-granted")


def _states(line: CommandLine) -> dict[str, str]:
    (listed,) = told(line, "module", "list")["modules"]
    return {each["capabilityId"]: each["state"] for each in listed["capabilities"]}


def test_a_session_that_was_cut_off_grants_nothing(consentry: CommandLine) -> None:
    """A host that was killed has ended no session; looking tells it is over, and changes nothing."""
    script = (
        "import os, sys\n"
        "from tests.cli.moduleplaces import *\n"
        "line = CommandLine(Path(sys.argv[1]), dict(os.environ))\n"
        "with host_at(line) as application:\n"
        "    application.import_module(package())\n"
        "    granted(application, 'state.read', decision='approve_session')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    repository = str(Path(__file__).parents[2])
    done = subprocess.run(
        [consentry.program[0], "-c", script, str(consentry.cwd)],
        env={**consentry.environ, "PYTHONPATH": repository},
        check=False,
    )
    assert done.returncode == -9
    before = told(consentry, "audit", "verify")["events"]
    assert _states(consentry)["state.read"] == "not-granted"
    assert told(consentry, "grants", "list")["grants"] == []
    (over,) = told(consentry, "grants", "list", "--all")["grants"]
    assert over["state"] == "session-over"
    assert told(consentry, "audit", "verify")["events"] == before
    assert consentry("session", "list").status == 0  # whoever looks there ends it
    assert _states(consentry)["state.read"] == "stale"


def test_a_module_that_does_not_fit_any_more_is_told(consentry: CommandLine) -> None:
    """Its host has other commands by now: listed and shown with why, and not drawn."""
    imported(consentry)
    fewer = {**HOST.to_json(), "commands": [HOST.commands[0].to_json()]}
    put(consentry, "host.json", fewer)
    assert consentry("module", "hosts", "--register", "host.json").status == 0
    (listed,) = told(consentry, "module", "list")["modules"]
    assert "is not a command" in listed["problem"] or "notes." in listed["problem"]
    assert "does not fit" in consentry("module", "list").out
    shown = consentry("module", "show", "note-tools")
    assert (shown.status, "does not fit" in shown.out) == (0, True)
    assert_error(consentry("module", "graph", "note-tools"), Code.MODULE_UNKNOWN)


def test_show_has_everything_of_a_module(consentry: CommandLine) -> None:
    """Entries, bindings, actions, capabilities with scope, limits and grants, storage, digest, import."""
    with host_at(consentry, handler=lambda call: call.storage.put("view", "all")) as application:
        application.import_module(package())
        granted(application, "module.storage.local")
        assert application.invoke("note-tools", "b-views").ok
    text = consentry("module", "show", "note-tools").out
    for said in (
        "note-tools 1.2.0 in note-board 2.4.0",
        "calls itself “Note tools”",
        "imported ",
        "keeps        1 key, ",
        "module.storage.local  granted",
        "limit  nothing executable",
        "given  persistent, ",
        "panel in left-panel, calls nothing: “board”, labelled “Board”",
        "calls notes.add: “b-add” of “add”",
        "x-colour",
    ):
        assert said in text, said
    document = told(consentry, "module", "show", "note-tools")
    module = document["module"]
    assert f"digest       {module['packageDigest']}" in text
    assert document["storage"]["keys"] == 1
    assert document["package"] == package()
    assert document["graph"]["actions"][0]["id"] == "b-list"
    assert consentry("module", "show", "note-tools", "--quiet").out == "1.2.0\n"


def test_hostile_names_are_shown_as_what_they_are(consentry: CommandLine) -> None:
    """ANSI, bidi and line feeds in every text of a module: no list, page or picture lets one act."""
    imported(consentry, named(HOSTILE))
    document = renamed("other-tools", displayName="x" * 100_000)
    document["commandBindings"][0]["bindingId"] = f"b{HOSTILE}"
    imported(consentry, document)
    for words in (
        ("list",),
        ("show", "note-tools"),
        ("show", "other-tools"),
        ("graph", "note-tools"),
        ("graph", "other-tools"),
        ("graph", "note-tools", "--svg"),
        ("graph", "other-tools", "--planner"),
        ("hosts",),
    ):
        for more in ((), ("--quiet",), ("--json",)):
            if more == ("--json",) and "--svg" in words:
                continue
            done = consentry("module", *words, *more)
            assert done.status == 0, done.err
            assert harmless(done.out), words
    assert "\\u{1b}" in consentry("module", "show", "note-tools").out
    assert max(map(len, consentry("module", "show", "other-tools").out.splitlines())) < 120


def test_hosts_are_listed_with_their_commands(consentry: CommandLine) -> None:
    """Known from a file or from their first start; a description that is wrong is refused with places."""
    assert consentry("module", "hosts").status == 0
    put_host(consentry)
    first = told(consentry, "module", "hosts", "--register", "host.json")
    assert (first["kind"], first["new"]) == ("module-host", True)
    assert told(consentry, "module", "hosts", "--register", "host.json")["new"] is False
    text = consentry("module", "hosts", COLUMNS="100").out
    assert "note-board 2.4.0, 5 commands" in text
    assert "notes.remove  changes the document; asks (hard): “takes a note off the board”" in text
    assert told(consentry, "module", "hosts")["hosts"][0]["hostId"] == "note-board"
    assert consentry("module", "hosts", "--quiet").out == "note-board\n"
    put(consentry, "host.json", {"hostVersion": 1, "hostId": "x", "commands": {}})
    wrong = consentry("module", "hosts", "--register", "host.json")
    assert (wrong.status, "host.json:1:" in wrong.err) == (3, True)
    assert_error(consentry("module", "hosts", "--register", "gone.json"), Code.FILE_UNUSABLE)


def test_removing_shows_what_goes_and_asks_for_a_typed_yes(consentry: CommandLine) -> None:
    """Grants and stored keys go with it; a no, or no terminal, removes nothing."""
    with host_at(consentry, handler=lambda call: call.storage.put("view", "all")) as application:
        application.import_module(package())
        granted(application, "module.storage.local")
        assert application.invoke("note-tools", "b-views").ok
    with at_terminal(consentry, "module", "remove", "note-tools", size=(100, 40)) as terminal:
        shown = terminal.see("d deny")
        assert "remove note-tools 1.2.0 from note-board?" in shown
        assert "module.storage.local, persistent, grant-" in shown
        assert "1 key that it stored" in shown
        terminal.answer("", "d")
        assert terminal.ended() == 126, terminal.screen
    assert consentry("module", "list", "--quiet").out == "note-tools\n"
    with at_terminal(consentry, "module", "remove", "note-tools", size=(100, 40)) as terminal:
        terminal.answer("d deny", "a")
        terminal.answer("type remove to approve", "remove")
        assert terminal.ended() == 0, terminal.screen
    assert "with 1 grant and 1 stored key" in terminal.screen
    assert consentry("module", "list", "--quiet").out == ""
    (event,) = events(consentry, "module.removed")
    assert (event["payload"]["grants"], event["payload"]["storedKeys"]) == (1, 1)


def test_removing_for_a_script(consentry: CommandLine) -> None:
    """`--yes` asks nobody; what was removed is told; a second time there is nothing."""
    imported(consentry)
    document = told(consentry, "module", "remove", "note-tools", "--yes")
    assert document["kind"] == "module-remove"
    assert (document["grants"], document["module"]["moduleId"]) == (0, "note-tools")
    assert_error(consentry("module", "remove", "note-tools", "--yes"), Code.MODULE_UNKNOWN)


def test_the_group_itself_is_no_command(consentry: CommandLine) -> None:
    """A script that lost its command word must not read success."""
    assert consentry("module").status == 2
    assert_error(consentry("module", "lst"), Code.USAGE)
