"""`consentry init`: a configuration to begin with."""

import os
from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of, usage_problem
from consentry.cli.configoptions import workspace_option
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.declare.starters import Place
from consentry.service.beginning import Begun, begin
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Begin a configuration: documents that work, and tools for what is found.",
    paragraphs=(
        (
            "In a workspace it writes `.consentry/`, and proposes a manifest for each script of "
            "package.json, each target of a Makefile and each checker of pyproject.toml. What they "
            "may do is a narrow guess to be read and widened by you; none has the network."
        ),
        "Nothing that is there is overwritten, and nothing of the project is run.",
    ),
    examples=(
        ("consentry init", "in this workspace"),
        ("consentry init --dry-run", "only say what it would write"),
        ("consentry init --own", "your own configuration, for every workspace"),
    ),
    statuses=(
        ("0", "written; what was there already is kept"),
        ("2", "wrong usage, or a place that cannot be used; nothing is left half-done"),
    ),
    read_on=("docs/reference/documents.md; docs/how-to/learn-a-manifest.md.",),
)


@click.pass_context
def _init(ctx: click.Context, *, own: bool, dry_run: bool, workspace: str | None) -> ExitStatus:
    output = output_of(ctx)
    if own and workspace is not None:
        raise usage_problem(
            "`--own` is for every workspace, and one is named", "leave one of the two out"
        )
    place = Place.OWN if own else Place.WORKSPACE
    around = look_around(os.environ)
    begun = begin(around, place, workspace_named=workspace, is_trial=dry_run)
    if output.json:
        output.document("init", _document(begun, dry_run=dry_run))
    elif output.quiet:
        if begun.written:
            output.text("\n".join(safe_line(str(begun.folder / name)) for name, _ in begun.written))
    else:
        output.text("\n".join(_told(output, begun, place, dry_run=dry_run)))
    return ExitStatus.DONE


def _document(begun: Begun, *, dry_run: bool) -> dict[str, object]:
    return {
        "folder": str(begun.folder),
        "written": [{"file": name, "about": about or None} for name, about in begun.written],
        "kept": list(begun.kept),
        "left_out": list(begun.left_out),
        "dry_run": dry_run,
    }


def _told(output: Output, begun: Begun, place: Place, *, dry_run: bool) -> Iterator[str]:
    yield from hanging("", output.paint(safe_line(str(begun.folder)), "bold"), width_of_start=0)
    verb = "would write" if dry_run else "wrote"
    for name, about in begun.written:
        yield from hanging(f"  {verb} ", safe_line(f"{name}: {about}" if about else name))
    for name in begun.kept:
        yield from hanging("  kept ", safe_line(name))
    for said in begun.left_out:
        yield from hanging("  left out ", safe_line(said))
    if dry_run:
        return
    if not begun.written:
        yield "all of it was there already"
    elif place is Place.WORKSPACE:
        yield "next: read them; `consentry tool lint` checks them, `consentry trust` accepts them"


init = PlainCommand(
    "init",
    PAGE,
    _init,
    [
        click.Option(["--own"], is_flag=True, help="Your own configuration, not a workspace's."),
        click.Option(["--dry-run"], is_flag=True, help="Write nothing; say what would be written."),
        workspace_option(),
    ],
)
