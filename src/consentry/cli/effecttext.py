"""The effect of a run as lines for a person; every word of it that the run chose is made safe here."""

from collections.abc import Iterator

from consentry.base.clock import Instant
from consentry.base.safetext import safe_line
from consentry.cli.output import Output
from consentry.service.effects import NO_END, WAITING, EffectView, ShownChange, ShownSide

_WIDEST = 400
_MOST_STAT = 2_000
_STYLES = {"+": "green", "-": "red"}


def effect_lines(output: Output, view: EffectView, *, in_short: bool) -> Iterator[str]:
    """All of it: what it comes to, each change, and what was dropped."""
    until = Instant.parse(view.until).shown()
    if view.state == WAITING:
        wait = f"would change this when it is committed; kept until {until}"
        yield output.paint(f"{safe_line(view.run_id)} {wait}", "bold")
        if view.needs_approval:
            yield "the commit has to be approved"
    else:
        yield output.paint(
            f"{safe_line(view.run_id)} changed this; can be undone until {until}", "bold"
        )
    shown = view.changes[:_MOST_STAT] if in_short else view.changes
    for each in shown:
        yield from _change(output, each, in_short=in_short)
    if len(shown) < len(view.changes):
        yield f"… and {len(view.changes) - len(shown)} more: --json lists them"
    if not view.changes:
        yield "no changes"
    if view.dropped:
        yield ""
        yield output.paint(f"dropped ({len(view.dropped) + view.dropped_unlisted})", "bold")
        for lost in view.dropped[:_MOST_STAT]:
            yield f"  {safe_line(lost.path)}: {safe_line(lost.rule)}"
        if view.dropped_unlisted:
            yield f"  … and {view.dropped_unlisted} more"
    yield ""
    found = [f"{count} {word}" for word, count in view.counts.items() if count]
    yield ", ".join(found) or "nothing"


def _change(output: Output, change: ShownChange, *, in_short: bool) -> Iterator[str]:
    about = _about(change)
    yield f"{change.word:<8} {safe_line(change.path)}{f'  ({about})' if about else ''}"
    if in_short:
        return
    for name, side in (("old", change.old), ("new", change.new)):
        if side is not None and side.sha256 is not None:
            yield f"  {name} sha256:{safe_line(side.sha256)}"
    for line in change.unified():
        yield f"  {_line(output, line)}"
    if change.note is not None:
        yield f"  {change.note}"


def _line(output: Output, line: str) -> str:
    """One line of a diff; its sign is ours, and keeps what stands behind it from being an edge."""
    sign = line[:1]
    if sign in ("@", NO_END[0]):
        return str(safe_line(line))
    safe = safe_line(("=" if sign == " " else sign) + line[1:], limit=_WIDEST)
    text = " " + safe[1:] if sign == " " else str(safe)
    return output.paint(text, _STYLES[sign]) if sign in _STYLES else text


def _about(change: ShownChange) -> str:
    old, new = change.old, change.new
    if old is None or new is None:
        return _side(new or old)
    said = []
    if old.type != new.type:
        said.append(f"{old.type} → {new.type}")
    if old.mode != new.mode:
        said.append(f"mode {old.mode:04o} → {new.mode:04o}")
    if old.target != new.target and new.target is not None:
        said.append(f"→ {safe_line(new.target)}")
    if new.type == "file" and change.word != "mode":
        said.append(f"{old.size} → {new.size} bytes")
    return ", ".join(said)


def _side(side: ShownSide | None) -> str:
    if side is None:
        return ""
    if side.target is not None:
        return f"{side.type} → {safe_line(side.target)}"
    if side.type == "file":
        return f"mode {side.mode:04o}, {side.size} bytes"
    return f"{side.type}, mode {side.mode:04o}"
