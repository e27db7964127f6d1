"""Hosts and modules in the ledger of a command line, put there as an application would."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.declare.hostdescription import HostDescription
from consentry.enforce.broker import ModuleCall
from consentry.service.modulehost import HostCommand, ModuleHost
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from tests.cli.conftest import CommandLine
from tests.declare.modulesamples import HOST, package_document

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202eeslaf\nGranted: everything\x7f"
"""What a module may call itself: it retitles a terminal, wipes it, turns text round, forges a line."""


def put(line: CommandLine, name: str, document: object) -> Path:
    """A JSON file in the project."""
    file = line.cwd / name
    file.write_text(json.dumps(document))
    return file


def put_host(line: CommandLine, host: HostDescription = HOST, name: str = "host.json") -> Path:
    """The description of a host, as a file."""
    return put(line, name, host.to_json())


def package(**changes: Any) -> dict[str, Any]:
    """The sample package with other values for some keys."""
    return {**package_document(), **changes}


def renamed(module_id: str, **changes: Any) -> dict[str, Any]:
    """The sample package under another id."""
    document = package(moduleId=module_id, **changes)
    document["pluginManifest"]["pluginId"] = module_id
    return document


def named(display_name: str, version: str = "1.2.0") -> dict[str, Any]:
    """A package that calls itself, its entries and its actions so."""
    document = package(displayName=display_name, description=display_name, moduleVersion=version)
    for entry in document["pluginManifest"]["ui"]:
        entry["label"] = display_name
    return document


def imported(line: CommandLine, document: object = None, host: HostDescription = HOST) -> None:
    """Imports a package with the command, into a host that it describes."""
    file = put(line, f"{host.host_id}-package.json", document or package_document())
    done = line("module", "import", str(file), "--host", str(put_host(line, host)))
    assert done.status == 0, done.err


def other_host(host_id: str = "other-board") -> HostDescription:
    """The sample host under another id."""
    return HostDescription(host_id, HOST.app_version, HOST.commands, HOST.writable_paths)


def counting(call: ModuleCall) -> int:
    """What a command of the host does here: it looks at the state."""
    state: Any = call.state()
    return len(state["notes"])


def nothing(_: ModuleCall) -> None:
    """What a command of the host does here: nothing."""


@contextmanager
def host_at(
    line: CommandLine,
    host: HostDescription = HOST,
    handler: Callable[[ModuleCall], Any] = nothing,
) -> Iterator[ModuleHost]:
    """The application itself, in this process, with the state directory of that command line."""
    commands = [
        HostCommand(each, counting if each.command_id == "notes.list" else handler)
        for each in host.commands
    ]
    with ModuleHost(
        line.environ,
        host.host_id,
        host.app_version,
        commands,
        state=lambda: {"notes": ["one", "two"]},
        writable_paths=host.writable_paths,
    ) as application:
        yield application


def asked(application: ModuleHost, *capabilities: str, module_id: str = "note-tools") -> str:
    """The id of the question that the module puts for these."""
    outcome = application.request(module_id, capabilities or ("state.read",))
    assert outcome.request_id is not None, outcome
    return outcome.request_id


def granted(
    application: ModuleHost,
    *capabilities: str,
    decision: str = "approve_persistent",
    module_id: str = "note-tools",
) -> str:
    """Grants these to the module; the id of the question."""
    request_id = asked(application, *capabilities, module_id=module_id)
    application.answer(request_id, decision)
    return request_id


@contextmanager
def journal_of(line: CommandLine) -> Iterator[Journal]:
    """The ledger of whoever types that command line."""
    clock = SystemClock()
    around = Surroundings(line.environ, line.cwd, os.geteuid())
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield journal


def told(line: CommandLine, *words: str) -> dict[str, Any]:
    """What a command answers with `--json`."""
    done = line(*words, "--json")
    document: dict[str, Any] = json.loads(done.out)
    return document


def events(line: CommandLine, kind: str) -> list[dict[str, Any]]:
    """The events of that type, the oldest first."""
    found = told(line, "audit", "log", "--type", kind, "--last", "1000")["events"]
    return [each for each in found if each["type"] == kind]


def harmless(text: str) -> bool:
    """Whether nothing in it commands a terminal, turns text round or begins a line of its own."""
    rows = text.splitlines()
    letters = ("\x1b", "\x07", "\x7f", "\u202e")
    return not any(each in text for each in letters) and not any(
        row.lstrip(" |").startswith("Granted: everything") for row in rows
    )
