"""The audit entry of a run says what CONSENT asks for, each part from its source."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from consentry.enforce.engines.native import Io
from consentry.record.events import EventType
from consentry.record.payload import check_payload
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.profiles import find_profile
from consentry.service.runrecord import shown_path, word_text
from tests.service.conftest import MakeAround

SCRIPT = """
cat data.txt
cat /etc/shadow
cat /usr/share/dict/none /usr/bin/env > /dev/null
echo made > out/made
exit 3
"""


@pytest.fixture
def entry(around: MakeAround, project: Path) -> Mapping[str, Any]:
    """The record of a run that did something of everything."""
    (project / "data.txt").write_text("data")
    (project / "out").mkdir()
    (project / "job.sh").write_text(SCRIPT)
    wish = RunWish(("sh", "job.sh"), execute=("cat",), write=("out",), environment=("MINE",))
    here = around(environ={"PATH": "/usr/bin:/bin", "MINE": "1"})
    return carry_out(wish, here, Io(keeps=True)).entry


def test_entry_keeps_the_rules_of_its_type(entry: Mapping[str, Any]) -> None:
    """All of CONSENT's keys, each of its kind."""
    check_payload(EventType.TOOL_AUDIT, entry)
    assert list(entry) == [
        *("id", "timestamp", "tool", "user", "execution", "impact", "sandbox", "context"),
        "permitId",
    ]


def test_execution(entry: Mapping[str, Any]) -> None:
    """How it ended, and when."""
    execution = entry["execution"]
    assert execution["status"] == "failure"
    assert (execution["exitCode"], execution["signal"], execution["limit"]) == (3, None, None)
    assert execution["startTime"] <= execution["endTime"] <= entry["timestamp"]
    assert entry["user"]["consentTimestamp"] <= execution["startTime"]
    assert entry["user"]["consentMethod"] == "command_line"


def test_files_of_the_workspace_are_listed_one_by_one(entry: Mapping[str, Any]) -> None:
    """Relative, with their digests; those of the runtime are counted by root."""
    impact = entry["impact"]
    read = {each["path"]: each["hash"] for each in impact["filesRead"]}
    assert read["data.txt"] == f"sha256:{hashlib.sha256(b'data').hexdigest()}"
    assert read.keys() == {"data.txt", "job.sh"}
    assert entry["sandbox"]["runtimeReads"]["/usr"] > 0
    [written] = impact["filesWritten"]
    assert (written["path"], written["size"]) == ("out/made", 5)
    assert written["hash"] == f"sha256:{hashlib.sha256(b'made' + bytes([10])).hexdigest()}"
    assert impact["committed"] is True
    assert impact["truth"] == {
        "filesRead": "observed",
        "filesWritten": "kernel",
        "filesDeleted": "kernel",
    }


def test_hidden_file_is_a_violation_and_a_missing_one_is_not(entry: Mapping[str, Any]) -> None:
    """What exists outside and was asked for is told apart from what is nowhere."""
    [violation] = entry["sandbox"]["violations"]
    assert violation["operation"] == "read"
    assert violation["resource"] == "/etc/shadow"
    assert violation["truth"] == "observed"
    assert violation["allow"] is None
    assert violation["times"] == 1
    assert entry["sandbox"]["violationsComplete"] is True


def test_programs_have_digests_and_arguments(entry: Mapping[str, Any]) -> None:
    """Each that was started, as often as it was."""
    programs = {tuple(each["arguments"]): each for each in entry["sandbox"]["programs"]}
    assert ("cat", "data.txt") in programs
    expected = f"sha256:{hashlib.sha256(Path('/usr/bin/cat').read_bytes()).hexdigest()}"
    assert programs["cat", "data.txt"]["hash"] == expected
    assert entry["sandbox"]["truth"]["programs"] == "observed"


def test_variables_are_named_without_their_values(entry: Mapping[str, Any]) -> None:
    """A value may be a secret."""
    names = entry["sandbox"]["environment"]
    assert names == ["HOME", "LANG", "MINE", "PATH", "TERM", "TMPDIR"]


def test_usage_and_controls_say_who_vouches(entry: Mapping[str, Any]) -> None:
    """In CONSENT's spelling, with the exact figure beside it."""
    used = entry["sandbox"]["resourceUsage"]
    assert used["cpuTime"].endswith("s")
    assert used["memoryPeak"].endswith(("MB", "KB"))
    assert used["memoryPeakBytes"] > 0
    controls = {each["control"]: each for each in entry["sandbox"]["controls"]}
    assert controls["reads"]["truth"] == "kernel"
    assert controls["files-read"]["truth"] == "observed"
    assert {"memory", "processes", "written"} <= controls.keys()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/project/inner/file", "inner/file"),
        ("/projects/file", "/projects/file"),
        ("/project", "/project"),
        ("/project/odd\udcff\\name", "odd\\xff\\\\name"),
    ],
)
def test_paths_are_relative_where_they_lie_in_the_workspace(path: str, expected: str) -> None:
    """And can be recorded whatever bytes they are made of."""
    assert shown_path(path, Path("/project")) == expected


def test_words_are_recorded_as_they_are() -> None:
    """But for bytes that are no Unicode."""
    assert word_text("a\\.b ü") == "a\\.b ü"
    assert word_text("odd\udcff") == "odd\\xff"


EXACT = """
sandboxConfig:
  profiles:
    exact:
      reads: exact
      filesystem:
        readOnly: ["${WORKSPACE}"]
        readWrite: ["${WORKSPACE}/out"]
"""


def test_exact_reads_are_mediated_and_hashed_as_they_were(
    around: MakeAround, project: Path, tmp_path: Path
) -> None:
    """The file that was opened, or no digest: one that the run itself replaced is not what it read."""
    (project / "data.txt").write_text("data")
    (project / "out").mkdir()
    (project / "out/kept").write_text("before")
    (project / "job.sh").write_text("read a < data.txt; read b < out/kept; echo after > out/kept")
    (tmp_path / "box.yaml").write_text(EXACT)
    here = around(environ={"PATH": "/usr/bin:/bin"})
    profile = find_profile(str(tmp_path / "box.yaml"), here)
    wish = RunWish(("sh", "job.sh"), profile=profile)
    entry = carry_out(wish, here, Io(keeps=True)).entry
    assert [(each["path"], each["hash"]) for each in entry["impact"]["filesRead"]] == [
        ("job.sh", _sha256((project / "job.sh").read_bytes())),
        ("data.txt", _sha256(b"data")),
        ("out/kept", None),
    ]
    assert (project / "out/kept").read_text() == "after\n"
    assert entry["impact"]["hashingLeftOut"] == {"count": 1, "paths": ["out/kept"]}
    assert entry["impact"]["truth"]["filesRead"] == "mediated"
    controls = {each["control"]: each for each in entry["sandbox"]["controls"]}
    assert controls["files-read"]["truth"] == "mediated"
    check_payload(EventType.TOOL_AUDIT, entry)


def _sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
