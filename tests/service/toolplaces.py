"""Tools of a user's own, bound and run as the product does it, with everything real but the asking.

    place.tool("make", processExecution=[...])
    run = place.run("make")

python -m tests.service.toolplaces TOOL [WORD …]    runs the tool where it was started, and prints what
came of it as JSON; so another user may do it
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import SystemClock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.declare.tool import ConsentLevel
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.native import Io
from consentry.record.auditfields import ConsentMethod
from consentry.service.audit import whole_event
from consentry.service.enginechoice import choose_engine, engine_desk
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.refusals import Asked, journal_of_terminal, refusals_recorded
from consentry.service.rundecision import RunDecision, ToolFacts
from consentry.service.runledger import Run
from consentry.service.runs import Runner
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings, look_around, own_home
from consentry.service.toolbinding import BoundTool, bind_tool
from consentry.store.journal import Journal
from tests.cli.conftest import NOBODY, interpreter_for
from tests.service.configuring import load

PATH = {"PATH": "/usr/bin:/bin"}
REPOSITORY = Path(__file__).parents[2]

Decide = Callable[[BoundTool, Journal], RunDecision]


def explicitly(bound: BoundTool, journal: Journal) -> RunDecision:
    """As if a person had just said yes, without a consent in the store."""
    return RunDecision(
        subject=bound.facts.subject,
        method=ConsentMethod.EXPLICIT_APPROVAL,
        consented_at=journal.clock.now(),
        level=ConsentLevel.EXPLICIT,
        tool=bound.facts,
    )


@dataclass(slots=True)
class ToolPlace:
    """A workspace, and the configuration of a user whose tools work on it."""

    around: Surroundings
    project: Path
    meanwhile: Callable[[], None] = field(default=lambda: None)
    """Called between the decision and the run."""

    @property
    def config(self) -> Path:
        """The user's own configuration."""
        return Path(self.around.environ["HOME"], ".config/consentry")

    def tool(self, name: str, **keys: Any) -> None:
        """Writes a manifest: keys of `capabilities` go there, all others beside it."""
        inside = {"fileRead", "fileWrite", "processExecution", "networkAccess"}
        inside |= {"environmentVariables"}
        asked = {key: value for key, value in keys.items() if key in inside}
        rest = {key: value for key, value in keys.items() if key not in inside}
        document = {
            "name": name,
            "description": "A tool of the tests",
            "version": "1.0.0",
            "capabilities": asked,
            "riskLevel": "low",
            **rest,
        }
        file = self.config / f"tools/{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"tool": document}))

    def profile(self, name: str, **keys: Any) -> None:
        """Writes a sandbox configuration with this profile alone."""
        self.config.mkdir(parents=True, exist_ok=True)
        document = {"sandboxConfig": {"profiles": {name: keys}}}
        (self.config / "sandbox-config.yaml").write_text(json.dumps(document))

    def bind(self, name: str, *words: str) -> BoundTool:
        """The tool as it would run now."""
        effective = load(self.around)
        return bind_tool(effective.tool(name), effective, words, self.project, self.around)

    def run(self, name: str, *words: str, decide: Decide = explicitly, io: Io | None = None) -> Run:
        """A run of its own, with its output kept unless it is led elsewhere."""
        with ExitStack() as held:
            effective = load(self.around)
            tool = effective.tool(name)
            asked = Asked((name, *words), tool=ToolFacts(tool.manifest))
            with refusals_recorded(asked, lambda: journal_of_terminal(self.around)):
                bound = bind_tool(tool, effective, words, self.project, self.around)
                home, state = own_home(self.around).path, ledger_place(self.around).folder
                ground = EngineGround(home, bound.bound.protected, "/usr/bin:/bin", state)
                desk = held.enter_context(engine_desk(ground))
                chosen = choose_engine(bound.engines, bound.bound.confinement, desk)
            journal = held.enter_context(self.journal())
            decision = decide(bound, journal)
            self.meanwhile()
            runner = Runner(chosen.engine, journal, state, home)
            return runner.run(bound.bound, chosen.plan, io or Io(keeps=True), decision=decision)

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        """The ledger, for writing."""
        clock = SystemClock()
        journal = journal_here(self.around, clock, Uuid7Ids(clock))
        with closing(journal.ledger):
            yield journal

    def events(self) -> list[dict[str, Any]]:
        """Everything on record, in its order."""
        history = ledger_for_reading(self.around)
        if history is None:
            return []
        with closing(history.database):
            return [dict(whole_event(row)) for row in history.events()]

    def entries(self) -> list[dict[str, Any]]:
        """The audit entries, in their order."""
        return [each["payload"] for each in self.events() if each["type"] == "tool.audit"]


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a run that another process carried out."""

    out: str
    entry: dict[str, Any]
    code: str | None

    @property
    def denied(self) -> list[tuple[str, str, str | None]]:
        """What was refused: the operation, what of, and what would allow it."""
        found = self.entry["sandbox"]["violations"]
        return [(each["operation"], each["resource"], each["allow"]) for each in found]


@dataclass(slots=True)
class OtherPlace(ToolPlace):
    """The same, where the tools are run by another user, in a process of that user's."""

    identity: dict[str, Any] = field(default_factory=dict)

    def told(self, name: str, *words: str) -> Told:
        """A run, as that process tells of it."""
        for each in (self.project, *self.project.rglob("*"), self.config, *self.config.rglob("*")):
            os.chown(each, NOBODY, NOBODY)
        program, environ = interpreter_for(self.identity)
        paths = [str(REPOSITORY), *filter(None, [environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [*program[:-1], "tests.service.toolplaces", name, *words],
            cwd=self.project,
            env={**self.around.environ, **environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            check=False,
            text=True,
            **self.identity,
        )
        assert done.returncode == 0, done.stderr
        return Told(**json.loads(done.stdout))


@dataclass(slots=True)
class OwnPlace(ToolPlace):
    """The same in this process."""

    def told(self, name: str, *words: str) -> Told:
        """A run, as the other one tells of it."""
        return Told(**told(self, name, *words))


def told(place: ToolPlace, name: str, *words: str) -> dict[str, Any]:
    """What came of a run, whether it was one or was refused."""
    try:
        run = place.run(name, *words)
    except ConsentryError as problem:
        return {"out": "", "entry": place.entries()[-1], "code": problem.code.value}
    out = run.outcome.stdout.decode() + run.outcome.stderr.decode()
    return {"out": out, "entry": run.entry, "code": None}


@contextmanager
def others_place(parent: Path | None = None) -> Iterator[OtherPlace]:
    """A place of an ordinary user's, below `/tmp` or there; skips where there is no such user to be."""
    if os.geteuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    top = Path(tempfile.mkdtemp(prefix="consentry-tools-", dir=parent))
    try:
        for folder in (top, top / "home", top / "home/.config", top / "project"):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
            os.chown(folder, NOBODY, NOBODY)
        environ = {"HOME": str(top / "home"), "LC_ALL": "C.UTF-8", **PATH}
        around = Surroundings(environ, top / "project", NOBODY)
        identity = {"user": NOBODY, "group": NOBODY, "extra_groups": ()}
        yield OtherPlace(around, top / "project", identity=identity)
    finally:
        shutil.rmtree(top)


def main(name: str, *words: str) -> None:
    """See the top of this file."""
    place = OwnPlace(look_around(os.environ), Path.cwd())
    sys.stdout.write(json.dumps(told(place, name, *words)))


if __name__ == "__main__":
    main(*sys.argv[1:])
