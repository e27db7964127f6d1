"""`consentry why`: tells of a recorded run: how it ended, what was stopped, and who vouches for it."""

import os
import shlex
from collections.abc import Iterator

import click

from consentry.base.clock import Instant
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.output import Output
from consentry.cli.runtext import (
    NOT_WATCHED,
    Entry,
    ending_in_words,
    held_rows,
    is_watched,
    stopped_rows,
)
from consentry.cli.table import Page
from consentry.record.auditfields import ConsentMethod
from consentry.service.ledgers import ledger_for_reading
from consentry.service.runlookup import find_run
from consentry.service.surroundings import look_around
from consentry.surface.modes import View

PAGE = Page(
    summary="Explain a recorded run: how it ended, what was stopped, and what would allow it.",
    paragraphs=("Without RUN it is the latest. With --verbose, also what held, and by what.",),
    arguments=(("RUN", "The id of a run, as `exec` and the ledger print it."),),
    examples=(
        ("consentry why", "the latest run"),
        ("consentry why audit-0198c2f4-…", "one run"),
        ("consentry why --json", "the whole record, for a script"),
    ),
    statuses=(
        ("0", "explained"),
        ("2", "wrong usage, or no such run is recorded"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
)

_MOST_FILES = 20
_IN_SET = "set:"


@click.pass_context
def _why(ctx: click.Context, *, run: str | None) -> ExitStatus:
    output = output_of(ctx)
    event_id, entry = find_run(ledger_for_reading(look_around(os.environ)), run)
    if output.json:
        output.document("why", {"event": event_id, "run": entry})
    elif output.quiet:
        output.text("\n".join(row.strip() for row in stopped_rows(_violations(entry))))
    else:
        output.text("\n".join(_lines(output, entry)))
    return ExitStatus.DONE


def _violations(entry: Entry) -> list[Entry]:
    found = list(entry["sandbox"]["violations"])
    if not _is_by_set(entry):
        return found
    # An option of `exec` allows nothing here.
    return [
        each if each["allow"] is None else {**each, "allow": "a larger permission set"}
        for each in found
    ]


def _is_by_set(entry: Entry) -> bool:
    """Whether it was saved code, or that of a task, which runs in its permission set unasked."""
    is_in_set = str(entry["sandbox"]["profile"]).startswith(_IN_SET)
    is_execution = entry.get("context", {}).get("workflowId") is not None
    return is_in_set and is_execution and entry["user"]["consentMethod"] == ConsentMethod.NONE


def _lines(output: Output, entry: Entry) -> Iterator[str]:
    tool, execution, sandbox = entry["tool"], entry["execution"], entry["sandbox"]
    words = tool.get("arguments") or [tool["name"]]
    yield output.paint(safe_line(shlex.join(words)), "bold")
    yield f"  run       {safe_line(entry['id'])}"
    yield from _subject(entry)
    if tool.get("image") is not None:
        yield f"  image     {safe_line(tool['image']['name'])}: what ran is a file of it"
    if execution["startTime"] is not None:
        yield f"  started   {Instant.parse(execution['startTime']).shown()}"
    yield f"  ended     {ending_in_words(entry)}"
    if execution.get("problem") is not None:
        yield f"  because   {safe_line(execution['problem']['message'])}"
    if execution.get("limit") is not None:
        yield f"  limit     {safe_line(str(execution['limit']))}"
    yield f"  profile   {safe_line(sandbox['profile'])}, by {safe_line(sandbox.get('engine', ''))}"
    if sandbox.get("view") == View.VISIBLE:
        yield "  view      visible: your tree was in sight, and closed but for the grants"
    used = sandbox["resourceUsage"]
    if used["cpuTime"] is not None:
        yield f"  used      {used['cpuTime']} of processor time, {used['memoryPeak']} of memory"
    if entry["impact"].get("rehearsal") is not None:
        until = Instant.parse(entry["impact"]["rehearsal"]["keptUntil"]).shown()
        yield f"  rehearsed kept until {until}, unless it was committed or discarded"
    yield from _asked(output, entry)
    yield from _stopped(output, entry)
    yield from _changed(output, entry)
    if output.verbose:
        yield from _held(output, entry)


def _subject(entry: Entry) -> Iterator[str]:
    """A tool by its name and how it was agreed to; code by its set; a program by its file and bytes."""
    tool, user = entry["tool"], entry["user"]
    path, version = safe_line(tool.get("path", tool["name"])), safe_line(tool["version"])
    if _is_by_set(entry):
        yield f"  code      {safe_line(tool['name'])} {version}, {safe_line(tool.get('digest', ''))}"
        yield f"  execution {safe_line(entry['context']['workflowId'])}"
        yield "  consent   none: its permission set decided"
        return
    if "auditConfig" not in tool:
        yield f"  program   {path}, {version}"
        return
    yield f"  tool      {safe_line(tool['name'])} {version}, {safe_line(tool.get('digest', ''))}"
    method = safe_line(user["consentMethod"].replace("_", " "))
    level = f" at level {safe_line(user['level'])}" if "level" in user else ""
    given = "" if user["consentGiven"] else "not given: "
    yield f"  consent   {given}{method}{level}"
    if user.get("reason"):
        yield f"  reason    {safe_line(user['reason'])}"


def _asked(output: Output, entry: Entry) -> Iterator[str]:
    rows = held_rows(entry)
    if rows:
        yield ""
        yield output.paint(f"asked for while it ran ({len(rows)})", "bold")
        yield from rows


def _stopped(output: Output, entry: Entry) -> Iterator[str]:
    violations = _violations(entry)
    yield ""
    if not is_watched(entry):
        yield f"what it read, what it wrote at once and what was stopped is {NOT_WATCHED}"
        return
    if not violations:
        yield "nothing was stopped" if _is_complete(entry) else "nothing that was stopped is known"
        return
    yield output.paint(f"stopped ({len(violations)})", "bold")
    yield from stopped_rows(violations)
    if not _is_complete(entry):
        yield "  the list is not complete"


def _is_complete(entry: Entry) -> bool:
    return bool(entry["sandbox"].get("violationsComplete", True))


def _changed(output: Output, entry: Entry) -> Iterator[str]:
    impact = entry["impact"]
    verb = "changed" if impact["committed"] else "written and not taken over"
    if impact.get("rehearsal") is not None:
        verb = "rehearsed: would be changed"
    if impact.get("truth", {}).get("filesWritten") == "observed" and impact["committed"]:
        verb = "written at once, as far as it was seen"
    at_once = [each["path"] for each in impact["filesWritten"] if each.get("held") == "direct"]
    lists = (
        (verb, [each["path"] for each in impact["filesWritten"] if each.get("held") != "direct"]),
        ("written to the host at once, by an answer", at_once),
        ("deleted", [each["path"] for each in impact["filesDeleted"]]),
        ("read", [each["path"] for each in impact["filesRead"]]),
    )
    for title, paths in lists:
        if paths and (title != "read" or output.verbose):
            yield ""
            yield output.paint(f"{title} ({len(paths)})", "bold")
            yield from (f"  {safe_line(path)}" for path in paths[:_MOST_FILES])
            if len(paths) > _MOST_FILES:
                yield f"  … and {len(paths) - _MOST_FILES} more: --json lists them"


def _held(output: Output, entry: Entry) -> Iterator[str]:
    yield ""
    mode = entry["sandbox"].get("mode")
    title = "held" if mode is None else f"held, in the {safe_line(mode)} mode of the engine"
    yield output.paint(title, "bold")
    for each in entry["sandbox"].get("controls", ()):
        control, mechanism = safe_line(each["control"]), safe_line(each["mechanism"])
        yield f"  {control:<16} {mechanism} ({safe_line(each['truth'])})"


why = PlainCommand("why", PAGE, _why, [click.Argument(["run"], required=False, metavar="[RUN]")])
