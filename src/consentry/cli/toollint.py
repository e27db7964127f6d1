"""`consentry tool lint`: every document, and everything about each, at once."""

import os
from collections.abc import Iterator, Sequence

import click

from consentry.base.codes import ExitStatus
from consentry.base.errors import Problem
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of, usage_problem
from consentry.cli.configoptions import configuration_options
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.service.linting import LintReport, is_clean, lint_document, lint_files, lint_here
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Check documents: what is wrong, and what deserves a second thought.",
    paragraphs=(
        (
            "A problem is what a run would be refused for, on any machine. A note is what is probably "
            "not meant, such as a purpose that nobody has filled in."
        ),
    ),
    arguments=(
        ("FILE", "Documents; without any, all of your configuration and this workspace's."),
    ),
    examples=(
        ("consentry tool lint", "everything that counts here"),
        ("consentry tool lint report.yaml", "this manifest"),
        ("consentry tool lint --quiet", "problems alone, nothing if there are none"),
    ),
    statuses=(
        ("0", "no problem; notes may be listed"),
        ("1", "problems are listed"),
        ("2", "wrong usage, or a file or folder that cannot be used"),
    ),
    read_on=("docs/reference/documents.md.",),
)


@click.pass_context
def _lint(
    ctx: click.Context, *, files: tuple[str, ...], workspace: str | None, config: str | None
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    if files and (workspace is not None or config is not None):
        raise usage_problem("files and folders are named", "name files, or a folder, not both")
    if files:
        report = lint_files(around, files)
    else:
        report = lint_here(around, workspace_named=workspace, config_named=config)
    if output.json:
        output.document("lint", lint_document(report))
    else:
        lines = list(_told(output, report))
        if lines:
            output.text("\n".join(lines))
    return ExitStatus.DONE if is_clean(report) else ExitStatus.FOUND


def _told(output: Output, report: LintReport) -> Iterator[str]:
    yield from _listed(output.paint("problem", "red"), "problem", report.problems)
    if output.quiet:
        return
    yield from _listed(output.paint("note", "yellow"), "note", report.notes)
    documents = _count(report.documents, "document")
    yield f"{documents}: {_count(len(report.problems), 'problem')}, {_count(len(report.notes), 'note')}"


def _listed(painted: str, word: str, found: Sequence[Problem]) -> Iterator[str]:
    for each in found:
        yield from hanging(
            f"{painted}  ", safe_line(each.said), width_of_start=len(word) + 2, indent=2
        )
        yield from hanging("  help: ", safe_line(each.help_line))


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"


lint = PlainCommand(
    "lint",
    PAGE,
    _lint,
    [
        *configuration_options(),
        click.Argument(["files"], nargs=-1, type=File(), metavar="[FILE]..."),
    ],
)
