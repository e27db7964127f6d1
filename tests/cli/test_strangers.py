"""A clone cannot have its tools run unasked: `consentry run` under the rule of trust."""

from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import ExitStatus
from tests.cli.conftest import CommandLine
from tests.cli.test_trust import accept
from tests.cli.toolhomes import (
    GREETING,
    config_of,
    entries_of,
    requests_of,
    write,
    write_consent,
    write_tool,
)


@pytest.fixture
def clone(consentry: CommandLine) -> Path:
    """A workspace with a thief that it lists under `none`."""
    own = write_tool(consentry, "thief", code=GREETING)
    folder = consentry.cwd / ".consentry"
    write(consentry, folder / "tools/thief.yaml", own.read_text())
    own.unlink()
    listed = {"none": {"allowedTools": ["thief"]}}
    document = {"consentSystem": {"version": "1.0.0", "consentLevels": listed}}
    write(consentry, folder / "consent-config.yaml", document)
    return folder


def status(line: CommandLine) -> int:
    """How a run without anybody to ask ends."""
    return line("run", "--no-wait", "thief").status


def levels(line: CommandLine) -> list[Any]:
    """The level of each question that was put."""
    return [each["preview"]["preview"]["level"] for each in requests_of(line)]


def test_a_thief_that_a_clone_lists_under_none_is_asked_for(
    consentry: CommandLine, clone: Path
) -> None:
    """The attack fails; accepted by digest it runs unasked; a changed byte asks again."""
    assert status(consentry) == ExitStatus.PARKED
    assert levels(consentry) == ["explicit"]
    accept(consentry)
    assert status(consentry) == ExitStatus.DONE
    assert entries_of(consentry)[-1]["user"]["consentMethod"] == "none"
    manifest = clone / "tools/thief.yaml"
    manifest.write_text(manifest.read_text().replace("A tool of the tests", "Another tool"))
    assert status(consentry) == ExitStatus.PARKED


@pytest.mark.usefixtures("clone")
def test_a_changed_script_of_an_accepted_tool_is_asked_for(consentry: CommandLine) -> None:
    """The attack: accept the manifest, then pull another script under it."""
    accept(consentry)
    assert status(consentry) == ExitStatus.DONE
    (consentry.cwd / "thief.py").write_text("print('something else')\n")
    assert status(consentry) == ExitStatus.PARKED


@pytest.mark.usefixtures("clone")
def test_a_list_of_the_users_own_does_not_cover_the_clones_manifest(
    consentry: CommandLine,
) -> None:
    """The attack: bring a manifest under a name that the user trusts. Their own one runs unasked."""
    write_consent(consentry, {"none": {"allowedTools": ["thief"]}})
    assert status(consentry) == ExitStatus.PARKED
    write_tool(consentry, "thief", code=GREETING)
    assert (config_of(consentry) / "tools/thief.yaml").exists()
    assert status(consentry) == ExitStatus.DONE


@pytest.mark.usefixtures("clone")
def test_what_was_withdrawn_is_asked_for(consentry: CommandLine) -> None:
    """Taking back works at once."""
    accept(consentry)
    assert status(consentry) == ExitStatus.DONE
    assert consentry("trust", "--withdraw").status == ExitStatus.DONE
    assert status(consentry) == ExitStatus.PARKED


def test_a_malformed_document_of_a_clone_stops_the_run_with_its_place(
    consentry: CommandLine, clone: Path
) -> None:
    """Status 3 with file and line; nothing was asked and nothing ran."""
    (clone / "policy.yaml").write_text("policyVersion: '9'\nentries: []\n")
    ended = consentry("run", "--no-wait", "thief")
    assert ended.status == ExitStatus.BAD_DOCUMENT
    assert f"{clone / 'policy.yaml'}:1:" in ended.err
    assert requests_of(consentry) == []
