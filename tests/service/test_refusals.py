"""What is refused before there is a permit is on record (CONSENT §audit-1, §audit-4)."""

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.enforce.confinement import Limits
from consentry.enforce.engines.native import Io
from consentry.record.events import EventType
from consentry.service.audit import whole_event
from consentry.service.calloptions import CodeOptions, ExecOptions
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.ledgers import ledger_for_reading
from consentry.service.library import Library
from consentry.service.snippetruns import CodeWish, carry_out_code
from consentry.service.surroundings import Surroundings
from consentry.surface.permission_sets import PermissionSet
from tests.service.conftest import MakeAround

PATH = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def here(around: MakeAround) -> Surroundings:
    """The project, with programs to be found."""
    return around(environ=PATH)


def _entries(here: Surroundings) -> list[dict[str, Any]]:
    history = ledger_for_reading(here)
    if history is None:
        return []
    with closing(history.database):
        events = [dict(whole_event(row)) for row in history.events()]
    assert EventType.PERMIT_MADE.value not in {each["type"] for each in events}
    return [each["payload"] for each in events if each["type"] == EventType.TOOL_AUDIT.value]


@pytest.mark.parametrize(
    ("wish", "code", "profile"),
    [
        ({"permission_set": PermissionSet.TRUSTED}, Code.NOT_ENFORCEABLE, "set:trusted"),
        ({"read": ("/etc/shadow",)}, Code.PROTECTED_ROOT, "command line"),
        ({"limits": Limits(memory_bytes=1)}, Code.NOT_ENFORCEABLE, "command line"),
    ],
)
def test_a_refused_line_is_on_record(
    here: Surroundings, wish: dict[str, Any], code: Code, profile: str
) -> None:
    """Who asked for what, that it was not given, by which method, and why; no time, no exit code."""
    with pytest.raises(ConsentryError) as raised:
        carry_out(RunWish(("true", "a"), **wish), here, Io())
    assert raised.value.code is code
    [entry] = _entries(here)
    assert entry["tool"]["arguments"] == ["true", "a"]
    user = entry["user"]
    assert (user["consentGiven"], user["consentTimestamp"]) == (False, None)
    assert user["consentMethod"] == "command_line"
    execution = entry["execution"]
    assert (execution["status"], execution["startTime"], execution["exitCode"]) == (
        "denied",
        None,
        None,
    )
    assert execution["problem"] == {"code": code.value, "message": raised.value.message}
    assert entry["sandbox"]["profile"] == profile


def test_a_line_that_was_not_understood_is_not(here: Surroundings, project: Path) -> None:
    """A typo is no decision."""
    for wish in (RunWish(("nowhere-to-be-found",)), RunWish(("true",), read=("nowhere",))):
        with pytest.raises(ConsentryError):
            carry_out(wish, here, Io())
    with pytest.raises(ConsentryError):
        carry_out(RunWish(("true",)), here, Io(), workspace=str(project / "nowhere"))
    assert _entries(here) == []


def test_a_refused_snippet_is_on_record(here: Surroundings) -> None:
    """As a program is."""
    wish = CodeWish(b"1", "snippet.py", permission_set=PermissionSet.TRUSTED)
    with pytest.raises(ConsentryError):
        carry_out_code(wish, here, Io())
    [entry] = _entries(here)
    assert (entry["tool"]["name"], entry["execution"]["status"]) == ("snippet.py", "denied")


def test_a_refused_call_of_the_library_is_on_record(here: Surroundings) -> None:
    """By the session of the program that called."""
    with closing(Library()) as library:
        for does in (
            lambda: library.exec(["true"], here, ExecOptions(read=["/etc/shadow"])),
            lambda: library.run_code("1", here, CodeOptions(read=["/etc/shadow"])),
        ):
            with pytest.raises(ConsentryError) as raised:
                does()
            assert raised.value.code is Code.PROTECTED_ROOT
    assert [each["context"]["triggeredBy"] for each in _entries(here)] == ["api", "api"]


def test_a_profile_that_no_engine_holds_is_on_record(here: Surroundings, project: Path) -> None:
    """By its name; a daemon that is nowhere runs nothing, and snippets run in none."""
    here = replace(here, environ={**here.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock"})
    file = project / "box.yaml"
    file.write_text("sandboxConfig:\n  engine: docker\n  profiles:\n    tight: {}\n")
    with closing(Library()) as library:
        for does in (
            lambda: library.exec(["true"], here, ExecOptions(profile=str(file))),
            lambda: library.run_code("1", here, CodeOptions(profile=str(file))),
        ):
            with pytest.raises(ConsentryError) as raised:
                does()
            assert raised.value.code is Code.NOT_ENFORCEABLE
    entries = _entries(here)
    assert [each["tool"]["name"] for each in entries] == ["true", "snippet.py"]
    assert {each["sandbox"]["profile"] for each in entries} == {"profile:tight"}


@pytest.mark.skipif(os.getuid() == 0, reason="root can write everywhere")
def test_where_the_ledger_cannot_be_written_the_refusal_is_still_told(
    around: MakeAround, home: Path
) -> None:
    """Nothing ran, and the reason is the same."""
    home.chmod(0o500)
    try:
        with pytest.raises(ConsentryError) as raised:
            carry_out(RunWish(("true",), read=("/etc/shadow",)), around(environ=PATH), Io())
    finally:
        home.chmod(0o700)
    assert raised.value.code is Code.PROTECTED_ROOT
