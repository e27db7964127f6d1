"""What a person is told when a tool's run is over: its impact, and what became of its effect."""

from collections.abc import Iterator

from consentry.base.clock import Instant
from consentry.base.safetext import safe_line
from consentry.cli.impactsummary import impact_summary
from consentry.cli.output import write_message
from consentry.cli.runtext import rehearsed_at_the_end, told_at_the_end
from consentry.cli.table import PROGRAM
from consentry.decide.previewparts import Estimate
from consentry.record.auditfields import ConsentMethod
from consentry.service.rundecision import RunDecision
from consentry.service.toolruns import ToolRun


def tell_end(over: ToolRun, estimate: Estimate | None = None) -> None:
    """Everything worth knowing, on standard error; `estimate` is how long it took before."""
    write_message("\n".join([*told_at_the_end(over.run.entry), *_became(over, estimate)]))


def _became(over: ToolRun, estimate: Estimate | None) -> Iterator[str]:
    yield from impact_summary(over.run, estimate)
    run = over.run
    yield from _unasked(run.facts.decision)
    if over.problem is not None:
        yield f"{PROGRAM}: {over.problem.message}"
        if over.waits:
            yield f"  its effect is kept; an answer commits or discards it (`{PROGRAM} inbox`)"
        else:
            yield "  nothing of what it wrote was taken over"
    elif over.settled is not None:
        until = over.settled.undo_until
        yield f"{PROGRAM}: committed"
        if until is not None:
            yield f"  {PROGRAM} undo {run.audit_id} takes it back until {Instant.parse(until).shown()}"
    elif run.facts.impact.rehearsal is not None:
        yield from rehearsed_at_the_end(run.entry)


def _unasked(decision: RunDecision) -> Iterator[str]:
    """Why nobody was asked, where a yes from before stood for the answer."""
    if decision.method is ConsentMethod.REMEMBERED and decision.consented_at is not None:
        when = decision.consented_at.shown()
        yield f"  not asked: agreed to at {when} ({decision.consent_id})"
    elif decision.policy_entry is not None:
        yield f"  not asked: by the policy entry in {safe_line(str(decision.policy_entry.where))}"
