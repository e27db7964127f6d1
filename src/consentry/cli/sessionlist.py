"""`consentry session list`: the sessions that go on, one on a line."""

import os

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.table import Page
from consentry.decide.session import Session
from consentry.service.sessionlist import SessionList, list_sessions
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="List the sessions that go on, the oldest first.",
    paragraphs=(
        "A session starts with the first command at a terminal that records something.",
        "Looking ends those that are over: their process is gone, or they are older than 12 hours.",
    ),
    examples=(
        ("consentry session list", "those that go on"),
        ("consentry session list --all", "also those that are over"),
        ("consentry session list --quiet", "the bare ids, one on a line"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _list(ctx: click.Context, *, ended_too: bool) -> ExitStatus:
    output = output_of(ctx)
    clock = SystemClock()
    around = look_around(os.environ)
    found = list_sessions(around, clock, Uuid7Ids(clock), ended_too=ended_too)
    if output.json:
        sessions = [
            {**each.to_json(), "here": each.session_id == found.here} for each in found.sessions
        ]
        output.document("session-list", {"sessions": sessions})
    elif output.quiet:
        if found.sessions:
            output.text("\n".join(each.session_id for each in found.sessions))
    elif not found.sessions:
        output.text("no session goes on" if not ended_too else "there was no session yet")
    else:
        output.text("\n".join(_line(each, found) for each in found.sessions))
    return ExitStatus.DONE


def _line(session: Session, found: SessionList) -> str:
    since = f"{session.session_id}  {session.started_at.shown()}"
    who = f"{session.kind.value}  {safe_line(session.user)}"
    if session.ended_at is not None:
        return f"{since}  {who}  over {session.ended_at.shown()} ({session.ended_why})"
    return f"{since}  {who}" + ("  this terminal" if session.session_id == found.here else "")


list_ = PlainCommand(
    "list",
    PAGE,
    _list,
    [
        click.Option(
            ["--all", "ended_too"], is_flag=True, help="Also those that are over and still kept."
        )
    ],
)
