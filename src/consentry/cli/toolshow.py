"""`consentry tool show`: one tool, looked at closely."""

import os
import shlex
from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_block, safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.configoptions import configuration_options
from consentry.cli.hanging import hanging
from consentry.cli.output import Output, page_width
from consentry.cli.table import Page
from consentry.cli.toolnames import complete_tool
from consentry.service.surroundings import look_around
from consentry.service.toolview import (
    ToolView,
    configuration_here,
    show_tool,
    starts,
    view_document,
    whose,
)
from consentry.surface.sentence import in_words

PAGE = Page(
    summary="Show a tool: what it may do, at which level it is asked for and why, its digest.",
    paragraphs=(
        (
            "The digest is over the manifest and the programs that it names, as they are now; a "
            "policy entry names it. Libraries and modules that a program loads are not in it."
        ),
    ),
    arguments=(("NAME", "Of the tool."),),
    examples=(
        ("consentry tool show make-docs", "for people"),
        ("consentry tool show make-docs --quiet", "the bare digest"),
        ("consentry tool show make-docs --json", "everything, with the digest of each program"),
    ),
    statuses=(
        ("0", "shown; a tool that could not run here is shown, too"),
        ("2", "wrong usage, no such tool, or a file that it names cannot be used"),
        ("3", "its manifest, or a document that it depends on, cannot be read"),
        ("4", "a plugin failed its integrity check, so nothing is shown"),
        ("5", "the ledger cannot be read"),
        ("126", "the configuration or the state directory is not safe to use"),
        ("127", "with --quiet: a program that it names was not found, so there is no digest"),
    ),
)
_LABEL = 12


@click.pass_context
def _show(
    ctx: click.Context, *, name: str, workspace: str | None, config: str | None
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    place, effective = configuration_here(around, workspace, config)
    view = show_tool(around, effective, place, name)
    if output.json:
        output.document("tool", {"tool": view_document(view)})
    elif output.quiet:
        if view.unbound is not None:
            raise view.unbound
        output.text("" if view.bound is None else view.bound.digest)
    else:
        output.text("\n".join(_lines(output, view)))
    return ExitStatus.DONE


def _lines(output: Output, view: ToolView) -> Iterator[str]:
    manifest = view.tool.manifest
    yield output.paint(safe_line(f"{manifest.name} {manifest.version}"), "bold")
    width = page_width() - 1
    yield from safe_block(manifest.description, origin="the manifest", width=width).split("\n")
    yield from _row("manifest", f"{view.tool.file}, {whose(view.tool)}")
    yield from _level(view)
    for words in starts(view):
        yield from _row("starts", shlex.join(words))
    yield from _row("powers", in_words(view.surface))
    if view.bound is not None:
        yield from _row("profile", view.bound.profile)
        # On a line of its own, where it fits whole, to be copied.
        yield "  digest"
        yield f"    {view.bound.digest}"
        for path, digest in view.bound.files.items() if output.verbose else ():
            yield from hanging("  of ", safe_line(path))
            yield f"    {digest}"
    if view.unbound is not None:
        yield from _row("cannot run", str(view.unbound))
        yield from _row("help", view.unbound.help_line)


def _level(view: ToolView) -> Iterator[str]:
    if view.level is None:
        yield from _row("denied", str(view.denied))
        return
    yield from _row("level", view.level.level.value)
    for reason in view.level.reasons:
        yield from _row("", reason)


def _row(label: str, text: str) -> list[str]:
    return hanging(f"  {label:<{_LABEL}}", safe_line(text))


show = PlainCommand(
    "show",
    PAGE,
    _show,
    [
        *configuration_options(),
        click.Argument(["name"], type=Text(), metavar="NAME", shell_complete=complete_tool),
    ],
)
