"""`kill -9` at every step of a tool's run: afterwards the ledger verifies, and what was begun can be ended.

Whatever the step, on a file and on a server: every event that was there is still there; nothing ran
without a decision; every yes that was given stands, and starts at most one run; the files of the
workspace are the old ones or the new ones, never some of each; and the next start goes on from there.
"""

import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.killedcommand import COMMITTING, STEPS
from tests.cli.killing import killing_at
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import events_of, write, write_tool

IS_FULL: Final = os.environ.get("CONSENTRY_PROOF") == "full"
TALL: Final = (100, 60)
BOX_STARTED: Final = "box started"
MAKES: Final = """\
import pathlib, time
print('at work', flush=True)
if pathlib.Path('slow').exists():
    time.sleep(60)
for name in ('a', 'b', 'new'):
    pathlib.Path(f'out/{name}.txt').write_text('new')
"""
POWERS: Final[dict[str, Any]] = {
    "fileRead": [
        {"pattern": "make.py", "purpose": "itself"},
        {"pattern": "slow", "purpose": "how long it takes"},
    ],
    "fileWrite": [{"pattern": "out/*.txt", "purpose": "what it makes"}],
}
STRICT_ONLY: Final = {
    "second question stored",
    "second answered",
    "commit decided",
    "settled",
    "committed",
}
COMMIT_STEPS: Final = 12


def _steps(level: str) -> list[str]:
    named = [each for each in STEPS if level == "strict" or each not in STRICT_ONLY]
    return [*named, BOX_STARTED, *(f"{COMMITTING} {at}" for at in range(1, COMMIT_STEPS + 1))]


FULL: Final = [
    (store, user, level, step)
    for store in ("file", "server")
    for user in ("consentry", "as_nobody")
    for level in ("explicit", "strict")
    for step in _steps(level)
]
SMALL: Final = [
    ("file", "as_nobody", "strict", "answered"),
    ("file", "consentry", "explicit", "permit spent"),
    ("file", "as_nobody", "explicit", BOX_STARTED),
    ("file", "consentry", "explicit", f"{COMMITTING} 6"),
    ("server", "consentry", "strict", "second answered"),
]


@dataclass(frozen=True, slots=True)
class Workshop:
    """One tool at one level, and the ledger that its runs are recorded in."""

    line: CommandLine
    level: str

    @property
    def files(self) -> str:
        """`old`, `new`, or what else they are."""
        out = self.line.cwd / "out"
        found = {each.name: each.read_text() for each in out.iterdir()}
        return _TREES.get(tuple(sorted(found.items())), repr(found))

    def answer(self, terminal: Any) -> None:
        """The first yes."""
        terminal.answer("make", "a")
        if self.level == "strict":
            terminal.answer("why?", "it is needed")
            terminal.answer("type make", "make")

    def of(self, kind: str) -> list[dict[str, Any]]:
        """What is on record of that kind."""
        return [each["payload"] for each in events_of(self.line) if each["type"] == kind]


_TREES: Final = {
    (("a.txt", "old"), ("b.txt", "old")): "old",
    (("a.txt", "new"), ("b.txt", "new"), ("new.txt", "new")): "new",
}


@pytest.fixture
def shop(request: pytest.FixtureRequest) -> Workshop:
    """As that user, with that store, and the tool at that level."""
    store, user, level = request.param
    line: CommandLine = request.getfixturevalue(user)
    if store == "server":
        line = replace(line, environ={**line.environ})
        line.environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
        if user == "as_nobody":
            request.getfixturevalue("postgres_server").folder.chmod(0o755)
    write_tool(line, "make", MAKES, riskLevel="high" if level == "strict" else "low", **POWERS)
    for name in ("a", "b"):
        write(line, line.cwd / f"out/{name}.txt", "old")
    return Workshop(line, level)


def _killed(shop: Workshop, step: str) -> None:
    """A person starts the run and answers; it is killed at the step."""
    line = shop.line
    program, environ = killing_at(line, step)
    if step == BOX_STARTED:
        program = list(line.program)
        write(line, line.cwd / "slow", "yes")
    with at_terminal(line, "run", "make", size=TALL, program=program, **environ) as terminal:
        if step not in ("ready", "question stored"):
            shop.answer(terminal)
        if step == BOX_STARTED:
            terminal.see("at work")
            terminal.process.kill()
        elif shop.level == "strict" and step.startswith(("second a", "commit", "settled")):
            terminal.answer("out/new.txt", "a")
        assert terminal.ended() == -signal.SIGKILL, terminal.screen
    (line.cwd / "slow").unlink(missing_ok=True)


