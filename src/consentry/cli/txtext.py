"""A transaction as lines for a person: where it stands, whose it is, what it changes, what happened."""

from collections.abc import Iterator, Mapping
from typing import Final

from consentry.base.clock import Instant
from consentry.base.codes import Code, ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.cli.txdiff import diff_lines
from consentry.decide.transactionask import counted_in_words
from consentry.decide.txattempt import Attempt
from consentry.record.transactionstates import TransactionState
from consentry.service.transactionview import ListedTx, TxView, helps_next

_S = TransactionState
_MOST: Final = 240
_LABEL: Final = 12
_GOOD: Final = frozenset({_S.APPLIED, _S.APPROVED})
_BAD: Final = frozenset({_S.FAILED_TERMINAL, _S.RECOVERY_PENDING, _S.FAILED_PRE_APPLY})
_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_WAITS: Final = {
    _S.APPROVAL_PENDING: "waits for a person's answer",
    _S.APPROVED: "waits to be applied",
    _S.FAILED_PRE_APPLY: "waits for a new preview, or to be given up",
    _S.RECOVERY_PENDING: "waits for its document store",
    _S.APPLYING: "is being applied",
    _S.ROLLBACK_PENDING: "is being taken back",
}


def state_of(output: Output, attempt: Attempt) -> str:
    """Its state, coloured."""
    state = attempt.state
    style = "green" if state in _GOOD else "red" if state in _BAD else "bold"
    return output.paint(state.value, style)


def ago(now: Instant, then: Instant) -> str:
    """How long since then, in the largest unit that is full."""
    spent = now.since(then)
    for worth, unit in _UNITS:
        if spent.milliseconds >= worth:
            return f"{spent.milliseconds // worth}{unit} ago"
    return "just now"


def who_wants(attempt: Attempt) -> str:
    """For whom it is, and how they call it."""
    origin = attempt.origin
    label = f"“{safe_line(origin.label, limit=_MOST)}”"
    if origin.module is None:
        return f"the application {safe_line(origin.host_id, limit=_MOST)}, {label}"
    module = f"{origin.module.module_id} {origin.module.module_version} in {origin.host_id}"
    return f"{safe_line(module, limit=_MOST)}, {label}"


def list_lines(output: Output, listed: ListedTx, now: Instant) -> list[str]:
    """One of a list: its id and state, whose it is, how much it changes, and what it waits for."""
    attempt = listed.attempt
    number = f" (attempt {attempt.attempt_no})" if attempt.attempt_no > 1 else ""
    waits = _WAITS.get(attempt.state)
    if attempt.state is _S.APPROVED and attempt.lapsed(now) is not None:
        waits = "its approval has expired"
    parts = [_counts(listed.summary), ago(now, attempt.changed_at), *([waits] if waits else [])]
    return [
        f"{attempt.tx_id}  {state_of(output, attempt)}{number}  {_document(attempt)}",
        f"  {who_wants(attempt)}",
        f"  {'; '.join(parts)}",
    ]


def view_lines(output: Output, view: TxView) -> Iterator[str]:
    """All about one."""
    attempt = view.attempt
    number = f" attempt {attempt.attempt_no} of {view.attempts}" if view.attempts > 1 else ""
    yield f"{output.paint(attempt.tx_id, 'bold')}{number}: {state_of(output, attempt)}"
    yield from hanging("  ", view.said)
    yield from outcome_lines(attempt)
    yield from hanging("  next: ", view.helps)
    yield ""
    for name, said in _facts(view):
        yield from hanging(f"{name:<{_LABEL}}", said)
    yield ""
    if view.preview is None:
        yield "there is no preview"
    else:
        for line in diff_lines(view.diff):
            yield from line.rows(output)
        yield _counts(view.listed.summary)
    yield ""
    yield output.paint("what happened", "bold")
    if view.events_before:
        yield f"  {view.events_before} earlier events are left out: consentry audit log has them"
    for each in view.events:
        yield from hanging(f"  {each.at.shown()}  ", safe_line(each.said, limit=_MOST), indent=4)
        by = safe_line(each.actor, limit=_MOST)
        yield from hanging("    ", f"by {by}  {safe_line(each.event_id)}")


