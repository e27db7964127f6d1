"""`consentry code`: runs one Python snippet, confined, and prints what it gives back as JSON.

A file of JavaScript or TypeScript is run by the engine `deno`, and prints for itself.
"""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.codescripts import require_plain, run_script
from consentry.cli.codevalues import STANDARD_INPUT, argument, as_json, places_of, typed_code
from consentry.cli.command import File, PlainCommand, output_of
from consentry.cli.output import write_answer, write_message
from consentry.cli.runoptions import (
    exit_status,
    ground_options,
    limit_options,
    limits_of,
    many,
    named_set,
    net_options,
    place_options,
    read_option,
    run_document,
    status_apart,
)
from consentry.cli.runstreams import streams_of_code
from consentry.cli.runtext import told_at_the_end
from consentry.cli.table import PROGRAM, Page
from consentry.declare.profile import EngineName
from consentry.enforce.engines.nativecode import SNIPPET
from consentry.record.auditfields import ExecutionStatus
from consentry.service.commandline import RunWish
from consentry.service.programsearch import is_script
from consentry.service.refusals import Asked, found_profile, journal_of_terminal
from consentry.service.snippetruns import MOST_SOURCE, CodeRun, CodeWish, carry_out_code
from consentry.service.surroundings import look_around
from consentry.service.userfiles import read_named

PAGE = Page(
    summary="Run a Python snippet, confined, and print its result as JSON.",
    paragraphs=(
        (
            "The result is `result` if the snippet sets it, else what it returns, else its last "
            "expression. Unless more is named, it can read the workspace and has a private /tmp "
            "and home folder, no network, and no other program."
        ),
        (
            "What it prints goes to standard error, so that standard output has the result and "
            "nothing else. It runs in the interpreter of this command, with its packages."
        ),
        (
            "A file that ends in .js, .ts or the like is run by the engine `deno`, as `consentry "
            "exec --engine deno` does: it prints where it wants to, and gives no result."
        ),
    ),
    arguments=(("FILE", "The snippet; `-` reads it from standard input."),),
    examples=(
        ("consentry code sum.py", "prints its result"),
        ("consentry code sum.py --arg 'n=[1, 2]'", "the snippet finds a list as `n`"),
        ("consentry code --set minimal - < sum.py", "may compute, and read nothing"),
        ("consentry code plot.py --preload numpy", "loads numpy before the snippet is looked at"),
        ("consentry code job.py --timeout 5s --json", "everything in one document"),
        ("consentry code fetch.py --net example.org:443", "may reach that host, and no other"),
        ("consentry code job.py --profile reports.yaml", "may do what the profile says"),
        ("consentry code --set readonly sum.ts", "TypeScript, which may read ./data"),
    ),
    statuses=(
        ("0", "the snippet gave a result"),
        ("1", "the snippet raised an error, or gave no result"),
        ("2", "wrong usage, or the file cannot be read"),
        ("3", "the profile cannot be read"),
        ("5", "the ledger cannot be written; the snippet did not run, or the message says so"),
        ("124", "the time limit was reached"),
        ("125", "Consentry failed, and the snippet did not run"),
        ("126", "refused: not enforceable here, or never granted"),
        ("137", "killed by a limit"),
        ("other", "the status that the snippet chose; 128 and the signal when one ended it"),
    ),
    read_on=("`consentry why` explains the last run.",),
)

_NAME_OF_INPUT = "stdin.py"
_ENDED_FROM_OUTSIDE = (ExecutionStatus.TIMEOUT, ExecutionStatus.LIMIT)


@click.pass_context
def _code(
    ctx: click.Context,
    /,
    *,
    file: str,
    set_: str | None,
    profile: str | None,
    status_fd: int | None,
    read: tuple[str, ...],
    net: tuple[str, ...],
    secret: tuple[str, ...],
    secret_ca: str | None,
    preload: tuple[str, ...],
    arg: tuple[str, ...],
    workspace: str | None,
    **limits: str | int | None,
) -> int:
    output = output_of(ctx)
    with status_apart(status_fd) as ours:
        permission_set = named_set(set_, profile)
        around = look_around(os.environ)
        is_file = file != STANDARD_INPUT
        name = file if is_file else _NAME_OF_INPUT
        if is_script(name):
            require_plain(preload, arg)
            asked = Asked((name,))
            return run_script(
                RunWish(
                    words=(name,),
                    permission_set=permission_set,
                    profile=found_profile(
                        profile, asked, around, lambda: journal_of_terminal(around)
                    ),
                    read=read,
                    network=net,
                    secrets=secret,
                    secret_ca=secret_ca,
                    engine=EngineName.DENO,
                    limits=limits_of(limits),
                ),
                around,
                output,
                ours,
                workspace,
            )
        asked = Asked((name,), kind=SNIPPET)
        wish = CodeWish(
            source=read_named(file) if is_file else typed_code(MOST_SOURCE),
            name=name,
            is_file=is_file,
            permission_set=permission_set,
            profile=found_profile(profile, asked, around, lambda: journal_of_terminal(around)),
            read=read,
            network=net,
            secrets=secret,
            secret_ca=secret_ca,
            preload=preload,
            arguments=dict(map(argument, arg)),
            limits=limits_of(limits),
        )
        with streams_of_code(captured=output.json) as io:
            run = carry_out_code(wish, around, io, workspace=workspace)
        status, is_ours = status_of(run)
        ours.status = status if is_ours else ExitStatus.DONE
    if output.json:
        output.document("code", document_of(run, status))
        return status
    if run.error is None:
        write_answer(as_json(run.result) + "\n")
    elif run.status not in _ENDED_FROM_OUTSIDE:
        if output.verbose:
            write_message("\n".join(places_of(run.error.traceback)))
        write_message(f"{PROGRAM}: {safe_line(run.error.type)}: {safe_line(run.error.message)}")
    lines = [] if output.quiet else told_at_the_end(run.entry)
    if lines:
        write_message("\n".join(lines))
    return status


def status_of(run: CodeRun) -> tuple[int, bool]:
    """The snippet's own, or ours, which the second part says; and never 0 without a result."""
    status, is_ours = exit_status(run.status, run.outcome)
    has_none = status == ExitStatus.DONE and run.error is not None
    return ExitStatus.FOUND if has_none else status, is_ours


def document_of(run: CodeRun, status: int) -> dict[str, object]:
    """The answer in JSON: the record of the run, its result or error, and what it printed."""
    error = run.error
    return {
        **run_document(run, status),
        "result": run.result,
        "error": None
        if error is None
        else {"type": error.type, "message": error.message, "traceback": error.traceback},
    }


OPTIONS: tuple[click.Parameter, ...] = (
    *ground_options(),
    read_option(),
    *net_options(),
    many("--preload", "MODULE", "Loaded before the snippet is there."),
    many("--arg", "NAME=JSON", "A variable that the snippet finds."),
    *limit_options(),
    *place_options("snippet"),
    click.Argument(["file"], required=True, type=File(), metavar="FILE"),
)

code = PlainCommand("code", PAGE, _code, OPTIONS)
