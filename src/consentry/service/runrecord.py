"""The audit entry of one run (CONSENT §audit): what was started, how it ended, what it touched.

Everything that is said has a source, and every list says which: the kernel, what we opened ourselves,
or what an observer saw. Nothing is taken from the words that a program prints. Paths of the workspace
are relative to it, as CONSENT has them, all others absolute.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.report import Reach
from consentry.enforce.engine import Ending, HeldAs, Outcome, ProgramRun
from consentry.enforce.layer import path_text
from consentry.enforce.programs import NATIVE
from consentry.enforce.undoshelf import Shelved
from consentry.enforce.violations import PermissionDenied, Truth
from consentry.record.auditfields import ExecutionStatus, Trigger
from consentry.record.envelope import Context
from consentry.service.binding import BoundWish
from consentry.service.consentrecord import MOST_LISTED, listed, tool_said, user_given
from consentry.service.heldrecord import held_entries, request_for, written_by_answers
from consentry.service.manifestkeys import as_manifest_keys
from consentry.service.readhashes import ReadHashes
from consentry.service.rundecision import RunDecision
from consentry.surface.modes import Writes

AUDIT_PREFIX: Final = "audit"
_KIB: Final = 1 << 10
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What is kept of a run whose writes wait to be committed; how many changes of each kind."""

    kept_until: Instant
    needs_approval: bool
    counts: Mapping[str, int]
    dropped: int

    def to_json(self) -> dict[str, Json]:
        """As it stands in the record."""
        return {
            "keptUntil": str(self.kept_until),
            "needsApproval": self.needs_approval,
            "changes": dict(self.counts),
            "dropped": self.dropped,
        }


@dataclass(frozen=True, slots=True)
class Impact:
    """What a run changed, ready to be recorded; `discarded` says why nothing was taken over.

    `truth` says who vouches for the two lists. `rehearsal` is there where the changes are kept
    until they are committed, `undo` where they were; `effect` is the digest of all of them.
    """

    written: tuple[dict[str, Json], ...] = ()
    deleted: tuple[dict[str, Json], ...] = ()
    committed: bool = False
    discarded: str | None = None
    violations: tuple[PermissionDenied, ...] = ()
    is_complete: bool = True
    truth: Truth = Truth.KERNEL
    rehearsal: Rehearsal | None = None
    undo: Shelved | None = None
    effect: Digest | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """All there is to say of a run; without an outcome, `problem` says why there is none."""

    bound: BoundWish
    decision: RunDecision
    permit: Permit
    digests: Mapping[str, Digest]
    trigger: Trigger
    started_at: Instant | None = None
    ended_at: Instant | None = None
    outcome: Outcome | None = None
    impact: Impact = Impact()
    problem: tuple[str, str] | None = None
    engine: str = NATIVE

    @property
    def status(self) -> ExecutionStatus:
        """How it ended, in the words of the audit entry."""
        if self.outcome is None:
            return (
                ExecutionStatus.NOT_STARTED if self.started_at is None else ExecutionStatus.KILLED
            )
        is_finished = self.outcome.ending in (Ending.SUCCESS, Ending.FAILURE)
        if is_finished and self.impact.discarded is not None:
            return ExecutionStatus.DISCARDED
        return ExecutionStatus(self.outcome.ending.value)

    @property
    def violations(self) -> tuple[PermissionDenied, ...]:
        """What was refused while it ran, and what was dropped afterwards."""
        observed = () if self.outcome is None else self.outcome.violations
        found = (*observed, *self.impact.violations)
        tool = self.decision.tool
        return found if tool is None else as_manifest_keys(found, tool, self.bound.confinement)


def audit_entry(
    audit_id: str, facts: RunFacts, context: Context, at: Instant, hashes: ReadHashes
) -> dict[str, Json]:
    """The payload of `tool.audit`."""
    confinement = facts.bound.confinement
    return {
        "id": audit_id,
        "timestamp": str(at),
        "tool": {
            **_named(facts),
            "path": named_path(str(facts.bound.started.program)),
            "arguments": [word_text(word) for word in confinement.program.line],
            **_image_of(confinement),
        },
        "user": user_given(context.actor, facts.decision, facts.permit.made_at),
        "execution": _execution(facts),
        "impact": _impact(facts, hashes),
        "sandbox": _sandbox(facts, hashes),
        "context": {
            "workflowId": context.workflow_id,
            "sessionId": context.session_id,
            "triggeredBy": facts.trigger.value,
            "workspace": named_path(str(confinement.workspace)),
            "folder": named_path(str(confinement.program.folder)),
        },
        "permitId": facts.permit.permit_id,
    }


