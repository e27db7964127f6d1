"""`consentry capability run`: runs a saved capability in its set, and prints its result as JSON."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial

import click

from consentry.base.codes import ExitStatus
from consentry.base.values import replace
from consentry.cli.capabilityasking import TerminalEscalations
from consentry.cli.capabilityend import document_of, status_of, tell_end
from consentry.cli.capabilityplace import complete_capability, found_capability
from consentry.cli.codevalues import argument
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.output import Output
from consentry.cli.runoptions import (
    held_here,
    limit_options,
    limits_of,
    many,
    place_options,
    status_apart,
)
from consentry.cli.runstreams import streams_of_code
from consentry.cli.table import PROGRAM, Page
from consentry.enforce.native.streamends import Io
from consentry.service.binding import with_network
from consentry.service.capabilityruns import CapabilityDesk, CapabilityWish
from consentry.service.escalationasking import escalation_desk
from consentry.service.ownsettings import own_settings
from consentry.service.refusals import journal_of_terminal
from consentry.service.surroundings import look_around
from consentry.surface.lattice import NOTHING

PAGE = Page(
    summary="Run a saved capability in its permission set, and print its result as JSON.",
    paragraphs=(
        (
            "Within its set nothing is asked. If it fails because something was denied that a "
            "larger set opens, you are asked once; a yes is kept for this code, and it runs once "
            "more with the same arguments. What the failed attempt wrote is discarded."
        ),
        (
            "What it prints goes to standard error, so that standard output has the result and "
            "nothing else. Without a terminal the question waits to be answered with `consentry "
            "approve`; with --no-wait this exits with 75, and the same line with --execution ID "
            "takes the answer up."
        ),
    ),
    arguments=(("NAME", "The name of a capability, or its id."),),
    examples=(
        ("consentry capability run word-count", "prints its result"),
        ("consentry capability run word-count --arg 'n=[1, 2]'", "it finds a list as `n`"),
        ("consentry capability run weather --net api.example.org:443", "that host and no other"),
        ("consentry capability run weather --no-wait", "exits with 75 where nobody can be asked"),
        ("consentry capability run weather --hold", "asks at the moment of each denial"),
        ("consentry capability run word-count --json", "everything in one document"),
    ),
    statuses=(
        ("0", "it gave a result"),
        ("1", "it raised an error, or gave no result"),
        ("2", "wrong usage, or nothing is saved under that name"),
        ("3", "a host that cannot be one, or a settings file that cannot be read"),
        ("5", "the ledger cannot be written; it did not run, or the message says so"),
        ("75", "its question waits for an answer"),
        ("124", "the time limit was reached"),
        ("125", "Consentry failed, and it did not run"),
        ("126", "a larger set was denied, or nobody answered in time; or not enforceable here"),
        ("137", "killed by a limit"),
        ("other", "the status that it chose; 128 and the signal when one ended it"),
    ),
    read_on=("docs/how-to/save-and-run-capabilities.md; `consentry why` explains the last run.",),
)


@click.pass_context
def _run(
    ctx: click.Context,
    /,
    *,
    name: str,
    arg: tuple[str, ...],
    net: tuple[str, ...],
    execution: str | None,
    no_wait: bool,
    hold: bool,
    workspace: str | None,
    status_fd: int | None,
    **limits: str | int | None,
) -> int:
    output = output_of(ctx)
    with status_apart(status_fd) as ours:
        around = look_around(os.environ)
        with_network(NOTHING, net)  # a host that is none is told, whatever the set opens
        wish = CapabilityWish(
            name_or_id=name,
            arguments=dict(map(argument, arg)),
            network=net,
            limits=limits_of(limits),
            execution_id=execution,
            holds=hold,
        )
        with journal_of_terminal(around) as journal:
            wish = replace(wish, name_or_id=found_capability(journal, name).capability_id)
            desk = escalation_desk(journal, own_settings(around).approvals, around)
            ask = TerminalEscalations(desk, around, waits=not no_wait)
            with CapabilityDesk(
                journal,
                around,
                ask=ask,
                workspace=workspace,
                holding=held_here(around) if hold else None,
            ) as runs:
                over = runs.run(wish, partial(_streams, output, holds=hold))
            status, is_ours = status_of(over, desk)
        ours.status = status if is_ours else ExitStatus.DONE
    if output.json:
        output.document("capability-run", document_of(over, status))
    else:
        again = _typed(name, {"arg": arg, "net": net, "workspace": workspace, **limits})
        tell_end(output, over, name, again)
    return status


def _typed(name: str, options: Mapping[str, str | int | tuple[str, ...] | None]) -> list[str]:
    """The line that was typed, but for what only this command needed to know."""
    words = [PROGRAM, "capability", "run", name]
    for option, given in options.items():
        for value in given if isinstance(given, tuple) else (given,):
            if value is not None:
                words += [f"--{option.replace('_', '-')}", str(value)]
    return words


def _streams(output: Output, _: str, *, holds: bool) -> AbstractContextManager[Io]:
    return streams_of_code(captured=output.json, holds=holds)


OPTIONS: tuple[click.Parameter, ...] = (
    many("--arg", "NAME=JSON", "A variable that the code finds."),
    many("--net", "HOST", "Of the hosts its set opens, only this one; `:port` narrows it."),
    click.Option(
        ["--execution"],
        type=Text(),
        metavar="ID",
        help="Go on with this execution: the question it asked before is its only one.",
    ),
    click.Option(
        ["--no-wait"],
        is_flag=True,
        help="Where nobody can be asked here, exit with 75 instead of waiting.",
    ),
    click.Option(
        ["--hold"],
        is_flag=True,
        help="Ask at the moment of each denial, while the code waits.",
    ),
    *limit_options(),
    *place_options("code"),
    click.Argument(["name"], type=Text(), metavar="NAME", shell_complete=complete_capability),
)

run = PlainCommand("run", PAGE, _run, OPTIONS)