def _finished(shop: Workshop) -> None:
    """The next start, by whoever comes: what was asked is answered, dispatched and committed."""
    line = shop.line
    if not shop.of("approval.requested"):
        assert line("run", "--no-wait", "make").status == 75
    first = shop.of("approval.requested")[0]["requestId"]
    if not shop.of("approval.answered"):
        with at_terminal(line, "approve", first, size=TALL) as terminal:
            shop.answer(terminal)
            assert terminal.ended() == 0, terminal.screen
    was_permitted = bool(shop.of("permit.spent"))
    ended = line("run", "--request", first)
    if was_permitted:
        assert ended.status == 126, ended.err
        assert "at work" not in ended.out
    else:
        assert ended.status == (75 if shop.level == "strict" else 0), ended.err
        assert ended.out == "at work\n"
    again = line("run", "--request", first)
    assert (again.status, again.out) == (126, ""), again.err
    if shop.level == "strict":
        _settled(shop)


def _settled(shop: Workshop) -> None:
    """The second yes, where there is an effect to say it to."""
    line = shop.line
    runs = [each for each in shop.of("tool.audit") if each["impact"].get("rehearsal") is not None]
    if not runs or any(each["outcome"] == "committed" for each in shop.of("effect.settled")):
        return
    assert line("commit", runs[0]["id"]).status in (0, 75)
    for request in shop.of("approval.requested")[1:]:
        answered = [each["requestId"] for each in shop.of("approval.answered")]
        if request["requestId"] not in answered:
            with at_terminal(line, "approve", request["requestId"], size=TALL) as terminal:
                terminal.answer("out/new.txt", "a")
                assert terminal.ended() == 0, terminal.screen
    committed = [each["outcome"] for each in shop.of("effect.settled")]
    assert committed.count("committed") == 1, committed


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("shop", "step"),
    [pytest.param(each[:3], each[3], id=" ".join(each)) for each in (FULL if IS_FULL else SMALL)],
    indirect=["shop"],
)
def test_a_run_that_is_killed_loses_no_decision_and_leaves_nothing_half_done(
    shop: Workshop, step: str
) -> None:
    """The ledger verifies, no run is without a decision, and what was agreed to starts at most once."""
    _killed(shop, step)
    line = shop.line
    assert line("audit", "verify").status == 0
    before = events_of(line)
    kinds = [each["type"] for each in before]
    if shop.files != "old":
        assert "run.decided" in kinds
    _finished(shop)
    assert line("audit", "verify").status == 0
    after = events_of(line)
    assert [each["eventId"] for each in after[: len(before)]] == [
        each["eventId"] for each in before
    ]
    decided = [each["eventId"] for each in after if each["type"] == "run.decided"]
    made = [each["payload"] for each in after if each["type"] == "permit.made"]
    assert [each["decisionEventId"] for each in made] == decided
    assert len(decided) == 1
    permits = {each["permitId"] for each in made}
    started = [each["payload"] for each in after if each["type"] == "tool.audit"]
    ran = [each for each in started if each["execution"]["startTime"] is not None]
    assert [each["permitId"] for each in ran] == sorted(permits)
    assert shop.files in ("old", "new")
    lost = [each for each in ran if each["execution"]["status"] == "killed"]
    for each in lost:
        assert (each["tool"]["name"], each["execution"]["endTime"]) == ("make", None)
        assert each["impact"]["committed"] == (shop.files == "new")
    if not lost and ran and shop.level == "strict":
        assert shop.files == "new"
    assert list((Path(line.environ["HOME"]) / ".local/state/consentry/commits").glob("run-*")) == []
    _runs_as_ever(shop)


def _runs_as_ever(shop: Workshop) -> None:
    """Whatever was cut off, the tool can be asked for again and comes to its end."""
    with at_terminal(shop.line, "run", "make", size=TALL) as terminal:
        shop.answer(terminal)
        if shop.level == "strict" and shop.files == "old":
            terminal.answer("out/new.txt", "a")
        elif shop.level == "strict":
            terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    assert shop.files == "new"
