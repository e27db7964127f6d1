"""Every key of a manifest and of a profile changes what `consentry run` does or says (CONSENT §config-2).

One tool reports what it could do; each row changes one key of its documents and nothing else, and one
observation is another one then. Keys of the consent configuration are in `test_consentkeys`.
"""

import copy
import json
import shutil
from typing import Any

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.toolhomes import config_of, entries_of, requests_of, write, write_consent

PROBE = """\
import json, os, pathlib, sys
def tried(what):
    try:
        return what()
    except OSError:
        return False
def children():
    made = 0
    for _ in range(20):
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            import time; time.sleep(30)
        made += 1
    return made
print(json.dumps({
    'words': sys.argv[1:],
    'read': tried(lambda: pathlib.Path('data/in.txt').read_text()),
    'write': tried(lambda: pathlib.Path('out/x.txt').write_text('made')),
    'big': tried(lambda: pathlib.Path('out/big.txt').write_bytes(b'x' * (3 << 20))),
    'colour': os.environ.get('COLOUR'),
    'font': tried(lambda: len(os.listdir('/opt')) >= 0),
    'children': children(),
}))
"""
MANIFEST: dict[str, Any] = {
    "name": "probe",
    "displayName": "The probe",
    "description": "Tries things",
    "version": "1.0.0",
    "capabilities": {
        "fileRead": [
            {"pattern": "probe.py", "purpose": "itself"},
            {"pattern": "data/**", "purpose": "its input"},
        ],
        "fileWrite": [{"pattern": "out/*.txt", "purpose": "its output"}],
        "processExecution": [
            {"command": "/usr/bin/python3", "arguments": ["probe.py"], "purpose": "to run it"}
        ],
        "networkAccess": False,
        "environmentVariables": {"read": ["COLOUR"], "write": []},
    },
    "riskLevel": "low",
    "sandboxRequirements": {
        "profile": "held",
        "isolateFileSystem": True,
        "restrictNetwork": True,
        "limitCPU": "50s",
        "limitMemory": "512MB",
        "allowedPaths": ["probe.py", "data/", "out/"],
    },
    "auditConfig": {"logLevel": "detailed", "retainLogs": "30d", "includeInReport": True},
}
SANDBOX: dict[str, Any] = {
    "engine": "auto",
    "fallbackEngine": "native",
    "profiles": {
        "held": {
            "capabilities": [{"cap_sys_admin": False}],
            "filesystem": {
                "readOnly": ["/opt", "${WORKSPACE}/probe.py", "${WORKSPACE}/data"],
                "readWrite": ["${WORKSPACE}/out"],
                "noAccess": ["/srv/closed"],
            },
            "network": {"enabled": False},
            "resources": {
                "maxCPU": 60,
                "maxMemory": "600M",
                "maxProcesses": 50,
                "maxFileSize": "100M",
            },
        }
    },
}
READS = "capabilities.fileRead.1"
WRITES = "capabilities.fileWrite.0"
STARTS = "capabilities.processExecution.0"
NEEDS = "sandboxRequirements"
FILES = "profiles.held.filesystem"
LIMITS = "profiles.held.resources"


def observed(line: CommandLine, manifest: Any, sandbox: Any, *, asks: bool) -> dict[str, Any]:
    """What a run did, or what is shown before one."""
    for name, text in (("probe.py", PROBE), ("data/in.txt", "in"), ("out/old.txt", "old")):
        write(line, line.cwd / name, text)
    write(line, config_of(line) / "tools/probe.yaml", {"tool": manifest})
    write(line, config_of(line) / "sandbox-config.yaml", {"sandboxConfig": sandbox})
    write_consent(line, {} if asks else {"none": {"allowedTools": ["probe"]}})
    ended = line("run", "--no-wait", "probe", COLOUR="green")
    found: dict[str, Any] = {"status": ended.status, "kept": (line.cwd / "out/x.txt").exists()}
    if asks:
        asked = requests_of(line)
        return found | (asked[-1]["preview"]["preview"] if asked else {})
    if ended.status == 0:
        found |= json.loads(ended.out)
        entry = entries_of(line)[-1]
        found["entry"] = entry
        found["controls"] = {
            each["control"]: each["mechanism"] for each in entry["sandbox"]["controls"]
        }
    return found


