"""`consentry fence`: where Python source makes tokens, pushes, or leaves a race unhandled."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from consentry.cli.command import File, Folder, PlainCommand, output_of, usage_problem
from consentry.cli.output import Output, write_answer, write_message
from consentry.cli.table import Page

if TYPE_CHECKING:
    from consentry.examine.fence.report import FenceReport

PAGE = Page(
    summary="Report where Python source makes tokens, pushes, or leaves a race unhandled.",
    paragraphs=(
        (
            "Nothing is run: every file is parsed, and its names are followed. It is audit + lint: it "
            "finds what is written down, and docs/explanation/capability-fence.md lists what it "
            "cannot see."
        ),
        (
            "In folders, files that end in .py or .pyw are read, and programs whose first line names "
            "Python. A file that cannot be read or parsed is reported like anything else."
        ),
    ),
    arguments=(("PATH", "A file, or a folder with everything in it; several may be named."),),
    examples=(
        ("consentry fence src --tests tests", "a project; its tests may make tokens"),
        ("consentry fence --strict plugins/report", "a stranger's code: nothing is pardoned"),
        ("consentry fence src --sarif > fence.sarif", "for code scanning"),
    ),
    statuses=(
        ("0", "nothing to report"),
        ("1", "something is reported, also a file that cannot be read or parsed"),
        ("2", "wrong usage, or a path that does not exist"),
    ),
    read_on=("docs/how-to/fence-capabilities.md; docs/reference/fence.md.",),
)


@click.pass_context
def _fence(ctx: click.Context, /, **given: Any) -> int:
    output = output_of(ctx)
    if given["sarif"] and output.json:
        raise usage_problem("`--json` and `--sarif` contradict each other", "leave one of them out")
    if given["strict"] and (given["home"] or given["tests"]):
        word = "--home" if given["home"] else "--tests"
        raise usage_problem(
            f"`--strict` and `{word}` contradict each other", "`--strict` pardons nothing"
        )
    report = _report(given)
    if output.verbose:
        _tell_more(report)
    if output.json:
        output.document("fence", report.to_json())
    elif given["sarif"]:
        from consentry import __version__  # noqa: PLC0415 - only where it is asked for

        write_answer(report.to_sarif(__version__))
    elif report.findings or not output.quiet:
        output.text("\n".join(_lines(output, report)))
    return report.exit_status


def _report(given: dict[str, Any]) -> "FenceReport":
    from consentry.service.fencing import (  # noqa: PLC0415 - after what was typed is understood
        NOTHING_PARDONED,
        fence_over,
        pardon_of,
    )
    from consentry.service.races import recorded  # noqa: PLC0415 - as above

    pardon = NOTHING_PARDONED if given["strict"] else pardon_of(given["home"], given["tests"])
    return fence_over(given["paths"], pardon, recorded)


def _lines(output: Output, report: "FenceReport") -> Iterator[str]:
    from consentry.base.safetext import safe_line  # noqa: PLC0415 - text only

    helped = set()
    for each in report.findings:
        place = f"{safe_line(each.path)}:{each.line}:{each.column}"
        yield f"{place}: {output.paint(each.rule.value, 'red')}: {safe_line(each.message)}"
        if each.rule not in helped and not output.quiet:
            helped.add(each.rule)
            yield f"  help: {each.help_line}"
    if not output.quiet:
        yield _summary(output, report)


def _summary(output: Output, report: "FenceReport") -> str:
    count = len(report.findings)
    found = "nothing to report" if not count else f"{count} to look at"
    files = "1 file" if report.files == 1 else f"{report.files} files"
    pardoned = f", {report.pardoned} of them pardoned" if report.pardoned else ""
    others = f"; {len(report.others)} others are not Python source" if report.others else ""
    return f"{output.paint(found, 'red' if count else 'green')} in {files}{pardoned}{others}"


def _tell_more(report: "FenceReport") -> None:
    from consentry.base.safetext import safe_line  # noqa: PLC0415 - with `--verbose` only

    if report.others:
        write_message("\n".join(f"not read {safe_line(each)}" for each in report.others))


fence = PlainCommand(
    "fence",
    PAGE,
    _fence,
    [
        click.Argument(["paths"], nargs=-1, required=True, type=File(), metavar="PATH..."),
        click.Option(
            ["--home"],
            type=File(),
            multiple=True,
            metavar="FILE",
            help="This file may make tokens; may be repeated.",
        ),
        click.Option(
            ["--tests"],
            type=Folder(),
            multiple=True,
            metavar="DIR",
            help="In this folder only what cannot be read is reported; may be repeated.",
        ),
        click.Option(
            ["--strict"],
            is_flag=True,
            help="Pardon nothing, no homes and no comments: as plugins are checked.",
        ),
        click.Option(["--sarif"], is_flag=True, help="Answer in SARIF 2.1.0."),
    ],
)