def outcome_lines(attempt: Attempt) -> Iterator[str]:
    """Why it stands so, where something went wrong."""
    error, violation = attempt.error, attempt.violation
    if violation is not None:
        said = f"{violation.capability_id}: {violation.why}"
        yield from hanging("  broke the policy: ", safe_line(said, limit=_MOST))
    if error is not None:
        again = " (can be tried again)" if error.safe_to_retry else ""
        said = f"[{error.code}] {error.why}".rstrip()
        yield from hanging("  because: ", f"{safe_line(said, limit=_MOST)}{again}")


def told(
    output: Output, attempt: Attempt, now: Instant, wanted: TransactionState | None = None
) -> ExitStatus:
    """Tells how an attempt came out of a command, and gives the status of that.

    `wanted` is where the command was to bring it: a change that was taken back since is not applied.
    """
    helps = helps_next(attempt, now)
    if output.json:
        output.document("tx-outcome", {"transaction": attempt.to_json(), "helps": helps})
    elif output.quiet:
        output.text(attempt.state.value)
    else:
        lines = [f"{attempt.tx_id}: {state_of(output, attempt)}", *outcome_lines(attempt)]
        if attempt.commit_id is not None and attempt.state in (_S.APPLIED, _S.ROLLED_BACK):
            lines.append(f"  commit {safe_line(attempt.commit_id, limit=_MOST)}")
        output.text("\n".join([*lines, *hanging("  next: ", helps)]))
    status = status_of(attempt)
    is_other = wanted is not None and attempt.state is not wanted
    return Code.TX_STATE.status if is_other and status is ExitStatus.DONE else status


def status_of(attempt: Attempt) -> ExitStatus:
    """How a command ends that leaves an attempt so (CONTRACTS §11)."""
    match attempt.state:
        case _S.APPLIED | _S.APPROVED:
            return ExitStatus.DONE
        case _S.ROLLED_BACK if attempt.violation is None:
            return ExitStatus.DONE
        case _S.APPROVAL_PENDING | _S.APPLYING | _S.ROLLBACK_PENDING | _S.RECOVERY_PENDING:
            return Code.APPROVAL_PENDING.status
        case _:
            return Code.TX_STATE.status


def _facts(view: TxView) -> Iterator[tuple[str, str]]:
    attempt, approval = view.attempt, view.attempt.approval
    origin = attempt.origin
    yield "document", _document(attempt)
    yield "for", who_wants(attempt)
    if origin.module is not None:
        commands = ", ".join(origin.commands) or "none"
        action = f"{origin.action_id}, which calls {commands}, from {origin.origin}"
        yield "action", safe_line(action, limit=_MOST)
    rule = origin.rule
    if rule is not None:
        who = f", by {rule.approver}" if rule.approver is not None else ""
        yield "approval", safe_line(f"{rule.level}{who}, because: {rule.reason}", limit=_MOST)
    yield "asked", f"{attempt.created_at.shown()} by {safe_line(origin.proposed_by)}"
    yield "changed", attempt.changed_at.shown()
    if attempt.base_revision is not None:
        change = f"{attempt.base_revision} → {attempt.candidate_revision}"
        yield "revision", safe_line(change, limit=_MOST)
    if attempt.preview_hash is not None:
        yield "preview", attempt.preview_hash
    if view.request is not None and view.request.is_pending:
        yield (
            "question",
            f"{view.request.request_id}, no by itself at {view.request.deadline.shown()}",
        )
    if approval is not None:
        ends = approval.expires_at
        counts = f"{'expired' if view.now >= ends else 'counts until'} {ends.shown()}"
        by = f"{approval.approver_id} ({approval.approver_role})"
        yield "approved", f"{approval.decision_at.shown()} by {safe_line(by)}, {counts}"
    for name, key in (("apply key", attempt.apply_key), ("undo key", attempt.rollback_key)):
        if key is not None:
            yield name, safe_line(key, limit=_MOST)
    if attempt.commit_id is not None:
        yield "commit", safe_line(attempt.commit_id, limit=_MOST)
    if attempt.recover_by is not None and attempt.state is _S.RECOVERY_PENDING:
        yield "held until", attempt.recover_by.shown()
    if view.listed.blocks_since is not None:
        since = view.listed.blocks_since.shown()
        yield "blocks", f"every change of this document, since {since}"
    yield "seen as", view.role.value


def _document(attempt: Attempt) -> str:
    return str(safe_line(attempt.document_id, limit=_MOST))


def _counts(summary: Mapping[str, int] | None) -> str:
    return "no preview" if summary is None else counted_in_words(summary.items())