def _named(facts: RunFacts) -> dict[str, Json]:
    """A tool by its manifest, a capability by its version, any other program by its file's bytes."""
    tool = facts.decision.tool
    if tool is not None:
        return tool_said(tool)
    if facts.decision.in_set is not None:
        return facts.decision.in_set.named()
    program = str(facts.bound.started.program)
    name = facts.bound.confinement.program.path.name
    return {"name": name, "version": facts.digests.get(program, "unknown")}


def _image_of(confinement: Confinement) -> dict[str, Json]:
    """The image that a program lies in: its digest and the path in it name the bytes that ran."""
    image = confinement.program.image
    return {} if image is None else {"image": {"name": image.name, "id": image.digest}}


def _execution(facts: RunFacts) -> dict[str, Json]:
    outcome = facts.outcome
    return {
        "startTime": None if facts.started_at is None else str(facts.started_at),
        "endTime": None if facts.ended_at is None else str(facts.ended_at),
        "status": facts.status.value,
        "exitCode": None if outcome is None else outcome.exit_code,
        "signal": None if outcome is None else outcome.signal,
        "limit": None if outcome is None else outcome.limit,
        "problem": None
        if facts.problem is None
        else {"code": facts.problem[0], "message": word_text(facts.problem[1])},
    }


def _impact(facts: RunFacts, hashes: ReadHashes) -> dict[str, Json]:
    workspace = facts.bound.confinement.workspace
    reads = () if facts.outcome is None else facts.outcome.reads
    states = {} if facts.outcome is None else facts.outcome.read_states
    held = {} if facts.outcome is None else facts.outcome.reads_held
    tool = facts.decision.tool
    shown = listed(tool, reads)
    answered = () if facts.outcome is None else facts.outcome.held_operations
    at_once = written_by_answers(answered, lambda path: shown_path(path, workspace), hashes)
    read: list[Json] = [
        {
            "path": shown_path(path, workspace),
            # What is at these names inside is the copy of the hashed bytes.
            "hash": facts.digests.get(path) or hashes.digest_of(path, states.get(path, ())),
            "held": held.get(path, HeldAs.EXACT).value,
        }
        for path in shown
    ]
    truth = Truth.OBSERVED if facts.outcome is None else facts.outcome.reads_truth
    return {
        "filesRead": read,
        "filesWritten": list(listed(tool, (*facts.impact.written, *at_once))),
        "filesDeleted": list(listed(tool, facts.impact.deleted)),
        "committed": facts.impact.committed,
        "discarded": facts.impact.discarded,
        "filesReadSeen": facts.outcome is not None and facts.outcome.sees_reads,
        "rehearsal": None if facts.impact.rehearsal is None else facts.impact.rehearsal.to_json(),
        "undo": _undo(facts.impact.undo),
        "effectDigest": facts.impact.effect,
        "held": held_entries(answered[:MOST_LISTED], lambda path: shown_path(path, workspace)),
        "filesReadUnlisted": len(reads) - len(shown),
        "hashingLeftOut": {
            "count": hashes.left_out_count,
            "paths": [shown_path(path, workspace) for path in hashes.left_out],
        },
        "truth": {
            "filesRead": truth.value,
            "filesWritten": facts.impact.truth.value,
            "filesDeleted": facts.impact.truth.value,
        },
    }


def _layer_of(confinement: Confinement) -> str | None:
    """Where what was written was kept until it was taken over; None where it was not kept."""
    return confinement.layer.value if confinement.writes is Writes.LAYER else None


def _undo(shelved: Shelved | None) -> dict[str, Json] | None:
    if shelved is None:
        return None
    return {"until": None if shelved.until is None else str(shelved.until), "why": shelved.why}


