"""A tool that is remembered is what it would be if it were made ready anew, whatever changed since."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.acceptance import AsIfAccepted
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome
from consentry.service.approvals import Desk
from consentry.service.consenting import consents_of
from consentry.service.enginechoice import engine_desk
from consentry.service.identity import local_user
from consentry.service.kepttools import KeptTools
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from consentry.service.toolcalls import ReadyTool, ToolCall, acceptances_of, ready_tool
from consentry.service.tooldecisions import Parked
from consentry.service.toolruns import ToolWish
from consentry.store.journal import Journal
from tests.service.configuring import levels_text, load
from tests.service.conftest import MakeAround

CALL = ToolCall("tool")
THEIRS = ToolCall("theirs")


def manifest(name: str, command: str, **keys: Any) -> str:
    """A tool that starts one program, which reads what lies in `data`."""
    document = {
        "name": name,
        "description": "A tool of the tests",
        "version": "1.0.0",
        "capabilities": {
            "processExecution": [{"command": command, "arguments": ["data"], "purpose": "run"}],
            "fileRead": [{"pattern": "data", "purpose": "what it reads"}],
        },
        "riskLevel": "low",
        **keys,
    }
    return json.dumps({"tool": document})


@dataclass(frozen=True, slots=True)
class Setting:
    """A user's own configuration, a workspace with one of its own, and two folders of programs."""

    around: Surroundings
    own: Path
    project: Path
    early: Path
    late: Path
    journal: Journal

    @property
    def theirs(self) -> Path:
        """The workspace's configuration."""
        return self.project / ".consentry"

    def accept(self) -> None:
        """The user accepts the workspace's documents as they are now."""
        by = local_user(self.around, self.journal.machine_id)
        files = load(self.around, AsIfAccepted()).strangers
        acceptances_of(self.journal).accept(str(self.project), files, by)

    def withdraw(self) -> None:
        """And takes it back."""
        by = local_user(self.around, self.journal.machine_id)
        acceptances_of(self.journal).withdraw(str(self.project), by)


def script(path: Path, says: str = "hello") -> None:
    """A program that says something."""
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)


@pytest.fixture
def library() -> Iterator[Library]:
    """One library, closed when the test is over."""
    with closing(Library()) as opened:
        yield opened


@pytest.fixture
def setting(
    around: MakeAround, project: Path, home: Path, tmp_path: Path, library: Library
) -> Setting:
    """`tool` is the user's own, `theirs` the workspace's; programs of both are found in a late folder."""
    early, late = tmp_path / "programs/early", tmp_path / "programs/late"
    own, theirs = home / ".config/consentry", project / ".consentry"
    for folder in (early, late, own / "tools", theirs / "tools"):
        folder.mkdir(parents=True)
    script(late / "program")
    script(project / "inside.sh")
    (project / "data").write_text("data\n")
    (own / "tools/tool.yaml").write_text(manifest("tool", "program"))
    (own / "consent-config.yaml").write_text(levels_text(none="{allowedTools: [tool, theirs]}"))
    (theirs / "tools/theirs.yaml").write_text(manifest("theirs", "./inside.sh"))
    (theirs / "consent-config.yaml").write_text(levels_text(explicit="{allowedTools: [other]}"))
    environ = {"PATH": f"{early}:{late}:/usr/bin:/bin"}
    here = around(environ=environ)
    return Setting(here, own, project, early, late, library.journal(here))


