"""`consentry surface show`: the surface of code, with evidence."""

import click

from consentry.base.codes import ExitStatus
from consentry.cli.codereading import examined_code
from consentry.cli.command import File, Folder, PlainCommand, output_of
from consentry.cli.surfacetext import doubts_json, not_read_json, powers_text
from consentry.cli.table import Page
from consentry.examine.sides import Sited
from consentry.service.surfaces import Examined
from consentry.surface.sentence import in_words
from consentry.surface.wire import surface_to_json

PAGE = Page(
    summary="Show which powers code has, each with the lines that give it.",
    paragraphs=(
        (
            "Nothing is run or imported. A folder is read with all below it, but for version control, "
            "compiled modules and virtual environments; a file with what it imports from its own "
            "tree. What cannot be told is listed: it may do anything."
        ),
    ),
    arguments=(
        (
            "PATH",
            (
                "A file, a folder, a wheel, an sdist (`.tar.gz`, `.zip`); or, where no such path exists, "
                "the name of an installed distribution."
            ),
        ),
    ),
    examples=(
        ("consentry surface .", "the code in this folder"),
        ("consentry surface requests --all", "an installed distribution, every line of it"),
        ("consentry surface dist/app-1.0.tar.gz --json", "an sdist, for a script"),
        (
            "consentry surface click --site .venv/lib/python3.12/site-packages",
            "another environment",
        ),
    ),
    statuses=(
        ("0", "shown, whatever it can do"),
        ("2", "wrong usage, or it cannot be found or read"),
        ("4", "a plugin failed its integrity check, so nothing was examined"),
    ),
    read_on=("docs/how-to/see-what-code-can-do.md; docs/reference/surface.md.",),
)


@click.pass_context
def _show(ctx: click.Context, *, path: str, site: str | None, shows_all: bool) -> ExitStatus:
    output = output_of(ctx)
    examined = examined_code(path, site, quiet=output.quiet)
    if output.json:
        output.document("surface", _document(examined))
    elif output.quiet:
        output.text(in_words(examined.surface))
    else:
        shows = shows_all or output.verbose
        output.text("\n".join(powers_text(output, examined, shows_all=shows)))
    return ExitStatus.DONE


def _document(examined: Examined) -> dict[str, object]:
    return {
        "surface": surface_to_json(examined.surface),
        "evidence": [_evidence(each) for each in examined.side.found],
        "unclassified": doubts_json(examined.side.doubts),
        "not_read": not_read_json(examined.not_read),
    }


def _evidence(each: Sited) -> dict[str, object]:
    found = each.found
    return {
        "dimension": found.atom.dimension.value,
        "operation": found.atom.operation.value,
        "target": found.atom.target,
        "file": each.file,
        "line": found.line,
        "reason": found.reason,
        "provenance": found.provenance.value,
    }


def site_option() -> click.Option:
    """Where installed distributions are looked for."""
    return click.Option(
        ["--site"],
        type=Folder(),
        metavar="DIR",
        help="Look for installed distributions in this folder, not in this interpreter's.",
    )


def all_option() -> click.Option:
    """How much of the evidence is listed."""
    return click.Option(
        ["--all", "shows_all"], is_flag=True, help="List everything that was found."
    )


show = PlainCommand(
    "show",
    PAGE,
    _show,
    [click.Argument(["path"], type=File(), metavar="PATH"), all_option(), site_option()],
)