def _sandbox(facts: RunFacts, hashes: ReadHashes) -> dict[str, Json]:
    confinement, outcome = facts.bound.confinement, facts.outcome
    violations = facts.violations
    said: dict[str, Json] = {
        "profile": facts.bound.profile,
        "engine": facts.engine,
        "view": confinement.view.value,
        "holds": confinement.holds,
        "layer": _layer_of(confinement),
        "violations": [_violation(each) for each in violations[:MOST_LISTED]],
        "violationsComplete": outcome is not None
        and outcome.complete
        and facts.impact.is_complete
        and len(violations) <= MOST_LISTED,
        "resourceUsage": _usage(outcome),
        "controls": [],
        "programs": [],
        "environment": sorted(confinement.environment),
        "runtimeReads": {},
        "network": [],
        "networkUnlisted": 0,
        "secrets": [
            {
                "host": each.host,
                "port": each.port,
                "header": each.header,
                "source": each.source.value,
            }
            for each in confinement.secrets
        ],
        "truth": {
            "programs": Truth.OBSERVED.value,
            "runtimeReads": Truth.OBSERVED.value,
            "network": Truth.MEDIATED.value,
        },
    }
    if outcome is not None:
        if outcome.mode is not None:
            said["mode"] = outcome.mode
        said["controls"] = [
            {
                "control": held.control.value,
                "mechanism": held.mechanism,
                "truth": held.truth.value,
            }
            for held in outcome.held
        ]
        said["programs"] = [_program(each, facts, hashes) for each in outcome.programs]
        said["network"] = [
            _reached(each, request_for(each, outcome.held_operations))
            for each in outcome.reached.places[:MOST_LISTED]
        ]
        said["networkUnlisted"] = (
            max(0, len(outcome.reached.places) - MOST_LISTED) + outcome.reached.left_out
        )
        said["runtimeReads"] = {
            named_path(root): count for root, count in outcome.runtime_reads.items()
        }
    return said


def _reached(each: Reach, request_id: str | None) -> dict[str, Json]:
    """A place that was asked for through the proxy, as that saw it."""
    return {
        "host": word_text(each.host),
        "port": each.port or None,
        "via": each.via,
        "allowed": each.is_allowed,
        "rule": each.rule,
        "why": each.why,
        "times": each.times,
        "bytesSent": each.sent,
        "bytesReceived": each.received,
        "addresses": list(each.addresses),
        "secret": each.secret,
        "held": request_id,
    }


def _violation(denied: PermissionDenied) -> dict[str, Json]:
    said = denied.to_json()
    return {**said, "resource": word_text(denied.resource), "allow": _text(denied.allow)}


def _usage(outcome: Outcome | None) -> dict[str, Json]:
    if outcome is None:
        return {"cpuTime": None, "memoryPeak": None}
    used = outcome.usage
    return {
        "cpuTime": Duration(round(used.cpu_seconds * 1000)).in_seconds(),
        "memoryPeak": _memory(used.peak_bytes),
        "memoryPeakBytes": used.peak_bytes,
        "processes": used.processes,
        "outputBytes": outcome.output_bytes,
        "truth": used.truth.value,
    }


def _memory(count: int) -> str:
    """Rounded up to whole megabytes, or kilobytes where it is less."""
    if count >= _MIB:
        return f"{-(-count // _MIB)}MB"
    return f"{-(-count // _KIB)}KB"


def _program(run: ProgramRun, facts: RunFacts, hashes: ReadHashes) -> dict[str, Json]:
    known = facts.digests.get(run.path) or facts.digests.get(os.path.realpath(run.path))
    return {
        "path": shown_path(run.path, facts.bound.confinement.workspace),
        "hash": known or hashes.digest_of_program(os.path.realpath(run.path)),
        "arguments": [word_text(word) for word in run.words],
        "times": run.times,
    }


def shown_path(path: str, workspace: Path) -> str:
    """Relative to the workspace where it lies in it, else absolute."""
    inside = str(workspace).rstrip("/") + "/"
    return named_path(path.removeprefix(inside))


def named_path(path: str) -> str:
    r"""A path as text that is valid Unicode and reads back: `\xNN` for odd bytes, `\\` for `\`."""
    return path_text(os.fsencode(path))


def word_text(word: str) -> str:
    r"""A word as it is, or with `\xNN` for bytes that are no Unicode."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _text(word: str | None) -> str | None:
    return None if word is None else word_text(word)
