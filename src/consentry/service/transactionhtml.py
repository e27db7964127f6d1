"""A transaction as one page that stands for itself: no script, nothing loaded from elsewhere.

Its policy forbids both, and every style that is not the one in its head. Ids, labels, paths and values were
written by modules and documents and go through `safe_html`. What is added, removed, replaced or moved is said
in words and by signs, not by colour alone. The page shows what one role sees, and says which.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final

from consentry.base.canonical import Json
from consentry.base.safetext import SafeHtml, safe_html
from consentry.decide.previewdiff import DiffChange, DiffEntity, DiffValue, Mark
from consentry.decide.statechange import Op
from consentry.decide.transactionask import counted_in_words
from consentry.record.transactionstates import TransactionState
from consentry.service.transactionview import TxView

_S = TransactionState
_KINDS: Final = {
    _S.APPLIED: "good",
    _S.APPROVED: "open",
    _S.APPROVAL_PENDING: "open",
    _S.FAILED_PRE_APPLY: "bad",
    _S.RECOVERY_PENDING: "bad",
    _S.FAILED_TERMINAL: "bad",
}
_CLASSES: Final = {Mark.ADDED: "added", Mark.REMOVED: "removed", Mark.KEPT: "kept"}
_VERBS: Final = {Op.ADD: "add", Op.REMOVE: "remove", Op.REPLACE: "replace", Op.MOVE: "move"}
_LONGEST: Final = 4_000
_NAME: Final = 400
_MOST_CHANGES: Final = 20_000
_MOST_VALUES: Final = 500


def transaction_page(view: TxView) -> Iterator[str]:
    """The pieces of the page."""
    yield _head(view)
    yield f'<section id="facts"><h2>What it is</h2><dl>{_facts(view)}</dl></section>\n'
    yield '<section id="changes"><h2>What it changes</h2>\n'
    yield from _changes(view)
    yield "</section>\n"
    yield f'<section id="events"><h2>What happened</h2>{_events(view)}</section>\n'
    yield "</main></body></html>\n"


@cache
def style() -> str:
    """The only style of the page."""
    report = files("consentry.record").joinpath("report.css")
    own = files("consentry.service").joinpath("transaction.css")
    return "".join(each.read_text(encoding="utf-8") for each in (report, own))


def policy() -> str:
    """What the page may do: be drawn with that style, and nothing else."""
    digest = b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(view: TxView) -> str:
    attempt = view.attempt
    number = f", attempt {attempt.attempt_no} of {view.attempts}" if view.attempts > 1 else ""
    kind = _KINDS.get(attempt.state, "")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>Change of {_name(attempt.document_id)}: {attempt.state}</title>"
        f"<style>{style()}</style></head>\n"
        f"<body><header><h1>Change of {_name(attempt.document_id)}</h1>"
        f'<p><span class="state {kind}">{attempt.state}</span></p>'
        f"<p>{safe_html(view.said[:1].upper() + view.said[1:])}.{_why(view)}</p>"
        f'<p class="dim">{_name(attempt.tx_id)}{number}, as it stood at '
        f"{safe_html(view.now.shown())}, seen as {view.role}.</p></header><main>\n"
    )


def _why(view: TxView) -> str:
    error, violation = view.attempt.error, view.attempt.violation
    said = ""
    if violation is not None:
        broke = _text(f"{violation.capability_id}: {violation.why}")
        said += f" It broke the policy: {broke}."
    if error is not None:
        said += f" Because: <code>{safe_html(error.code)}</code> {_text(error.why)}."
    return said


def _facts(view: TxView) -> str:
    attempt, origin, approval = view.attempt, view.attempt.origin, view.attempt.approval
    module = origin.module
    who = f"the application {_name(origin.host_id)}"
    if module is not None:
        who = f"the module {_name(f'{module.module_id} {module.module_version}')} in {_name(origin.host_id)}"
    facts: list[tuple[str, str]] = [
        ("next", _text(view.helps)),
        ("for", f"{who}, “{_name(origin.label)}”"),
    ]
    if module is not None:
        facts.append(("action", f"{_name(str(origin.action_id))}, from {_name(origin.origin)}"))
        facts.append(("commands", _text(", ".join(origin.commands) or "none")))
    if origin.rule is not None:
        facts.append(("approval", _text(f"{origin.rule.level}, because: {origin.rule.reason}")))
    facts.append(("asked", f"{_name(attempt.created_at.shown())} by {_name(origin.proposed_by)}"))
    for name, value in (
        ("from revision", attempt.base_revision),
        ("to revision", attempt.candidate_revision),
        ("preview", attempt.preview_hash),
    ):
        if value is not None:
            facts.append((name, f"<code>{_name(value)}</code>"))
    if approval is not None:
        word = "expired" if view.now >= approval.expires_at else "counts until"
        by = _name(f"{approval.approver_id} ({approval.approver_role})")
        ends = _name(approval.expires_at.shown())
        facts.append(("approved", f"{_name(approval.decision_at.shown())} by {by}, {word} {ends}"))
    if attempt.commit_id is not None:
        facts.append(("commit", f"<code>{_name(attempt.commit_id)}</code>"))
    if view.listed.blocks_since is not None:
        since = _name(view.listed.blocks_since.shown())
        facts.append(("blocks", f"every change of this document, since {since}"))
    return "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in facts)


def _changes(view: TxView) -> Iterator[str]:
    if view.preview is None:
        yield '<p class="dim">There is no preview.</p>'
        return
    summary = view.listed.summary or {}
    yield f'<p class="dim">In all: {safe_html(counted_in_words(summary.items()))}.</p>\n'
    left = _MOST_CHANGES
    for entity in view.diff:
        yield from _entity(entity, left)
        left -= len(entity.changes)
        if left <= 0:
            break


def _entity(entity: DiffEntity, most: int) -> Iterator[str]:
    scope = "" if entity.scope == "doc" else f' <span class="dim">{_name(entity.scope)}</span>'
    kind, own_id = entity.name
    yield f'<div class="entity"><h3>{_name(kind)} <code>{_name(own_id)}</code>{scope}</h3>\n'
    for change in entity.changes[:most]:
        yield _change(change)
    yield "</div>\n"


def _change(change: DiffChange) -> str:
    place = f"<code>{_name(change.place)}</code>" if change.place else "all of it"
    source = "" if change.source is None else f" from <code>{_name(change.source)}</code>"
    rows = "".join(map(_row, change.values[:_MOST_VALUES]))
    notes = []
    missing = len(change.values) - _MOST_VALUES
    if missing > 0:
        notes.append(f"{missing} more values are left out here")
    if change.stays:
        notes.append(f"values that stay as they are: {change.stays}")
    if change.is_redacted:
        notes.append("this role does not see all of it")
    said = "".join(f'<p class="note">{each}</p>' for each in notes)
    table = f'<table class="rows">{rows}</table>' if rows else ""
    verb = _VERBS[change.op]
    return f'<div class="change {verb}"><p><b>{verb}</b> {place}{source}</p>{table}{said}</div>\n'


def _row(each: DiffValue) -> str:
    sign = {Mark.ADDED: "+", Mark.REMOVED: "-", Mark.KEPT: "="}[each.mark]
    at = f'<td class="at"><code>{_name(each.place)}</code></td>' if each.place else ""
    value = f"<td><code>{_value(each.value)}</code></td>"
    return f'<tr class="{_CLASSES[each.mark]}"><td class="sign">{sign}</td>{at}{value}</tr>'


def _events(view: TxView) -> str:
    before = (
        f'<p class="dim">{view.events_before} earlier events are left out.</p>'
        if view.events_before
        else ""
    )
    rows = "".join(
        f"<li>{_name(each.at.shown())}: {_text(each.said)}, by {_name(each.actor)} "
        f'<span class="dim"><code>{_name(each.event_id)}</code></span></li>'
        for each in view.events
    )
    return f'{before}<ol class="events">{rows}</ol>'


def _value(value: Json) -> SafeHtml:
    return safe_html(json.dumps(value, ensure_ascii=False), limit=_LONGEST)


def _name(text: str) -> SafeHtml:
    return safe_html(text, limit=_NAME)


def _text(text: str) -> SafeHtml:
    return safe_html(text, limit=_LONGEST)
