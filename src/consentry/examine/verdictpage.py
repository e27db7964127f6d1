"""A verdict as one page that stands for itself: no script, nothing loaded from elsewhere.

Its policy forbids both, and every style but the one in its head. File names, targets and reasons were
written by whoever made the change, and go through `safe_html`.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from consentry.base.safetext import safe_html
from consentry.declare.wish import Wish
from consentry.examine.allowance import refused_steps
from consentry.examine.answeringrule import answering_rule, rule_in_words
from consentry.examine.delta import Step
from consentry.examine.guard import Flags
from consentry.examine.sides import Doubt
from consentry.examine.stepwords import step_in_words
from consentry.examine.suggestedblock import suggested_block
from consentry.examine.verdict import Check, Verdict
from consentry.surface.dimensions import Dimension
from consentry.surface.lattice import Reach, spellings, standing

MOST_ROWS: Final = 2000
_NOTHING: Final = '<p class="dim">{}</p>'


def verdict_page(verdict: Verdict, described: str, wish: Wish | None, flags: Flags) -> str:
    """The whole page; `wish` and `flags` are what the change was judged by."""
    allowed = None if wish is None else wish.allowed
    delta = verdict.delta
    refused = delta.gained if allowed is None else refused_steps(delta, allowed)
    granted = [step for step in delta.gained if step not in refused]
    parts = (
        _head(verdict, described),
        _answer(verdict, wish, flags),
        _steps("Gained, and not allowed", refused),
        _steps("Gained, as the wish allows", granted),
        _doubts(delta.doubts),
        _steps("No longer there", delta.lost),
        _block(verdict, wish),
        _surfaces(verdict),
        _witnesses(verdict),
        "</main></body></html>\n",
    )
    return "".join(parts)


@cache
def style() -> str:
    """The only style of the page."""
    return files("consentry.examine").joinpath("verdictpage.css").read_text(encoding="utf-8")


def policy() -> str:
    """What the page may do: be drawn with that style, and nothing else."""
    digest = b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(verdict: Verdict, described: str) -> str:
    status = verdict.status.value
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{status}: powers of a change</title><style>{style()}</style></head>\n"
        f'<body><header><h1><span class="status {verdict.band.value.lower()}">{status}</span> '
        f"Powers of a change</h1><p>{safe_html(described or 'a change')}</p></header><main>\n"
    )


def _answer(verdict: Verdict, wish: Wish | None, flags: Flags) -> str:
    rule = answering_rule(verdict, wish, flags)
    judged = "no wish" if wish is None else f"the wish <b>{safe_html(wish.id)}</b>"
    mode = ", offline" if flags.offline else ""
    strict = "strict" if flags.strict else "not strict"
    rows = "".join(
        f"<tr><td><code>{safe_html(each.tag)}</code></td><td>{safe_html(each.detail)}</td></tr>"
        for each in verdict.reasons[:MOST_ROWS]
    )
    table = _table(("tag", "detail"), rows) if rows else ""
    return _section(
        "Why",
        f"<p>Rule {rule.value} of 7: {rule_in_words(rule, verdict)}.</p>"
        f'<p class="dim">Judged by {judged}; {strict}{mode}.</p>{table}',
    )


def _steps(title: str, steps: Sequence[Step]) -> str:
    if not steps:
        return ""
    rows = "".join(
        f"<tr><td>{safe_html(step.atom.dimension.value)}</td><td>{_marked(step_in_words(step))}</td>"
        f"<td>{_place(step.file, step.line)}</td><td>{safe_html(step.reason)}</td></tr>"
        for step in steps[:MOST_ROWS]
    )
    table = _table(("dimension", "power", "where", "what gives it"), rows)
    return _section(f"{title} ({len(steps)})", table + _left_out(len(steps)))


def _doubts(doubts: Sequence[Doubt]) -> str:
    if not doubts:
        return ""
    rows = "".join(
        f"<tr><td>{_place(each.file, each.about.line)}</td><td>{safe_html(each.about.reason)}</td></tr>"
        for each in doubts[:MOST_ROWS]
    )
    table = _table(("where", "what"), rows)
    return _section(f"Cannot be told ({len(doubts)})", table + _left_out(len(doubts)))


def _left_out(count: int) -> str:
    if count <= MOST_ROWS:
        return ""
    return _NOTHING.format(f"{count - MOST_ROWS} more are in the JSON document.")


def _block(verdict: Verdict, wish: Wish | None) -> str:
    suggestion = suggested_block(verdict.delta, None if wish is None else wish.allowed)
    parts = []
    if suggestion.never:
        listed = "".join(
            f"<li>{_marked(step_in_words(step))}, {_place(step.file, step.line)}</li>"
            for step in suggestion.never[:MOST_ROWS]
        )
        parts.append(f"<p>No wish can allow:</p><ul>{listed}</ul>")
    if suggestion.lines:
        text = "\n".join(map(_escaped, suggestion.lines))
        rest = "the rest" if suggestion.never else "it"
        parts.append(f"<p>This block would allow {rest}:</p><pre>{text}</pre>")
    return _section("What a wish would say", "".join(parts)) if parts else ""


def _escaped(line: str) -> str:
    """The block is ASCII already, and is copied from the page: nothing but markup is escaped."""
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _surfaces(verdict: Verdict) -> str:
    before, after = verdict.delta.before, verdict.delta.after
    rows = []
    for dimension in Dimension:
        cells = [_stands(surface[dimension]) for surface in (before, after)]
        changed = ' class="changed"' if cells[0] != cells[1] else ""
        rows.append(
            f"<tr{changed}><th>{dimension.value}</th><td>{cells[0]}</td><td>{cells[1]}</td></tr>"
        )
    return _section("Before and after", _table(("dimension", "before", "after"), "".join(rows)))


def _stands(reach: Reach) -> str:
    stands = standing(reach)
    level = [f"<b>{stands}</b>"] if isinstance(stands, str) else []
    shown = [f"<code>{safe_html(each)}</code>" for each in spellings(reach)[:MOST_ROWS]]
    return "<br>".join((*level, *shown)) or '<span class="dim">nothing</span>'


def _witnesses(verdict: Verdict) -> str:
    listed = "".join(f"<li><code>{safe_html(each)}</code></li>" for each in verdict.witnesses)
    rungs = "".join(
        f"<tr><th>{safe_html(rung.number)}</th><td>{'holds' if rung.ok else 'does not hold'}</td>"
        f"<td>{', '.join(_checks(rung.checks))}</td></tr>"
        for rung in verdict.rungs
    )
    return _section("Witnesses", f"<ul>{listed}</ul>{_table(('rung', 'stands', 'checks'), rungs)}")


def _checks(checks: Iterable[Check]) -> Iterator[str]:
    for each in checks:
        yield f"{safe_html(each.name)}{'' if each.ok else ': no'}"


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>\n"


def _table(heads: Sequence[str], rows: str) -> str:
    head = "".join(f"<th>{each}</th>" for each in heads)
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _place(file: str, line: int) -> str:
    return f"<code>{safe_html(file)}:{line}</code>"


def _marked(words: str) -> str:
    """Words of ours with targets between backticks; they were made safe before, but not for a page."""
    return _escaped(words).replace('"', "&quot;").replace("'", "&#39;")