def put(document: Any, path: str, value: Any) -> Any:
    """The document with another value there."""
    changed = copy.deepcopy(document)
    at = changed
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        at = at[part]
    at[last] = value
    return changed


def seen(found: dict[str, Any], path: str) -> Any:
    """What was observed there; None where there is nothing."""
    at: Any = found
    for part in path.split("/"):
        if isinstance(at, list):
            at = at[int(part)] if int(part) < len(at) else None
        else:
            at = None if at is None else at.get(part)
    return at


DONE: list[tuple[str, Any, str, Any, Any]] = [
    ("version", "1.0.1", "entry/tool/version", "1.0.0", "1.0.1"),
    (f"{READS}.pattern", "out/*.txt", "read", "in", False),
    (f"{WRITES}.pattern", "out/*.csv", "kept", True, False),
    (f"{STARTS}.arguments", ["probe.py", "more"], "words", [], ["more"]),
    (f"{STARTS}.command", "/usr/bin/false", "status", 0, 1),
    ("capabilities.environmentVariables.read", [], "colour", "green", None),
    ("riskLevel", "medium", "status", 0, 75),
    ("consentLevel", "explicit", "status", 0, 75),
    (f"{NEEDS}.profile", "other", "status", 0, 2),
    (f"{NEEDS}.limitCPU", "40s", "controls/cpu", "cgroup-v1: 50", "cgroup-v1: 40"),
    (f"{NEEDS}.allowedPaths", ["probe.py", "data/sub/", "out/"], "read", "in", False),
    ("auditConfig.logLevel", "minimal", "entry/impact/filesRead/0/path", "probe.py", None),
    ("auditConfig.retainLogs", "7d", "entry/tool/auditConfig/retainLogs", "30d", "7d"),
    ("auditConfig.includeInReport", False, "entry/tool/auditConfig/includeInReport", True, False),
]
HELD: list[tuple[str, Any, str, Any, Any]] = [
    ("engine", "firejail", "status", 0, 126),
    (f"{FILES}.readOnly", ["${WORKSPACE}/probe.py", "${WORKSPACE}/data"], "font", True, False),
    (f"{FILES}.readWrite", [], "write", 4, False),
    (f"{FILES}.noAccess", ["${WORKSPACE}/data/in.txt"], "read", "in", False),
    (f"{LIMITS}.maxProcesses", 10, "children", 20, 9),
    (f"{LIMITS}.maxFileSize", "1M", "big", 3 << 20, False),
    ("profiles.held.capabilities", [{"cap_sys_admin": True}], "status", 0, 3),
]
SHOWN: list[tuple[str, Any, str, Any, Any]] = [
    ("displayName", "Another", "displayName", "The probe", "Another"),
    ("description", "Tries more", "description", "Tries things", "Tries more"),
    ("riskLevel", "high", "risk", "low", "high"),
    ("riskLevel", "high", "level", "explicit", "strict"),
    (f"{READS}.purpose", "other", "read/1/purpose", "its input", "other"),
    (f"{WRITES}.purpose", "other", "write/0/purpose", "its output", "other"),
    (f"{STARTS}.purpose", "other", "commands/0/purpose", "to run it", "other"),
    ("capabilities.environmentVariables.write", ["B"], "environmentWrite", [], ["B"]),
    (f"{NEEDS}.limitMemory", "256MB", "limits/memory", "512MB", "256MB"),
    (f"{NEEDS}.limitCPU", "40s", "limits/cpu", "50s", "40s"),
]
SHOWN_HELD: list[tuple[str, Any, str, Any, Any]] = [
    (f"{FILES}.noAccess", ["/srv/other"], "closed", ["/srv/closed/"], ["/srv/other/"]),
    (f"{LIMITS}.maxCPU", 30, "limits/cpu", "50s", "30s"),
    (f"{LIMITS}.maxMemory", "300M", "limits/memory", "512MB", "300MB"),
    (f"{LIMITS}.maxFileSize", "1M", "limits/fileSize", "100MB", "1MB"),
    (f"{LIMITS}.maxProcesses", 10, "limits/processes", 50, 10),
]


