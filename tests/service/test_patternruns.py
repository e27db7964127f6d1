"""Runs with patterns: what is outside is refused or reported, and every entry says how it was held."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.enforce.engine import NotEnforceable
from consentry.enforce.engines.native import Io
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.profiles import find_profile
from consentry.service.runledger import Run
from tests.elsewhere import folder_elsewhere
from tests.service.conftest import MakeAround

PROFILE = """
sandboxConfig:
  profiles:
    one:
      patterns: {patterns}
      filesystem:
        readOnly: [{reads}]
        readWrite: [{writes}]
"""

Runs = Callable[..., Run]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not below a folder that is the run's own."""
    with folder_elsewhere() as place:
        yield place


@pytest.fixture
def runs(around: MakeAround, project: Path) -> Runs:
    """Runs a shell script under a profile with these paths; gives the run."""

    def run(script: str, *, reads: str = "", writes: str = "", patterns: str = "rounded") -> Run:
        here = around(environ={"PATH": "/usr/bin:/bin"})
        document = project.parent / "box.yaml"
        document.write_text(PROFILE.format(patterns=patterns, reads=reads, writes=writes))
        profile = find_profile(str(document), here)
        wish = RunWish(("sh", "-c", script), execute=("cat", "mv", "rm"), profile=profile)
        return carry_out(wish, here, Io(keeps=True))

    for name in ("notes.txt", "notes.key", "docs/a.md", "docs/a.key"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("text")
    return run


def _reads(run: Run) -> dict[str, str]:
    impact: Any = run.entry["impact"]
    return {each["path"]: each["held"] for each in impact["filesRead"]}


def _sandbox(run: Run) -> dict[str, Any]:
    found: Any = run.entry["sandbox"]
    return dict(found)


def test_a_read_outside_a_pattern_is_a_violation(runs: Runs, project: Path) -> None:
    """With the pattern as its rule, and what to type to allow it; the match is held exactly."""
    run = runs("cat notes.txt; cat notes.key", reads="'${WORKSPACE}/*.txt'")
    assert run.outcome.stdout == b"text"
    assert _reads(run) == {"notes.txt": "exact"}
    [violation] = _sandbox(run)["violations"]
    assert violation == {
        "operation": "read",
        "resource": str(project / "notes.key"),
        "rule": "outside `*.txt`",
        "truth": "observed",
        "allow": f"--read {project / 'notes.key'}",
        "times": 1,
    }
    said = [each for each in _sandbox(run)["controls"] if each["control"] == "reads"]
    assert said[-1]["mechanism"] == "Landlock's rules on 1 files that patterns match"
    assert said[-1]["truth"] == "kernel"


def test_where_something_may_be_written_it_is_reported(runs: Runs, project: Path) -> None:
    """The folder is open, and the entry says that no grant means the file."""
    run = runs(
        "cat docs/a.md docs/a.key; echo new > docs/new.pdf; echo new > docs/new.key",
        reads="'${WORKSPACE}/docs/*.md'",
        writes="'${WORKSPACE}/docs/*.pdf'",
    )
    assert _reads(run) == {"docs/a.md": "rounded", "docs/a.key": "outside"}
    rounded = [each for each in _sandbox(run)["controls"] if "`docs/*.md`" in each["mechanism"]]
    assert [(each["control"], each["truth"]) for each in rounded] == [("reads", "observed")]
    impact: Any = run.entry["impact"]
    written = [(each["path"], each["held"]) for each in impact["filesWritten"]]
    assert written == [("docs/new.pdf", "rounded")]
    assert (project / "docs/new.pdf").exists()
    assert not (project / "docs/new.key").exists()


def test_exact_refuses_to_round_up(runs: Runs) -> None:
    """Where the pattern cannot be held; where it can, the run is as any other."""
    reads = "'${WORKSPACE}/docs/*.md'"
    with pytest.raises(NotEnforceable) as refused:
        runs("true", reads=reads, writes="'${WORKSPACE}/docs/*.pdf'", patterns="exact")
    assert refused.value.code is Code.NOT_ENFORCEABLE
    assert "`docs/*.md`" in refused.value.message
    assert "`docs/*.pdf`" in refused.value.message
    run = runs("cat docs/a.md; cat docs/a.key", reads=reads, patterns="exact")
    assert run.outcome.stdout == b"text"
    assert _reads(run) == {"docs/a.md": "exact"}
    assert len(_sandbox(run)["violations"]) == 1


def test_what_is_writable_is_open_as_a_whole(runs: Runs, project: Path) -> None:
    """Also through a link that lies where only a pattern is open."""
    (project / "out").mkdir()
    (project / "docs/link.md").symlink_to("../out/new.md")
    run = runs(
        "echo new > out/new.md; cat docs/link.md out/new.md",
        reads="'${WORKSPACE}/docs/*.md'",
        writes="'${WORKSPACE}/out'",
        patterns="exact",
    )
    assert _reads(run) == {"out/new.md": "exact"}
    assert _sandbox(run)["violations"] == []
