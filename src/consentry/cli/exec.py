"""`consentry exec`: runs one program, confined to what the line names."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import File, OneOf, PlainCommand, output_of
from consentry.cli.output import write_message
from consentry.cli.runoptions import (
    exit_status,
    ground_options,
    held_here,
    hold_option,
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
from consentry.cli.runstreams import streams
from consentry.cli.runtext import rehearsed_at_the_end, told_at_the_end
from consentry.cli.table import Page
from consentry.declare.profile import EngineName
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.refusals import (
    Asked,
    found_profile,
    journal_of_terminal,
)
from consentry.service.surroundings import look_around
from consentry.service.takeover import Arrival
from consentry.surface.modes import Denials, LayerPlace, View

PAGE = Page(
    summary="Run a program, confined to what this line names.",
    paragraphs=(
        (
            "Unless more is named, the program can read the workspace, has a private /tmp and home "
            "folder, no network, and can start no other program. What it was refused is told at "
            "the end, with the option that would allow it."
        ),
        "What it writes goes to a layer, and reaches your files when it has ended.",
    ),
    arguments=(("COMMAND", "The program and its arguments, behind `--`."),),
    examples=(
        ("consentry exec -- python3 script.py", "reads the workspace, nothing else"),
        ("consentry exec --write out -- make", "may write `out`"),
        ("consentry exec --exec any -- bash", "a shell to look around in"),
        ("consentry exec --timeout 10s --memory 512MB -- ./job", "no longer, no more"),
        (
            "consentry exec --rehearse --write . -- ./job",
            "change nothing yet, and see what it would",
        ),
        (
            "consentry exec --hold -- ./job",
            "ask me when it is refused something, and let it wait",
        ),
        (
            "consentry exec --engine deno --set readonly -- sum.ts",
            "TypeScript, inside Deno as well",
        ),
        (
            "consentry exec --image python:3 --exec any -- python3 x.py",
            "in a container of that image",
        ),
        ("consentry exec --json -- ./job", "everything in one document, output included"),
    ),
    statuses=(
        ("0", "the program ended with 0"),
        ("2", "wrong usage; or the program's own status"),
        ("3", "the profile cannot be read; or the program's own status"),
        ("5", "the ledger cannot be written; the program did not run, or the message says so"),
        ("124", "the time limit was reached"),
        ("125", "Consentry failed, and the program did not run"),
        ("126", "refused: not enforceable here, never granted, or not executable"),
        ("127", "the program was not found"),
        ("137", "killed by a limit"),
        ("other", "the program's own status; 128 and the signal when one ended it"),
    ),
    read_on=("`consentry why` explains the last run; docs/how-to/run-a-program-confined.md.",),
)


class _ExecCommand(PlainCommand):
    """Options end where the program's name stands; what follows is the program's own."""

    allow_interspersed_args = False


@click.pass_context
def _exec(
    ctx: click.Context,
    /,
    *,
    command: tuple[str, ...],
    set_: str | None,
    profile: str | None,
    view: str | None,
    layer: str | None,
    engine: str | None,
    image: str | None,
    attest: bool,
    net: tuple[str, ...],
    secret: tuple[str, ...],
    secret_ca: str | None,
    workspace: str | None,
    status_fd: int | None,
    keep_partial: bool,
    rehearse: bool,
    hold: bool,
    read: tuple[str, ...],
    write: tuple[str, ...],
    exec_: tuple[str, ...],
    env: tuple[str, ...],
    **limits: str | int | None,
) -> int:
    output = output_of(ctx)
    with status_apart(status_fd) as ours:
        permission_set = named_set(set_, profile)
        around = look_around(os.environ)
        found = found_profile(profile, Asked(command), around, lambda: journal_of_terminal(around))
        wish = RunWish(
            words=command,
            permission_set=permission_set,
            profile=found,
            read=read,
            write=write,
            execute=exec_,
            environment=env,
            network=net,
            secrets=secret,
            secret_ca=secret_ca,
            view=None if view is None else View(view),
            layer=None if layer is None else LayerPlace(layer),
            engine=None if engine is None else EngineName(engine),
            image=image,
            denials=Denials.ATTESTED if attest else Denials.OBSERVED,
            limits=limits_of(limits),
            holds=hold,
        )
        is_capped = wish.limits.output_bytes is not None
        with streams(captured=output.json, capped=is_capped, holds=hold) as io:
            run = carry_out(
                wish,
                around,
                io,
                workspace=workspace,
                keep_partial=keep_partial,
                arrival=Arrival.WHEN_COMMITTED if rehearse else Arrival.AT_ITS_END,
                holding=held_here(around) if hold else None,
            )
        status, is_ours = exit_status(run.status, run.outcome)
        ours.status = status if is_ours else ExitStatus.DONE
    if output.json:
        output.document("run", run_document(run, status))
    elif not output.quiet:
        lines = [
            *told_at_the_end(run.entry),
            *(rehearsed_at_the_end(run.entry) if rehearse else ()),
        ]
        if lines:
            write_message("\n".join(lines))
    return status


OPTIONS: tuple[click.Parameter, ...] = (
    *ground_options(),
    click.Option(
        ["--view"],
        type=OneOf([each.value for each in View]),
        metavar="private|visible",
        help="What is there: only what it is given, or your tree, closed.",
    ),
    click.Option(
        ["--layer"],
        type=OneOf([each.value for each in LayerPlace]),
        metavar="memory|disk",
        help="Where what it writes is kept until it has ended.",
    ),
    click.Option(
        ["--engine"],
        type=OneOf([each.value for each in EngineName]),
        metavar="NAME",
        help="What confines it; `auto`, the cheapest that holds all, unless a profile says.",
    ),
    click.Option(
        ["--image"],
        metavar="NAME",
        help="In a container of this image, by the engine `docker`; programs are the image's.",
    ),
    click.Option(
        ["--attest"],
        is_flag=True,
        help="Root only: read what Landlock refuses from the host's audit, turned on if need be.",
    ),
    read_option(),
    many("--write", "PATH", "May be written, with all below it.", kind=File()),
    click.Option(
        ["--exec", "exec_"],
        multiple=True,
        metavar="PROG|any",
        help="May be started as well; `any`: every program.",
    ),
    many("--env", "NAME", "The variable keeps the value it has here."),
    *net_options(),
    *limit_options(),
    click.Option(
        ["--keep-partial"],
        is_flag=True,
        help="Keep what it wrote even if a limit or a signal ended it.",
    ),
    click.Option(
        ["--rehearse"],
        is_flag=True,
        help="Keep what it wrote apart, to be looked at, committed or discarded later.",
    ),
    hold_option(),
    *place_options("program"),
    click.Argument(
        ["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND..."
    ),
)

exec = _ExecCommand("exec", PAGE, _exec, OPTIONS)  # noqa: A001 - the command's own word
