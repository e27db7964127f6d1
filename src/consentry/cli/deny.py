"""`consentry deny`: says no to questions that wait."""

import click

from consentry.base.codes import ExitStatus
from consentry.base.errors import ConsentryError
from consentry.base.safetext import safe_line
from consentry.cli.answerplace import answers_here, tell_answered
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.output import write_message
from consentry.cli.table import PROGRAM, Page
from consentry.decide.identity import Role
from consentry.decide.question import Answer, Channel, Outcome

PAGE = Page(
    summary="Say no to questions that wait: what they ask for does not happen.",
    paragraphs=(
        "A no needs no confirmation, but a terminal: what comes through a pipe is no answer.",
        "Denying the effect of a strict run discards it; code keeps the permission set it has.",
    ),
    arguments=(("ID", "A request's id, or the beginning of one; `consentry inbox` lists them."),),
    examples=(
        ("consentry deny request-0198c2f4-…", "say no"),
        ("consentry deny 0198c2f4-71 --reason 'not on a Friday'", "and say why"),
    ),
    statuses=(
        ("0", "denied"),
        ("2", "wrong usage, or no request has that id"),
        ("5", "the ledger cannot be read or written"),
        ("126", "answered before, too late, superseded, or no terminal"),
    ),
    read_on=("docs/how-to/answer-requests.md.",),
)


@click.pass_context
def _deny(ctx: click.Context, *, ids: tuple[str, ...], reason: str | None) -> ExitStatus:
    output = output_of(ctx)
    done, status = [], ExitStatus.DONE
    with answers_here() as place:
        no = Answer(Outcome.DENIED, place.prompt.who, Role.OWNER, Channel.COMMAND, reason)
        if len(ids) == 1:
            done.append(place.answered(place.found(ids[0]), no))
        for named in ids if len(ids) > 1 else ():
            try:
                done.append(place.answered(place.found(named), no))
            except ConsentryError as problem:
                # The others are denied all the same: each is a decision of its own.
                write_message(f"{PROGRAM}: error[{problem.code}]: {safe_line(problem.message)}")
                status = problem.exit_status
    tell_answered(output, done)
    return status


deny = PlainCommand(
    "deny",
    PAGE,
    _deny,
    [
        click.Option(
            ["--reason"], type=Text(), metavar="TEXT", help="Why; recorded with the answer."
        ),
        click.Argument(["ids"], nargs=-1, required=True, type=Text(), metavar="ID..."),
    ],
)
