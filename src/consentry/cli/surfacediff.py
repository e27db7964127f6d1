"""`consentry surface diff`: what one version of code can do that another could not."""

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.codereading import examined_code
from consentry.cli.command import File, PlainCommand, output_of
from consentry.cli.hanging import hanging
from consentry.cli.surfaceshow import all_option, site_option
from consentry.cli.surfacetext import (
    MOST_POWERS,
    doubts_json,
    doubts_text,
    not_read_json,
    steps_text,
)
from consentry.cli.table import Page
from consentry.examine.delta import Delta, Step
from consentry.service.surfaces import Examined, compare
from consentry.surface.wire import surface_to_json

PAGE = Page(
    summary="Compare what two versions of code can do.",
    paragraphs=(
        (
            "Compared are powers and not lines: code that was moved, renamed or written in another "
            "way gains nothing. What cannot be told counts only where it is new."
        ),
    ),
    arguments=(
        ("A", "The earlier version: file, folder, wheel, sdist, or installed distribution."),
        ("B", "The later version; it need not be of the same form."),
    ),
    examples=(
        ("consentry surface diff a-1.0.whl a-1.1.whl", "two wheels"),
        (
            "consentry surface diff requests requests-2.33.0.tar.gz",
            "what is installed, and an sdist",
        ),
    ),
    statuses=(
        ("0", "nothing was gained"),
        ("1", "something was gained"),
        (
            "2",
            (
                "nothing was gained, and something new cannot be told; or wrong usage, or one of them "
                "cannot be found or read"
            ),
        ),
        ("4", "a plugin failed its integrity check, so nothing was examined"),
    ),
    read_on=("docs/how-to/see-what-code-can-do.md.",),
)


@click.pass_context
def _diff(ctx: click.Context, *, a: str, b: str, site: str | None, shows_all: bool) -> ExitStatus:
    output = output_of(ctx)
    before = examined_code(a, site, quiet=output.quiet)
    after = examined_code(b, site, quiet=output.quiet)
    delta = compare(before, after)
    if output.json:
        output.document("surface-diff", _document(delta, before, after))
    else:
        lines = hanging("", _summary(delta, before, after))
        most = None if shows_all or output.verbose else MOST_POWERS
        if not output.quiet:
            lines += steps_text(output, "gained", delta.gained, most)
            lines += steps_text(output, "lost", delta.lost, most)
            lines += doubts_text(output, "new, and cannot be told", delta.doubts, most)
        output.text("\n".join(lines))
    if delta.gained:
        return ExitStatus.FOUND
    return ExitStatus.USAGE if delta.doubts else ExitStatus.DONE


def _summary(delta: Delta, before: Examined, after: Examined) -> str:
    gained = f"gained {_count(len(delta.gained))}" if delta.gained else "gained nothing"
    lost = f", lost {_count(len(delta.lost))}" if delta.lost else ""
    unknown = f", {len(delta.doubts)} new and cannot be told" if delta.doubts else ""
    names = safe_line(f"{before.described} → {after.described}")
    return f"{gained}{lost}{unknown}: {names}"


def _count(number: int) -> str:
    return "1 power" if number == 1 else f"{number} powers"


def _document(delta: Delta, before: Examined, after: Examined) -> dict[str, object]:
    return {
        "before": surface_to_json(delta.before),
        "after": surface_to_json(delta.after),
        "gained": [_step(each) for each in delta.gained],
        "lost": [_step(each) for each in delta.lost],
        "unclassified": doubts_json(delta.doubts),
        "not_read": {
            "before": not_read_json(before.not_read),
            "after": not_read_json(after.not_read),
        },
    }


def _step(step: Step) -> dict[str, object]:
    atom = step.atom
    return {**step.to_json(), "operation": atom.operation.value, "target": atom.target}


diff = PlainCommand(
    "diff",
    PAGE,
    _diff,
    [
        click.Argument(["a"], type=File(), metavar="A"),
        click.Argument(["b"], type=File(), metavar="B"),
        all_option(),
        site_option(),
    ],
)
