"""Runs that write at once: what their record says was written, by whom that is vouched for."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.enforce.engine import NotEnforceable
from consentry.enforce.engines.native import Io
from consentry.record.events import EventType
from consentry.record.payload import check_payload
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.profiles import find_profile
from consentry.service.runledger import Run
from tests.elsewhere import folder_elsewhere
from tests.service.conftest import MakeAround

PROFILE = """
sandboxConfig:
  profiles:
    server:
      writes: direct
      filesystem:
        readOnly: ['${{WORKSPACE}}/data']
        readWrite: ['${{WORKSPACE}}/out']
        noAccess: [{denied}]
      resources: {{{limits}}}
"""

Runs = Callable[..., Run]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not below a folder that is the run's own."""
    with folder_elsewhere() as place:
        yield place


@pytest.fixture
def runs(around: MakeAround, project: Path) -> Runs:
    """Runs a shell script that writes `out` at once."""

    def run(script: str, *, denied: str = "", limits: str = "") -> Run:
        here = around(environ={"PATH": "/usr/bin:/bin"})
        document = project.parent / "box.yaml"
        document.write_text(PROFILE.format(denied=denied, limits=limits))
        wish = RunWish(
            ("sh", "-c", script),
            execute=("cat", "mv", "rm", "mkdir"),
            profile=find_profile(str(document), here),
        )
        return carry_out(wish, here, Io(keeps=True))

    for name in ("data/in", "out/old", "out/gone", "out/moved"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("text")
    return run


def _impact(run: Run) -> dict[str, Any]:
    found: Any = run.entry["impact"]
    return dict(found)


def test_what_was_written_is_observed_and_there(runs: Runs, project: Path) -> None:
    """Each list says so, with digests of what the files are now."""
    run = runs(
        "cat data/in > out/new; echo more >> out/old; rm out/gone; mv out/moved out/there;"
        " mkdir out/sub; echo x > out/sub/x; echo t > out/tmp; rm out/tmp; cat out/there"
    )
    assert run.outcome.exit_code == 0, run.outcome.stderr
    assert (project / "out/new").read_text() == "text"
    check_payload(EventType.TOOL_AUDIT, run.entry)
    impact = _impact(run)
    written = {each["path"]: each for each in impact["filesWritten"]}
    assert {name: each["change"] for name, each in written.items()} == {
        "out/new": "created",
        "out/old": "modified",
        "out/there": "created",
        "out/sub/x": "created",
    }
    assert written["out/new"]["hash"] == f"sha256:{hashlib.sha256(b'text').hexdigest()}"
    assert written["out/old"]["size"] == len("textmore\n")
    assert [each["path"] for each in impact["filesDeleted"]] == ["out/gone", "out/moved"]
    assert [each["path"] for each in impact["filesRead"]] == ["data/in", "out/there"]
    assert impact["committed"] is True
    assert impact["discarded"] is None
    assert impact["truth"] == {
        "filesRead": "observed",
        "filesWritten": "observed",
        "filesDeleted": "observed",
    }
    controls = {each["control"] for each in _sandbox(run)["controls"]}
    assert "layer" not in controls
    assert "written" not in controls


def _sandbox(run: Run) -> dict[str, Any]:
    found: Any = run.entry["sandbox"]
    return dict(found)


def test_refused_names_are_violations_with_their_rule(runs: Runs, project: Path) -> None:
    """What the maker refused is mediated; it made none of it."""
    run = runs("echo evil > out/.envrc; echo evil > data/in; mkdir out/.git out/.git/hooks")
    found = {each["resource"]: each for each in _sandbox(run)["violations"]}
    envrc = found[str(project / "out/.envrc")]
    assert envrc["operation"] == "write"
    assert envrc["rule"].startswith("`.envrc` is not made at once: direnv")
    assert (envrc["truth"], envrc["allow"]) == ("mediated", None)
    assert str(project / "out/.git/hooks") in found
    assert found[str(project / "data/in")]["truth"] == "observed"
    assert [each["path"] for each in _impact(run)["filesWritten"]] == []
    assert not (project / "out/.envrc").exists()


def test_what_a_stopped_run_wrote_stays_and_is_told_of(runs: Runs, project: Path) -> None:
    """There is nothing to discard: the status says how it ended, the list what it left."""
    run = runs("echo half > out/half; kill -KILL $$")
    assert run.status == "killed"
    assert (project / "out/half").read_text() == "half\n"
    assert _impact(run)["committed"] is True
    assert [each["path"] for each in _impact(run)["filesWritten"]] == ["out/half"]


def test_what_cannot_be_held_is_refused(runs: Runs, project: Path) -> None:
    """A quota, and a denied name that could be made; the same compiles once it exists."""
    with pytest.raises(NotEnforceable) as refused:
        runs("true", limits="maxWritten: 1M")
    assert refused.value.code is Code.NOT_ENFORCEABLE
    assert "have no quota" in refused.value.message
    denied = "'${WORKSPACE}/out/.git/hooks'"
    with pytest.raises(NotEnforceable) as refused:
        runs("true", denied=denied)
    assert str(project / "out/.git/hooks") in refused.value.message
    (project / "out/.git/hooks").mkdir(parents=True)
    assert runs("echo x > out/fine", denied=denied).outcome.exit_code == 0
    assert (project / "out/fine").exists()
