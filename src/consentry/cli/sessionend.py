"""`consentry session end`: ends a session, and with it what was allowed for it."""

import os

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.table import Page
from consentry.service.sessionlist import Ending, end_session
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="End a session, and with it what was allowed for it.",
    paragraphs=("Without an id, the session of this terminal is ended.",),
    arguments=(("ID", "The session's id, as `consentry session list` prints it."),),
    examples=(
        ("consentry session end", "the one of this terminal"),
        ("consentry session end session-0198c2f4-…", "another one"),
    ),
    statuses=(
        ("0", "over, now or before; or none goes on at this terminal"),
        ("2", "wrong usage, or no session has that id"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _end(ctx: click.Context, *, session_id: str | None) -> ExitStatus:
    output = output_of(ctx)
    clock = SystemClock()
    ending = end_session(look_around(os.environ), clock, Uuid7Ids(clock), session_id)
    if output.json:
        session = None if ending.session is None else ending.session.to_json()
        output.document("session-end", {"session": session, "was_over": ending.was_over})
    elif not output.quiet:
        output.text(_words(ending))
    return ExitStatus.DONE


def _words(ending: Ending) -> str:
    session = ending.session
    if session is None:
        return "no session goes on at this terminal"
    if ending.was_over:
        when = (session.ended_at or session.started_at).shown()
        return f"{session.session_id} was over before: {when} ({session.ended_why})"
    return f"{session.session_id} is over"


end = PlainCommand(
    "end", PAGE, _end, [click.Argument(["session_id"], type=Text(), metavar="[ID]", required=False)]
)