def _rewritten(path: str, text: str) -> Callable[[Setting], None]:
    def change(here: Setting) -> None:
        file = Path(
            path.format(
                own=here.own,
                theirs=here.theirs,
                project=here.project,
                late=here.late,
                early=here.early,
            )
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if file.parent in (here.early, here.late) or file.suffix == ".sh":
            file.chmod(0o755)

    return change


def _gone(path: str) -> Callable[[Setting], None]:
    def change(here: Setting) -> None:
        Path(
            path.format(own=here.own, theirs=here.theirs, project=here.project, late=here.late)
        ).unlink()

    return change


SANDBOX = json.dumps(
    {"sandboxConfig": {"profiles": {"narrow": {"filesystem": {"readOnly": ["./"]}}}}}
)
INDEX = json.dumps({"toolManifest": {"tools": []}})


def marker_above(here: Setting) -> None:
    """Nothing changes: the nearest marker decides."""
    (here.project.parent / ".consentry").mkdir()


def no_marker(here: Setting) -> None:
    """The workspace has no configuration any more."""
    here.theirs.rename(here.project / "elsewhere")


def program_by_link(here: Setting) -> None:
    """The name leads to another file."""
    script(here.early / "elsewhere", "fourth")
    (here.late / "program").unlink()
    (here.late / "program").symlink_to(here.early / "elsewhere")


def granted_by_link(here: Setting) -> None:
    """What is granted leads elsewhere."""
    (here.project / "data").unlink()
    (here.project / "data").symlink_to("/etc/hostname")


def granted_folder(here: Setting) -> None:
    """What is granted is a folder now, and all below."""
    (here.project / "data").unlink()
    (here.project / "data").mkdir()


def open_configuration(here: Setting) -> None:
    """Others may write the user's documents."""
    (here.own / "consent-config.yaml").chmod(0o666)


def open_state(here: Setting) -> None:
    """Others may write where the record is kept."""
    Path(here.around.environ["HOME"], ".local/state/consentry").chmod(0o777)


def configuration_in_workspace(here: Setting) -> None:
    """The user's folder leads into the workspace."""
    here.own.rename(here.project / "moved")
    here.own.symlink_to(here.project / "moved")


CHANGES: dict[str, Callable[[Setting], None]] = {
    "own level": _rewritten("{own}/consent-config.yaml", levels_text(strict="{allowedTools: [tool]}")),
    "own level gone": _gone("{own}/consent-config.yaml"),
    "own sandbox": _rewritten("{own}/sandbox-config.yaml", SANDBOX),
    "own sandbox damaged": _rewritten("{own}/sandbox-config.yaml", "sandboxConfig: [\n"),
    "own policy damaged": _rewritten("{own}/policy.yaml", "policy: 3\n"),
    "own settings": _rewritten("{own}/settings.yaml", "approvals: {passphrase: true}\n"),
    "own index": _rewritten("{own}/tool-manifest.yaml", INDEX),
    "own tool": _rewritten("{own}/tools/tool.yaml", manifest("tool", "program", version="2.0.0")),
    "own tool gone": _gone("{own}/tools/tool.yaml"),
    "own tool of their name": _rewritten("{own}/tools/theirs.yaml", manifest("theirs", "program")),
    "their level": _rewritten("{theirs}/consent-config.yaml", levels_text(strict="{allowedTools: [tool, theirs]}")),
    "their sandbox": _rewritten("{theirs}/sandbox-config.yaml", SANDBOX),
    "their index": _rewritten("{theirs}/tool-manifest.yaml", INDEX),
    "their tool": _rewritten("{theirs}/tools/theirs.yaml", manifest("theirs", "./inside.sh", version="2.0.0")),
    "their tool gone": _gone("{theirs}/tools/theirs.yaml"),
    "another of theirs": _rewritten("{theirs}/tools/more.yaml", manifest("more", "./inside.sh")),
    "program": _rewritten("{late}/program", "#!/bin/sh\necho other\n"),
    "program of another interpreter": _rewritten("{late}/program", "#!/usr/bin/env bash\necho hi\n"),
    "earlier program": _rewritten("{early}/program", "#!/bin/sh\necho earlier\n"),
    "program gone": _gone("{late}/program"),
    "their script": _rewritten("{project}/inside.sh", "#!/bin/sh\necho stolen\n"),
    "program by link": program_by_link,
    "marker above": marker_above,
    "no marker": no_marker,
    "granted by link": granted_by_link,
    "granted folder": granted_folder,
    "open configuration": open_configuration,
    "open state": open_state,
    "configuration in the workspace": configuration_in_workspace,
}  # fmt: skip


def told(make: Callable[[], ReadyTool]) -> tuple[object, ...]:
    """Everything that a decision and a run depend on, or why there is none."""
    try:
        ready = make()
    except ConsentryError as problem:
        return problem.code, str(problem)
    effective = ready.effective
    return (
        ready.workspace,
        ready.level,
        ready.bound,
        effective.policy_hash,
        effective.policy,
        effective.settings,
        effective.sandbox,
        effective.consent,
        effective.ignored,
        dict(effective.strangers),
        effective.is_accepted,
    )


def remembered(kept: KeptTools, call: ToolCall, here: Setting) -> ReadyTool:
    """Asked until it is remembered: the same object comes back."""
    for _ in range(200):
        first = kept.ready(call, here.around, here.journal)
        if kept.ready(call, here.around, here.journal) is first:
            return first
        time.sleep(0.01)
    raise AssertionError("it is never remembered")


@pytest.mark.parametrize("trust", ["accepted", "not accepted"])
@pytest.mark.parametrize("call", [CALL, THEIRS])
@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_between_two_calls_counts_for_the_second(
    setting: Setting, change: str, call: ToolCall, trust: str
) -> None:
    """Every document, folder, marker, program, script and grant, whoever it belongs to."""
    kept = KeptTools(engine_desk)
    if trust == "accepted":
        setting.accept()
    before = remembered(kept, call, setting)
    assert before.effective.is_accepted == (trust == "accepted")
    CHANGES[change](setting)
    after = told(lambda: kept.ready(call, setting.around, setting.journal))
    assert after == told(lambda: ready_tool(call, setting.around, setting.journal))


@pytest.mark.parametrize("change", [name for name in CHANGES if name != "marker above"])
def test_each_of_them_is_a_change(setting: Setting, change: str) -> None:
    """Of one of the two tools at least something else is to be said."""
    setting.accept()

    def both() -> list[tuple[object, ...]]:
        return [_anew(call, setting) for call in (CALL, THEIRS)]

    before = both()
    CHANGES[change](setting)
    assert both() != before


def _anew(call: ToolCall, here: Setting) -> tuple[object, ...]:
    return told(lambda: ready_tool(call, here.around, here.journal))


def test_accepting_and_withdrawing_count_at_once(setting: Setting) -> None:
    """What the store says is asked each time (CONTRACTS §9): no file changes with it."""
    kept = KeptTools(engine_desk)

    def is_accepted() -> bool:
        return kept.ready(THEIRS, setting.around, setting.journal).effective.is_accepted

    remembered(kept, THEIRS, setting)
    assert not is_accepted()
    setting.accept()
    assert is_accepted()
    remembered(kept, THEIRS, setting)
    setting.withdraw()
    assert not is_accepted()


def test_bytes_count_where_times_were_set_back(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that is remembered is hashed each time: what the kernel says of it may be the same.

    Nobody can set the time of a change back here, so the whole ground is said to hold.
    """
    kept = KeptTools(engine_desk)
    before = remembered(kept, CALL, setting)
    monkeypatch.setattr("consentry.service.remembering.Ground.still_holds", lambda _: True)
    script(setting.late / "program", "HELLO")
    after = kept.ready(CALL, setting.around, setting.journal)
    assert after.bound.digest != before.bound.digest
    assert after.bound.digest == ready_tool(CALL, setting.around, setting.journal).bound.digest


def test_the_environment_is_part_of_the_question(setting: Setting) -> None:
    """Another PATH, HOME or current folder is another call."""
    kept = KeptTools(engine_desk)
    remembered(kept, CALL, setting)
    script(setting.early / "program", "early")
    turned = f"{setting.late}:{setting.early}:/usr/bin:/bin"
    other = replace(setting.around, environ={**setting.around.environ, "PATH": turned})
    assert told(lambda: kept.ready(CALL, other, setting.journal)) == told(
        lambda: ready_tool(CALL, other, setting.journal)
    )


def _consented(setting: Setting, library: Library) -> str:
    with pytest.raises(Parked) as parked:
        library.run_tool(CALL, setting.around, ToolWish(waits=False))
    by = local_user(setting.around, setting.journal.machine_id)
    answer = Answer(Outcome.APPROVED, by, Role.OWNER, Channel.COMMAND, "needed", Lasts.PERMANENT)
    Desk(setting.journal).answer(parked.value.request_id, answer)
    library.run_request(parked.value.request_id, setting.around, ToolWish())
    return consents_of(setting.journal).recent("tool", 1)[0].consent_id


def _asks(setting: Setting, library: Library) -> bool:
    try:
        library.run_tool(CALL, setting.around, ToolWish(waits=False))
    except Parked:
        return True
    return False


@pytest.fixture
def asked(setting: Setting) -> Setting:
    """The same with the user's own tool at a level that asks, and remembers for good."""
    preferences = '  userPreferences: {rememberChoices: true, rememberDuration: "permanent"}\n'
    text = levels_text(explicit="{allowedTools: [tool]}") + preferences
    (setting.own / "consent-config.yaml").write_text(text)
    return setting


def test_a_changed_script_asks_again_and_is_not_refused(asked: Setting, library: Library) -> None:
    """CONSENT §remember-2: a remembered tool at other bytes is a question, not an error."""
    _consented(asked, library)
    assert [_asks(asked, library) for _ in range(4)] == [False] * 4
    script(asked.late / "program", "other")
    assert _asks(asked, library)


def test_a_revoked_consent_asks_again_at_once(asked: Setting, library: Library) -> None:
    """The route is asked of the store for every run."""
    consent = _consented(asked, library)
    assert [_asks(asked, library) for _ in range(4)] == [False] * 4
    by = local_user(asked.around, asked.journal.machine_id)
    consents_of(asked.journal).revoke(consent, by)
    assert _asks(asked, library)


def test_a_program_that_is_gone_is_told(asked: Setting, library: Library) -> None:
    """As if it were the first call."""
    _consented(asked, library)
    assert [_asks(asked, library) for _ in range(3)] == [False] * 3
    (asked.late / "program").unlink()
    with pytest.raises(ConsentryError) as problem:
        _asks(asked, library)
    assert problem.value.code is Code.PROGRAM_UNKNOWN
