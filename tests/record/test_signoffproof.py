"""The fold against a reader that shares no code with it, over histories that nobody would think of."""

import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consentry.record.chain import ChainHead
from consentry.record.chainwatch import ChainWatch
from consentry.record.signoff import SignoffAnswer, SignoffFold
from consentry.record.signoffstates import StatesInMemory
from consentry.store.spilledstates import SpilledStates
from tests.record.signoffhistories import stories
from tests.record.signoffreader import Reader
from tests.record.signoffsamples import WINDOW, Story, good_story

IS_FULL = os.environ.get("CONSENTRY_PROOF", "small") == "full"
EXAMPLES = 5000 if IS_FULL else 150
MOST = 60 if IS_FULL else 30


def told(answer: SignoffAnswer) -> dict[str, Any]:
    """What the fold counted, in the words of the other reader."""
    gates = {gate.id: (gate.numerator, gate.denominator) for gate in answer.gates}
    return {
        **gates,
        "open": next(gate.open for gate in answer.gates if gate.id == "H-SLO-4"),
        "floors": {floor.id: (floor.found, floor.fixtures) for floor in answer.floors},
        "violations": {each["eventId"]: each["resolution"] is not None for each in answer.violations},
        "failures": sorted((each.kind, str(each.event_id)) for each in answer.integrity),
        "go": answer.is_go,
    }  # fmt: skip


def read(story: Story) -> dict[str, Any]:
    """What the other reader counts."""
    events = [json.loads(row.body) for row in story.rows()]
    reader = Reader(events, str(WINDOW.since), str(WINDOW.until))
    good, counted, still = reader.settled()
    violations = reader.violations()
    return {
        "H-KPI-1": reader.imports(),
        "H-KPI-2": reader.stable(),
        "H-KPI-3": reader.actions(),
        "H-SLO-4": (good, counted),
        "S-SLO-1": reader.bound(),
        "S-SLO-2": reader.rolled_back(),
        "S-SLO-3": (sum(not each for each in violations.values()), None),
        "S000-APPROVAL": reader.approved_runs(),
        "S000-ROLLBACK": reader.undone(),
        "open": still,
        "floors": reader.floors(),
        "violations": violations,
        "failures": reader.failures(),
        "go": reader.is_go(),
    }


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(stories(MOST))
def test_every_figure_is_what_a_plain_reader_counts(story: Story) -> None:
    """CONTRACTS §4: gates, floors, failures of integrity, violations and the verdict itself."""
    assert told(story.answer()) == read(story)


@settings(max_examples=EXAMPLES // 3, deadline=None, suppress_health_check=list(HealthCheck))
@given(stories(6), st.integers(0, 5))
def test_beside_a_good_history_the_verdict_is_that_of_a_plain_reader(
    story: Story, start: int
) -> None:
    """CONTRACTS §4-signoff: whatever is recorded beside what is a GO, both say the same of it."""
    good = good_story()
    for event in story.events:
        # Under ids of its own, so that nothing good is named by accident.
        text = json.dumps({**event, **{k: "…" for k, v in event.items() if v is ...}})
        good.events.insert(start, json.loads(text.replace("8000-0", "8000-f")))
        for name, value in event.items():
            if value is ...:
                good.events[start][name] = ...
    assert told(good.answer()) == read(good)


@settings(max_examples=EXAMPLES // 3, deadline=None, suppress_health_check=list(HealthCheck))
@given(stories(MOST), st.integers(2, 9))
def test_what_lies_on_disk_counts_as_in_memory(story: Story, held: int) -> None:
    """CONTRACTS §4-signoff: with room for a handful of records the answer is the same to the byte."""
    with SpilledStates(held) as states:
        fold = SignoffFold(WINDOW, states.make)
        for row in story.rows():
            fold.add(row)
        answer = fold.answer()
        assert json.dumps(answer.to_json()) == json.dumps(story.answer().to_json())
        assert json.dumps(fold.answer().to_json()) == json.dumps(answer.to_json())


@settings(max_examples=EXAMPLES // 3, deadline=None, suppress_health_check=list(HealthCheck))
@given(stories(MOST), st.data())
def test_chains_are_followed_in_whatever_order_their_rows_come(
    story: Story, data: st.DataObject
) -> None:
    """Times go back and forth here, so rows come before those that they name; none is a fault."""
    rows = data.draw(st.permutations(story.rows()))
    heads = {row.writer: row for row in sorted(rows, key=lambda row: row.seq)}
    watch = ChainWatch(StatesInMemory())
    for row in rows:
        watch.add(row)
    ends = [ChainHead(row.writer, row.seq, row.hash) for row in heads.values()]  # type: ignore[arg-type]
    assert list(watch.faults(ends)) == []


@pytest.mark.parametrize("wrong", ["numerator", "tags"])
def test_the_reader_would_find_a_wrong_count(wrong: str) -> None:
    """The control: a history that is not the one that was folded is told apart."""
    story, other = good_story(), good_story()
    if wrong == "numerator":
        other.checked("valid", answers=[{"code": "invalid-module-id", "path": None}])
    else:
        other.events[-1]["expectedOutcome"] = None
    assert told(story.answer()) != read(other)
    assert told(other.answer()) == read(other)
    assert not told(other.answer())["go"]
