"""`consentry grants explain`: why a module may use a capability or not, with the events behind it."""

from collections.abc import Iterator, Mapping

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of, usage_problem
from consentry.cli.hanging import LONGEST, hanging
from consentry.cli.moduleplace import READING, complete_module, host_option, modules_to_read
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.grant import PREFIX as GRANT_PREFIX
from consentry.decide.modulemode import ModuleMode
from consentry.record.envelope import EVENT_PREFIX
from consentry.record.events import EventType
from consentry.service.grantexplain import (
    MOST_EVENTS,
    Explanation,
    explained,
    wanted_by_event,
    wanted_by_grant,
    wanted_by_name,
)
from consentry.service.granttrail import Sort, TrailEvent, Wanted
from consentry.service.modulelist import module_named
from consentry.store.journal import Journal

PAGE = Page(
    summary="Tell why a module may use a capability or may not, with the events behind it.",
    paragraphs=(
        (
            "Four conditions have to hold: the package asks for it, it is in the catalog, a person "
            "granted it, and that grant is still valid. Each is told as it stands now, then the code "
            "that a check answers, then what happened: asked for, decided, given, used, refused."
        ),
    ),
    arguments=(
        ("MODULE", "The id of a module, of a grant, or of an event about a capability."),
        ("CAPABILITY", "With a module: the capability; `consentry module catalog` lists them."),
    ),
    examples=(
        ("consentry grants explain word-count state.read", "how that stands, and why"),
        ("consentry grants explain grant-0198c2f4-…", "what a grant is for, and its uses"),
        ("consentry grants explain event-0198c2f4-…", "why that happened"),
        ("consentry grants explain word-count state.read --quiet", "the bare code, or `usable`"),
    ),
    statuses=(
        ("0", "explained, whether it may be used or not"),
        ("2", "wrong usage, or no such module, host, grant or event"),
        *READING,
    ),
)

_MOST_LAST = 1000
_USABLE = "usable"
_LABEL = 16


@click.pass_context
def _explain(
    ctx: click.Context, *, named: str, capability_id: str | None, host: str | None, last: int
) -> ExitStatus:
    output = output_of(ctx)
    with modules_to_read() as journal:
        wanted = _wanted(journal, named, capability_id, host)
        if journal is None:  # what is asked about was found, so there is a ledger
            raise AssertionError(named)
        found = explained(journal, wanted, last)
    if output.json:
        output.document("grant-explain", found.to_json())
    elif output.quiet:
        output.text(found.code or _USABLE)
    else:
        output.text("\n".join(_rows(output, found)))
    return ExitStatus.DONE


def _wanted(
    journal: Journal | None, named: str, capability_id: str | None, host: str | None
) -> Wanted:
    if capability_id is not None:
        if journal is None:
            module_named(None, named, host)  # says that there is none
            raise AssertionError(named)
        return wanted_by_name(journal, named, capability_id, host)
    if named.startswith(f"{EVENT_PREFIX}-"):
        return wanted_by_event(journal, named, host)
    if named.startswith(f"{GRANT_PREFIX}-"):
        return wanted_by_grant(journal, named)
    raise usage_problem(
        f"which capability of `{named}` is meant is not said",
        f"write `consentry grants explain {named} CAPABILITY`, or name a grant or an event",
    )


def _rows(output: Output, found: Explanation) -> Iterator[str]:
    wanted, identity = found.wanted, found.identity
    version = "" if identity is None else f" {identity.module_version}"
    about = f"{wanted.capability_id} for {wanted.module_id}{version} in {wanted.host_id}"
    answer = "can be used" if found.code is None else found.code
    style = "green" if found.code is None else "red"
    named = safe_line(about, limit=LONGEST)
    yield f"{output.paint(named, 'bold')}: {output.paint(answer, style)}"
    if found.code is not None:
        yield from hanging("  ", safe_line(found.why, limit=LONGEST))
    for session in found.only_in:
        yield f"  in {session} alone"
    for each in found.conditions:
        mark = output.paint("yes", "green") if each.holds else output.paint("no ", "red")
        start = f"  {mark} {each.name:<{_LABEL}}"
        said = safe_line(each.said, limit=LONGEST)
        yield from hanging(start, said, width_of_start=_LABEL + 6)
    if found.mode.mode is not ModuleMode.NORMAL:
        yield f"  the mode is {found.mode.mode}, and comes before every grant"
    yield from _trail(output, found)


def _trail(output: Output, found: Explanation) -> Iterator[str]:
    counts = found.trail.counts
    yield output.paint("what happened", "bold")
    if not found.trail.events:
        yield "  nothing yet"
        return
    for event in found.trail.events:
        mark = "> " if event.event_id == found.wanted.event_id else "  "
        said = safe_line(_said(event), limit=LONGEST)
        yield from hanging(f"{mark}{event.at.shown()}  ", said, indent=4)
    total = sum(counts.values())
    left_out = total - len(found.trail.events)
    if left_out:
        yield f"  {left_out} earlier ones are left out; --last N tells more"
    uses, refusals = counts[Sort.USE], counts[Sort.REJECTION]
    yield f"  {_times(uses)} used, {_times(refusals)} refused, as far as the ledger goes back"
    if len(found.hosts) > 1:
        yield "  several hosts have such a module, and events of a decision do not name the host"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _said(event: TrailEvent) -> str:
    payload = event.payload
    return f"{event.type}: {_words(event.type, payload)}  {event.event_id}"


def _words(kind: str, payload: Mapping[str, object]) -> str:
    action = payload.get("actionId")
    doing = "" if action is None else f" for {action}"
    match kind:
        case EventType.ESCALATION_REQUESTED.value:
            return f"asked for, {payload.get('decisionReasonCode')}{doing}"
        case EventType.ESCALATION_APPROVED.value | EventType.ESCALATION_DENIED.value:
            who = f"{payload.get('approverIdentity')} ({payload.get('approverRole')})"
            what = f"{payload.get('decision')}, {payload.get('decisionReasonCode')}"
            return f"{what}, scope {payload.get('grantScope')}, by {who}{doing}"
        case EventType.GRANT_GIVEN.value:
            given = f"{payload.get('grantId')}, {payload.get('scope')}"
            return f"{given}, for {payload.get('moduleVersion')}, by {payload.get('givenBy')}"
        case EventType.GRANT_REVOKED.value:
            return f"{payload.get('grantId')}, by {payload.get('revokedBy')}"
        case EventType.CHECK_REJECTED.value:
            return f"{payload.get('decisionReasonCode')}{doing}"
        case _:
            return f"under {payload.get('grantId')}{doing}, from {payload.get('origin')}"


explain = PlainCommand(
    "explain",
    PAGE,
    _explain,
    [
        host_option("The host, where several have the module."),
        click.Option(
            ["--last"],
            type=click.IntRange(1, _MOST_LAST),
            default=MOST_EVENTS,
            metavar="N",
            help=f"At most so many events of each sort; {MOST_EVENTS} unless given.",
        ),
        click.Argument(["named"], type=Text(), metavar="MODULE", shell_complete=complete_module),
        click.Argument(["capability_id"], type=Text(), required=False, metavar="[CAPABILITY]"),
    ],
)
