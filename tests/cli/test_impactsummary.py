"""What a run came to, in a few lines, with every name made safe."""

from typing import Any

from consentry.base.units import Duration
from consentry.cli.impactsummary import MOST_SHOWN, summary_of
from consentry.decide.previewparts import Estimate
from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record

ESTIMATE = Estimate(Duration(30_000), Duration(60_000), 20)
WRITTEN = (
    {"path": "output-final/pdf/main.pdf", "size": 245_678, "change": "modified"},
    {"path": "latex/main.aux", "size": 10, "change": "created"},
)
DELETED = ({"path": "latex/old.log", "hash": None},)


def entry(**changes: Any) -> dict[str, Any]:
    """What is recorded of a run, as far as it is told of."""
    impact = {
        "filesRead": [{"path": "latex/main.tex"}],
        "filesReadUnlisted": 8,
        "filesReadSeen": True,
        "committed": True,
        "rehearsal": None,
        "undo": {"until": "2026-01-08T12:00:32.000Z", "why": None},
        **changes.pop("impact", {}),
    }
    return {
        "id": "audit-1",
        "tool": {"name": "build-latex", "version": "1.0.0"},
        "execution": {
            "startTime": "2026-01-01T12:00:00.000Z",
            "endTime": "2026-01-01T12:00:32.500Z",
            "status": "success",
            "exitCode": 0,
            "signal": None,
        },
        "impact": impact,
        "sandbox": {
            "network": changes.pop("network", []),
            "resourceUsage": {"cpuTime": "32s", "memoryPeak": "128MB"},
        },
        **changes,
    }


def told(recorded: dict[str, Any], written: Any = WRITTEN, deleted: Any = DELETED) -> list[str]:
    """The lines."""
    return list(summary_of(recorded, written, deleted, ESTIMATE))


def test_a_run_is_summed_up() -> None:
    """How it ended, how long, what was read, written and deleted, what it used, how to undo it."""
    lines = told(entry())
    assert lines[0] == (
        "consentry: build-latex: success, exit status 0, after 0:32 (usually 30-60 seconds)"
    )
    assert lines[1:6] == [
        "  read 9 files, wrote 2 files (239.9 KB), deleted 1 file",
        "    changed output-final/pdf/main.pdf (239.9 KB)",
        "    made latex/main.aux (10 bytes)",
        "    deleted latex/old.log",
        "  32s of processor time, 128MB of memory at most",
    ]
    assert lines[6].startswith("  consentry undo audit-1 takes it back until 2026-01-08")


def test_more_than_a_few_changes_are_counted() -> None:
    """Where to see them is said."""
    many = [{"path": f"f{number}", "size": 1, "change": "created"} for number in range(40)]
    lines = told(entry(), many)
    assert sum(line.startswith("    made") for line in lines) == MOST_SHOWN
    assert "    … and 36 more: consentry audit show audit-1" in lines


def test_what_was_not_taken_over_is_no_change() -> None:
    """A run that was cut short changed nothing; one that was rehearsed would."""
    assert "  read 9 files, changed nothing" in told(
        entry(impact={"committed": False, "undo": None})
    )
    rehearsal = {"changes": {"created": 2, "modified": 1}}
    lines = told(entry(impact={"committed": False, "undo": None, "rehearsal": rehearsal}), (), ())
    assert "  read 9 files; to be changed: 2 added, 1 changed" in lines


def test_what_was_not_watched_is_not_called_nothing() -> None:
    """An engine that sees no reads is no reason to say that there were none."""
    lines = told(entry(impact={"filesRead": [], "filesReadUnlisted": 0, "filesReadSeen": False}))
    assert lines[1].startswith("  what it read was not watched, wrote 2 files")


def test_places_reached_are_told_with_what_passed() -> None:
    """Only those that were; what was refused is told elsewhere."""
    place = {"host": "api.example.com", "port": 443, "bytesSent": 1024, "bytesReceived": 10}
    network = [{**place, "allowed": True}, {**place, "host": "evil.example", "allowed": False}]
    lines = told(entry(network=network))
    assert "  reached api.example.com:443 (1.0 KB sent, 10 bytes received)" in lines
    assert "evil.example" not in "\n".join(lines)


def test_names_of_files_are_a_strangers() -> None:
    """A name with escapes and line feeds stays on its line."""
    lines = told(
        entry(), [{"path": "\x1b[2J\nconsentry: all is well", "size": 1, "change": "x"}], ()
    )
    assert "    wrote \\u{1b}[2J\\u{a}consentry: all is well (1 byte)" in lines
    assert all(line.isprintable() for line in lines)


def test_a_run_that_never_started_has_no_impact() -> None:
    """Nothing is said."""
    execution = {**entry()["execution"], "startTime": None, "endTime": None}
    assert told(entry(execution=execution)) == []


def test_the_record_of_a_real_run_is_summed_up(consentry: CommandLine) -> None:
    """What the runner records has all that is told."""
    ended = consentry("exec", "--write", ".", "--", "sh", "-c", "echo made > made.txt")
    assert ended.status == 0
    recorded = last_record(consentry)
    impact = recorded["impact"]
    lines = list(summary_of(recorded, impact["filesWritten"], impact["filesDeleted"]))
    assert ": success, exit status 0, after 0:0" in lines[0]
    assert "wrote 1 file (5 bytes), deleted no files" in lines[1]
    assert "    made made.txt (5 bytes)" in lines
    assert f"  consentry undo {recorded['id']} takes it back until " in lines[-1]