def _rows() -> list[Any]:
    tables = {
        ("manifest", False): DONE,
        ("profile", False): HELD,
        ("manifest", True): SHOWN,
        ("profile", True): SHOWN_HELD,
    }
    return [
        pytest.param(which, asks, *row, id=f"{which} {row[0]} {row[2]}")
        for (which, asks), rows in tables.items()
        for row in rows
    ]


@pytest.mark.parametrize("asks", [False, True], ids=["does", "says"])
def test_before_any_key_is_changed(consentry: CommandLine, *, asks: bool) -> None:
    """What the rows below change is there first, from one pair of documents."""
    found = observed(consentry, MANIFEST, SANDBOX, asks=asks)
    rows = [*SHOWN, *SHOWN_HELD] if asks else [*DONE, *HELD]
    assert {row[2]: seen(found, row[2]) for row in rows} == {row[2]: row[3] for row in rows}


@pytest.mark.parametrize(("which", "asks", "key", "value", "what", "before", "after"), _rows())
def test_changing_a_key_changes_the_run(
    *,
    consentry: CommandLine,
    which: str,
    asks: bool,
    key: str,
    value: Any,
    what: str,
    before: Any,
    after: Any,
) -> None:
    """Nothing but that key is another, and what is observed is."""
    manifest = put(MANIFEST, key, value) if which == "manifest" else MANIFEST
    sandbox = put(SANDBOX, key, value) if which == "profile" else SANDBOX
    found = observed(consentry, manifest, sandbox, asks=asks)
    assert seen(found, what) == after != before, found


@pytest.mark.parametrize(
    ("asked", "is_restricted", "profile", "power"),
    [
        (False, True, {"enabled": True}, "NONE"),
        (["example.org:443"], True, {"enabled": True}, "ALLOWLIST"),
        (["example.org:443"], True, {"enabled": False}, "NONE"),
        (True, True, {"enabled": True}, "NONE"),
        (True, False, {"enabled": True}, "ANY"),
        (True, False, {"enabled": False}, "NONE"),
    ],
)
def test_the_keys_of_the_network_open_it_only_together(
    *, consentry: CommandLine, asked: Any, is_restricted: bool, profile: Any, power: str
) -> None:
    """`networkAccess`, `restrictNetwork` and the profile's `network`: each takes away alone."""
    manifest = put(MANIFEST, "capabilities.networkAccess", asked)
    manifest = put(manifest, f"{NEEDS}.restrictNetwork", is_restricted)
    sandbox = put(SANDBOX, "profiles.held.network", profile)
    shown = observed(consentry, manifest, sandbox, asks=True)
    assert seen(shown, "surface/net_access") == power, shown


def test_a_file_system_of_its_own(consentry: CommandLine) -> None:
    """`isolateFileSystem`: without it, and without a profile that says more, the host's is in view."""
    needs = {key: value for key, value in MANIFEST[NEEDS].items() if key != "profile"}
    views = []
    for is_isolated in (True, False):
        manifest = put(MANIFEST, NEEDS, {**needs, "isolateFileSystem": is_isolated})
        views.append(observed(consentry, manifest, SANDBOX, asks=True)["view"])
    assert views == ["private", "visible"]


@pytest.mark.skipif(shutil.which("nsjail") is not None, reason="nsjail is here, so none is missing")
def test_another_engine_is_taken_where_the_named_one_is_missing(consentry: CommandLine) -> None:
    """`fallbackEngine`: with it the tool runs, without it nothing does."""
    named = put(SANDBOX, "engine", "nsjail")
    without = {key: value for key, value in named.items() if key != "fallbackEngine"}
    assert observed(consentry, MANIFEST, without, asks=False)["status"] == 126
    assert (
        observed(consentry, MANIFEST, named, asks=False)["entry"]["sandbox"]["engine"] == "native"
    )
