"""Two processes answer one request and dispatch it at the same moment, many times over (CONTRACTS §8)."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from consentry.service.audit import whole_event
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from consentry.service.toolcalls import ToolCall
from consentry.service.tooldecisions import Parked
from consentry.service.toolruns import ToolWish
from tests.service.conftest import MakeAround

REPOSITORY = Path(__file__).parents[2]
ROUNDS = 1_000 if os.environ.get("CONSENTRY_PROOF") == "full" else 30
NAMES = ("ann", "bob")
EVERY_THIRD = 3


@contextmanager
def _dispatchers(around: Surroundings) -> Iterator[list["subprocess.Popen[str]"]]:
    """Both, each a process with its own way to the ledger."""
    with ExitStack() as held:
        yield [
            held.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.service.dispatcher", name],
                    cwd=around.cwd,
                    env={**around.environ, "PYTHONPATH": str(REPOSITORY)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for name in NAMES
        ]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("store_kind", ["file", "server"])
def test_one_answer_wins_one_run_starts_and_the_loser_is_told(
    request: pytest.FixtureRequest, around: MakeAround, store_kind: str
) -> None:
    """Of two that approve or deny, one wins and the other hears who; of two that dispatch, one runs."""
    environ = {"PATH": "/usr/bin:/bin"}
    if store_kind == "server":
        environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    here = around(environ=environ)
    _write_tool(Path(here.environ["HOME"], ".config/consentry/tools/count.yaml"))
    wanted = 0
    rounds = ROUNDS if store_kind == "file" else ROUNDS // 3
    with closing(Library()) as library, _dispatchers(here) as dispatchers:
        for number in range(rounds):
            with pytest.raises(Parked) as parked:
                library.run_tool(ToolCall("count"), here, ToolWish(waits=False))
            for each, name in zip(dispatchers, NAMES, strict=True):
                is_no = name == "bob" and number % EVERY_THIRD == 0
                said = f"{parked.value.request_id} {'denied' if is_no else 'approved'}\n"
                assert each.stdin is not None
                each.stdin.write(said)
                each.stdin.flush()
            told = [json.loads(each.stdout.readline()) for each in dispatchers if each.stdout]
            [answer] = [each["answer"] for each in told if "told" not in each]
            [lost] = [each for each in told if "told" in each]
            assert lost["answer"] == "request-settled"
            assert f"by `local:1000:{NAMES[1 - told.index(lost)]}" in lost["told"], lost
            ran = [each["run"] for each in told].count("ran")
            assert ran == (answer == "approved"), told
            assert {each["run"] for each in told} <= {
                "ran",
                "consent-closed",
                "approval-denied",
                "approval-pending",
            }
            wanted += ran
        history = library.journal(here).ledger.history
        found = Counter(whole_event(row)["type"] for row in history.events())
    assert found["run.decided"] == found["permit.spent"] == found["consent.used"] == wanted > 0
    assert found["approval.answered"] == found["approval.requested"] == rounds


def _write_tool(path: Path) -> None:
    path.parent.mkdir(parents=True)
    command = {"command": "/usr/bin/true", "purpose": "to be run"}
    document = {
        "name": "count",
        "description": "A tool of the tests",
        "version": "1.0.0",
        "capabilities": {"processExecution": [command]},
        "riskLevel": "low",
    }
    path.write_text(json.dumps({"tool": document}))
