"""One audit entry as a part of the page: closed until somebody opens it, and nothing in it is trusted.

Lists are as long as a person reads; `consentry audit show` has all of them. With `logLevel: minimal` no
file is listed, whatever the entry holds.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from consentry.base.safetext import safe_html
from consentry.record.report import GROUPS, level_of, span_ms
from consentry.record.reportcharts import css_class, name_of, shown_span
from consentry.record.reportpowers import MINIMAL, host_of

MOST_FILES: Final = 40
_LONGEST: Final = 300
_GROUP_OF: Final = {status.value: name for name, each in GROUPS.items() for status in each}


def entry_html(entry: Mapping[str, Any]) -> str:
    """The article of one entry; its id is where links inside the page lead."""
    tool, execution = entry["tool"], entry["execution"]
    status = str(execution["status"])
    violations = entry["sandbox"]["violations"]
    denied = f'<span class="mark not-run">{len(violations)} refused</span>' if violations else ""
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in _rows(entry))
    return (
        f'<article id="{safe_html(str(entry["id"]))}"><details><summary>'
        f"<b>{name_of(str(tool['name']))}</b>{mark(status)}{denied}"
        f'<span class="dim">{_time(entry["timestamp"])}</span></summary>'
        f"<dl>{rows}</dl></details></article>\n"
    )


def mark(status: str) -> str:
    """How it ended, as a coloured word."""
    return f'<span class="mark {css_class(_GROUP_OF[status])}">{safe_html(status)}</span>'


def _rows(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    tool, user, execution = entry["tool"], entry["user"], entry["execution"]
    impact, sandbox, context = entry["impact"], entry["sandbox"], entry["context"]
    yield "entry", _code(entry["id"])
    yield "version", _code(tool["version"])
    if tool.get("digest"):
        yield "digest", _code(tool["digest"])
    yield "asked for", _code(" ".join(map(str, tool.get("arguments", ()))))
    yield "user", safe_html(str(user["id"]))
    yield "consent", _consent(entry)
    if user.get("reason"):
        yield "reason", safe_html(str(user["reason"]), limit=_LONGEST)
    span = span_ms(entry)
    code = "" if execution["exitCode"] is None else f", exit code {int(execution['exitCode'])}"
    yield "ended", f"{safe_html(str(execution['status']))}{code}"
    if span is not None:
        yield "took", shown_span(span)
    problem = execution.get("problem")
    if problem:
        said = f"{problem['code']}: {problem['message']}"
        yield "because", safe_html(said, limit=_LONGEST)
    yield "committed", _committed(impact)
    yield from _files(entry)
    if violations := sandbox["violations"]:
        yield "refused", _listed(_violation(each) for each in violations)
    if not sandbox.get("violationsComplete", True):
        yield "refused", "not complete: more was refused than is listed, or not all was seen"
    reached = [each for each in sandbox.get("network", ()) if each["allowed"] and each["port"]]
    if reached:
        yield "reached", _listed(_code(host_of(each)) for each in reached)
    usage = sandbox["resourceUsage"]
    if usage["cpuTime"] is not None:
        said = f"{usage['cpuTime']} of CPU time, {usage['memoryPeak']} at its peak"
        yield "used", safe_html(said)
    profile = f"{sandbox['profile']}, engine {sandbox.get('engine', 'not known')}"
    yield "sandbox", safe_html(profile, limit=_LONGEST)
    yield "context", safe_html(f"{context['triggeredBy']}, {context['sessionId'] or 'no session'}")


def _consent(entry: Mapping[str, Any]) -> str:
    user = entry["user"]
    given = "given" if user["consentGiven"] else "not given"
    at = "" if user["consentTimestamp"] is None else f", {_time(user['consentTimestamp'])}"
    return (
        f"{given}: {safe_html(str(user['consentMethod']))}, level {safe_html(level_of(entry))}{at}"
    )


def _committed(impact: Mapping[str, Any]) -> str:
    if impact["committed"]:
        undone = impact.get("undoneTimestamp")
        return "yes" if undone is None else f"yes, and taken back at {_time(undone)}"
    why = impact.get("discarded")
    return "no" if why is None else f"no: {safe_html(str(why), limit=_LONGEST)}"


def _files(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    impact = entry["impact"]
    if (entry["tool"].get("auditConfig") or {}).get("logLevel") == MINIMAL:
        yield "files", "not listed, as its tool wants it (logLevel minimal)"
        return
    truth = impact.get("truth", {})
    for key, name in (
        ("filesRead", "read"),
        ("filesWritten", "written"),
        ("filesDeleted", "deleted"),
    ):
        files = impact[key]
        if files:
            vouched = f", {safe_html(str(truth[key]))}" if key in truth else ""
            yield f"{name} ({len(files)}{vouched})", _listed(_code(each["path"]) for each in files)
    if impact.get("filesReadSeen") is False and entry["execution"]["startTime"] is not None:
        yield "read", "not watched by this engine"


def _violation(each: Mapping[str, Any]) -> str:
    times = int(each.get("times", 1))
    often = "" if times == 1 else f", {times} times"
    said = f"{_code(each['operation'])} {_code(each['resource'])}"
    return f"{said}: {safe_html(str(each['rule']), limit=_LONGEST)}{often}"


def _listed(items: Iterable[str]) -> str:
    found = list(items)
    shown = "".join(f"<li>{each}</li>" for each in found[:MOST_FILES])
    more = len(found) - MOST_FILES
    rest = f'<li class="dim">and {more} more</li>' if more > 0 else ""
    return f'<ul class="files">{shown}{rest}</ul>'


def _code(value: object) -> str:
    return f"<code>{safe_html(str(value), limit=_LONGEST)}</code>"


def _time(value: object) -> str:
    return safe_html(str(value).replace("T", " ").replace(".000Z", "Z"))
