"""`consentry drill`: carries controlled fixtures out, so that a sign-off has something to count."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of, usage_problem
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.cli.table import Page

if TYPE_CHECKING:
    from consentry.service.drillcases import ListedCase
    from consentry.service.drillresult import Drilled, DrilledCase

PAGE = Page(
    summary="Carry out controlled fixtures: modules, approvals, roll-backs and the corpus.",
    paragraphs=(
        (
            "Every case goes through what hosts and people use, in a session of its own, and what really "
            "came of it is compared with what has to come of it. All of its events are marked as a "
            "controlled fixture. After a whole drill `consentry signoff` has enough samples."
        ),
        (
            "It uses hosts, modules and documents of its own and removes them again; nobody else's are "
            "touched. It answers its own questions, as you: where a passphrase is set, it asks for it "
            "once, at the terminal."
        ),
    ),
    examples=(
        ("consentry drill", "everything, one line a case"),
        ("consentry drill --list", "the cases, and what has to come of each"),
        ("consentry drill --only violated --only rolled-back", "some of them"),
        ("consentry drill --json", "for a script"),
        ("consentry drill --quiet && consentry signoff", "a drill, then the verdict"),
    ),
    statuses=(
        ("0", "every case came out as it has to"),
        ("1", "one did not; it is named, with what came of it"),
        ("2", "wrong usage, or no such case"),
        ("5", "the ledger cannot be read or written"),
        (
            "126",
            (
                "another drill runs, the mode of modules lets no action run, the passphrase is missing, or "
                "the state directory is not safe to use"
            ),
        ),
    ),
    read_on=("docs/how-to/run-a-drill.md; docs/reference/certification-corpus.md.",),
)

_NAME = 17
_COUNT = 12


@click.pass_context
def _drill(ctx: click.Context, *, only: tuple[str, ...], listed: bool) -> ExitStatus:
    from consentry.service.drill import listed_cases  # noqa: PLC0415 - help does not need it

    output = output_of(ctx)
    cases = listed_cases()
    _require_known(only, cases)
    if listed:
        _list(output, [each for each in cases if not only or each.case_id in only])
        return ExitStatus.DONE
    from consentry.service.drill import Drill  # noqa: PLC0415 - as above

    drill = Drill(os.environ, _passphrase())
    told = output.json or output.quiet
    drilled = drill.run(only, tell=lambda case: None if told else _tell(output, case))
    _sum_up(output, drilled)
    return ExitStatus.DONE if drilled.is_good else ExitStatus.FOUND


drill = PlainCommand(
    "drill",
    PAGE,
    _drill,
    [
        click.Option(
            ["--only"],
            type=Text(),
            multiple=True,
            metavar="CASE",
            help="Carry out this case alone; can be given several times.",
        ),
        click.Option(
            ["--list", "listed"], is_flag=True, help="List the cases, and carry nothing out."
        ),
    ],
)


def _require_known(only: Iterable[str], cases: "Iterable[ListedCase]") -> None:
    known = [each.case_id for each in cases]
    for name in only:
        if name not in known:
            from consentry.cli.suggest import help_for  # noqa: PLC0415 - only failures pay for it

            otherwise = "`consentry drill --list` names them"
            raise usage_problem(f"no case is called `{name}`", help_for(name, known, otherwise))


def _passphrase() -> str | None:
    """The words that every yes needs, where one is asked for; checked before anything begins."""
    from consentry.base.clock import SystemClock  # noqa: PLC0415 - help does not need it
    from consentry.cli.capabilitysetting import typed_passphrase  # noqa: PLC0415 - as above
    from consentry.service.surroundings import look_around  # noqa: PLC0415 - as above

    what = "a drill that answers its own questions"
    return typed_passphrase(look_around(os.environ), SystemClock(), what)


def _list(output: Output, cases: "list[ListedCase]") -> None:
    if output.json:
        output.document("drill-cases", {"cases": [each.to_json() for each in cases]})
    elif output.quiet:
        output.text("\n".join(each.case_id for each in cases))
    else:
        lines = []
        for each in cases:
            times = f"{each.times}x" if each.times > 1 else ""
            lines.append(f"{each.case_id:<{_NAME}}{times:<7}{each.expected}")
            lines.append(f"  {each.about}")
        output.text("\n".join(lines))


def _tell(output: Output, case: "DrilledCase") -> None:
    """One line a case, as soon as it is over; more where something came out otherwise."""
    from consentry.service.drillresult import MOST_OTHERWISE  # noqa: PLC0415 - help does not need it

    word = output.paint("ok  ", "green") if case.is_good else output.paint("FAIL", "red")
    count = f"{case.as_expected} of {case.times}"
    lines = [f"{word}  {case.case_id:<{_NAME}}{count:<{_COUNT}}{case.expected}"]
    if output.verbose:
        lines.append(f"      {case.about}")
    for each in case.otherwise[:MOST_OTHERWISE]:
        told = f"{safe_line(each.name)}: {safe_line(each.found)}, {safe_line(each.why)}"
        lines += hanging("      ", told)
    output.text("\n".join(lines))


def _sum_up(output: Output, drilled: "Drilled") -> None:
    if output.json:
        output.document("drill", drilled.to_json())
        return
    wrong = [each.case_id for each in drilled.cases if not each.is_good]
    if output.quiet:
        if wrong:
            output.text("\n".join(wrong))
        return
    if wrong:
        what = "1 case" if len(wrong) == 1 else f"{len(wrong)} cases"
        output.text(f"\n{output.paint(f'{what} came out otherwise', 'red')}: {', '.join(wrong)}")
    else:
        output.text(f"\n{output.paint('every case came out as it has to', 'green')}")
    output.text(f"the fixtures are those of {drilled.drill_id}")
