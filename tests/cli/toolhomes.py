"""Tools of whoever types the command: their own configuration, written for one test."""

import json
import os
from pathlib import Path
from typing import Any

from tests.cli.conftest import CommandLine
from tests.cli.execs import home_of

SCRIPT = "run.py"
GREETING = "print('hello from the tool')\n"


def config_of(line: CommandLine) -> Path:
    """The user's own configuration folder."""
    return home_of(line) / ".config/consentry"


def write(line: CommandLine, path: Path, document: object) -> Path:
    """A document, or a text as it is, as its owner has it."""
    text = document if isinstance(document, str) else json.dumps(document)
    made = [each for each in reversed(path.parents) if not each.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    owner = line.cwd.stat()
    for each in (*made, path):
        os.chown(each, owner.st_uid, owner.st_gid)
    return path


def write_tool(line: CommandLine, name: str, code: str = GREETING, **keys: Any) -> Path:
    """A tool that runs `<name>.py` of the project; keys of `capabilities` go there."""
    script = f"{name}.py"
    write(line, line.cwd / script, code)
    inside = ("fileRead", "fileWrite", "networkAccess", "environmentVariables")
    asked: dict[str, Any] = {
        "fileRead": [{"pattern": script, "purpose": "the tool itself"}],
        "processExecution": [
            {"command": "/usr/bin/python3", "arguments": [script], "purpose": "to run it"}
        ],
    }
    asked |= {key: keys.pop(key) for key in inside if key in keys}
    document = {
        "name": name,
        "description": "A tool of the tests",
        "version": "1.0.0",
        "capabilities": asked,
        "riskLevel": "low",
        **keys,
    }
    return write(line, config_of(line) / f"tools/{name}.yaml", {"tool": document})


def write_consent(line: CommandLine, levels: Any, **rest: Any) -> Path:
    """The user's own consent configuration."""
    document = {"consentSystem": {"version": "1.0.0", "consentLevels": levels, **rest}}
    return write(line, config_of(line) / "consent-config.yaml", document)


def events_of(line: CommandLine) -> list[dict[str, Any]]:
    """Everything on record, oldest first."""
    said = line("audit", "export")
    return [json.loads(each) for each in said.out.splitlines()]


def entries_of(line: CommandLine) -> list[dict[str, Any]]:
    """The audit entries, oldest first."""
    return [each["payload"] for each in events_of(line) if each.get("type") == "tool.audit"]


def requests_of(line: CommandLine) -> list[dict[str, Any]]:
    """The questions that were put, oldest first."""
    return [each["payload"] for each in events_of(line) if each.get("type") == "approval.requested"]
