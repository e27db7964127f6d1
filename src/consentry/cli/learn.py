"""`consentry learn`: watches a command, and writes the narrowest manifest that would do for it."""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of
from consentry.cli.hanging import hanging
from consentry.cli.output import Output, write_answer, write_message
from consentry.cli.runoptions import (
    exit_status,
    limit_options,
    limits_of,
    many,
    net_options,
    place_options,
    read_option,
    status_apart,
)
from consentry.cli.runstreams import streams
from consentry.cli.runtext import rehearsed_at_the_end
from consentry.cli.table import Page
from consentry.service.commandline import RunWish
from consentry.service.learning import STANDARD_OUTPUT, LearnWish, Lesson
from consentry.service.learning import learn as carry_out_learning
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Watch a command, and write the narrowest manifest that would do.",
    paragraphs=(
        (
            "The command may read and write the whole workspace and start any program, in a "
            "rehearsal: what it writes is kept apart, and reaches your files only by `consentry "
            "commit`. It has no network unless a host is named: what is sent cannot be taken back."
        ),
        (
            "The manifest lists what was read, written, started and reached. Purposes are yours to "
            "fill in; files that often hold secrets are called out. Where it exists already, what "
            "is new is added and nothing is taken away: learn again with other arguments to widen it."
        ),
    ),
    arguments=(("COMMAND", "The program and its arguments, behind `--`."),),
    examples=(
        ("consentry learn -- make", "writes .consentry/tools/make.yaml"),
        ("consentry learn --out - -- ./report.sh", "prints it, and writes no manifest"),
        ("consentry learn --net example.org -- ./fetch.py", "may reach that host meanwhile"),
    ),
    statuses=(
        ("0", "the command ended with 0, and the manifest is written"),
        ("2", "wrong usage; or the command's own status"),
        ("3", "the manifest that is there cannot be read; the command did not run"),
        ("5", "the ledger cannot be written; the command did not run, or the message says so"),
        ("124", "the time limit was reached; what was seen until then is written"),
        ("125", "Consentry failed, and the command did not run"),
        ("126", "refused: not enforceable here, never granted, or not executable"),
        ("127", "the program was not found"),
        ("137", "killed by a limit; what was seen until then is written"),
        ("other", "the command's own status; what was seen is written all the same"),
    ),
    read_on=("docs/how-to/learn-a-manifest.md; docs/reference/tool-manifest.md.",),
)
_MOST_SHOWN = 10


class _LearnCommand(PlainCommand):
    """Options end where the program's name stands; what follows is the program's own."""

    allow_interspersed_args = False


@click.pass_context
def _learn(
    ctx: click.Context,
    /,
    *,
    command: tuple[str, ...],
    name: str | None,
    out: str | None,
    net: tuple[str, ...],
    secret: tuple[str, ...],
    secret_ca: str | None,
    workspace: str | None,
    status_fd: int | None,
    read: tuple[str, ...],
    env: tuple[str, ...],
    **limits: str | int | None,
) -> int:
    output = output_of(ctx)
    is_printed = out == STANDARD_OUTPUT
    with status_apart(status_fd) as ours:
        run = RunWish(
            words=command,
            read=read,
            environment=env,
            network=net,
            secrets=secret,
            secret_ca=secret_ca,
            limits=limits_of(limits),
        )
        is_capped = run.limits.output_bytes is not None
        with streams(captured=output.json or is_printed, capped=is_capped) as io:
            lesson = carry_out_learning(
                LearnWish(run, name, out), look_around(os.environ), io, workspace
            )
        status, is_ours = exit_status(lesson.run.status, lesson.run.outcome)
        ours.status = status if is_ours else ExitStatus.DONE
    if output.json:
        output.document("learn", _document(lesson, status))
        return status
    if is_printed:
        write_answer(lesson.text)
    if not output.quiet:
        write_message("\n".join(_told(output, lesson, status)))
    return status


def _document(lesson: Lesson, status: int) -> dict[str, object]:
    return {
        "run": lesson.run.audit_id,
        "exit_status": status,
        "file": None if lesson.file is None else str(lesson.file),
        "new": lesson.is_new,
        "added": list(lesson.added),
        "manifest": lesson.text,
        "sensitive": [{"path": path, "why": why} for path, why in lesson.learned.sensitive],
        "refused": list(lesson.learned.draft.refused),
        "left_out": list(lesson.learned.left_out),
        "complete": lesson.learned.is_complete,
    }


def _told(output: Output, lesson: Lesson, status: int) -> Iterator[str]:
    draft = lesson.learned.draft
    counts = (
        f"{len(draft.read)} read, {len(draft.write)} written, {len(draft.commands)} started, "
        f"{len(draft.hosts)} reached"
    )
    yield output.paint(f"consentry: learned `{safe_line(draft.name)}`: {counts}", "bold")
    if status != ExitStatus.DONE:
        said = f"it ended with {status}: what it would have needed after that is not known"
        yield from hanging("  ", said)
    for path, why in lesson.learned.sensitive[:_MOST_SHOWN]:
        yield from hanging("  look at ", safe_line(f"{path}: {why}"), indent=4)
    yield from _more(len(lesson.learned.sensitive))
    for each in draft.refused[:_MOST_SHOWN]:
        yield from hanging("  refused ", safe_line(each), indent=4)
    yield from _more(len(draft.refused))
    for each in lesson.learned.left_out[:_MOST_SHOWN]:
        yield from hanging("  left out ", safe_line(f"{each}: no document can spell it"), indent=4)
    if not lesson.learned.is_complete:
        yield "  more was read than could be listed: the manifest is not complete"
    yield from _where(lesson)
    if lesson.would_change:
        yield from rehearsed_at_the_end(lesson.run.entry)


def _more(count: int) -> Iterator[str]:
    if count > _MOST_SHOWN:
        yield f"  … and {count - _MOST_SHOWN} more: the manifest and --json list them"


def _where(lesson: Lesson) -> Iterator[str]:
    if lesson.file is None:
        return
    cwd = Path.cwd()
    is_near = lesson.file.is_relative_to(cwd)
    file = safe_line(str(lesson.file.relative_to(cwd) if is_near else lesson.file))
    if lesson.is_new:
        yield from hanging("  wrote ", f"{file}; fill in the purposes", indent=4)
    elif not lesson.added:
        yield from hanging("  ", f"{file} asks for all of it already", indent=4)
    else:
        for each in lesson.added:
            yield from hanging("  added ", safe_line(each), indent=4)
        yield from hanging("  to ", file, indent=4)


OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(["--name"], metavar="NAME", help="Of the tool; from the command unless given."),
    click.Option(
        ["--out"],
        type=File(),
        metavar="FILE",
        help="Where the manifest goes; `-` prints it. A file that is there grows.",
    ),
    read_option(),
    many("--env", "NAME", "The variable keeps the value it has here."),
    *net_options(),
    *limit_options(),
    *place_options("command"),
    click.Argument(
        ["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND..."
    ),
)

learn = _LearnCommand("learn", PAGE, _learn, OPTIONS)
