"""`consentry doctor`: what is missing, how to get it, and whether the engines keep their promises."""

import os
from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import Folder, OneOf, PlainCommand, output_of
from consentry.cli.hanging import hanging, problem_rows
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.enforce.facts import HostView
from consentry.enforce.programs import BUILT, NATIVE
from consentry.enforce.scorecard import Row, Verdict
from consentry.service.concern import status_for
from consentry.service.doctor import Diagnosis, broken_promises, diagnose, diagnosis_document
from consentry.service.engines import TriedEngine, attested_in_words, mode_in_words
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Find what is missing or wrong, and say what to do about each.",
    paragraphs=(
        "Looks at the places, opens the ledger and your documents, and starts a box.",
        "With --attack it prints what a program in the box tried, beside what is promised.",
    ),
    examples=(
        ("consentry doctor", "what is missing, and how to get it"),
        ("consentry doctor --attack", "the score-card of the native engine on this host"),
        ("consentry doctor --attack --engine bubblewrap", "of another engine"),
        ("consentry doctor --attack --verbose", "and what each attack tries"),
        ("consentry doctor --quiet", "only what is wrong, nothing if all is well"),
        ("consentry doctor --attack --json", "for a script"),
    ),
    statuses=(
        ("0", "nothing is missing, and every promise was kept"),
        ("1", "problems are listed, each with what to do"),
        ("2", "wrong usage, or a named folder that cannot be used"),
        ("4", "one of the problems is a plugin that failed its integrity check"),
    ),
    read_on=("docs/explanation/score-card.md in the source explains the attacks.",),
)

_LABEL = 13
_NAME = 17
_WORD = 10
_STYLES = {Verdict.BLOCKED: "green", Verdict.OPEN: "red", Verdict.UNTRIED: "yellow"}


@click.pass_context
def _doctor(ctx: click.Context, *, attack: bool, engine: str, workspace: str | None) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    view = HostView(environ=os.environ, uid=around.uid)
    diagnosis = diagnose(
        around, view, workspace_named=workspace, in_every_way=attack, engine=engine
    )
    concerns = [*diagnosis.concerns, *(broken_promises(diagnosis.engines) if attack else ())]
    if output.json:
        output.document("doctor", diagnosis_document(diagnosis, with_attacks=attack))
    else:
        lines: list[str] = []
        if not output.quiet:
            lines += _page(output, diagnosis, len(concerns))
            for each in diagnosis.engines.tried if attack else ():
                lines += ["", *_card(output, each)]
        if concerns:
            lines += [*([""] if lines else []), *problem_rows(output, concerns)]
        if lines:
            output.text("\n".join(lines))
    return status_for(concerns)


doctor = PlainCommand(
    "doctor",
    PAGE,
    _doctor,
    [
        click.Option(
            ["--attack"],
            is_flag=True,
            help="Print the attacks on the engine, beside what it promises.",
        ),
        click.Option(
            ["--engine"],
            type=OneOf(BUILT),
            default=NATIVE,
            metavar="NAME",
            help="Start the box in this engine; `native` unless named.",
        ),
        click.Option(
            ["--workspace"],
            type=Folder(),
            metavar="FOLDER",
            help="Take this folder as the workspace.",
        ),
    ],
)


def _page(output: Output, diagnosis: Diagnosis, count: int) -> Iterator[str]:
    if count == 0:
        yield output.paint("nothing is missing", "green")
    else:
        what = "1 problem" if count == 1 else f"{count} problems"
        yield output.paint(f"{what}, listed at the end", "red")
    yield ""
    for each in diagnosis.engines.tried:
        yield from hanging(f"{each.probe.engine:<{_LABEL}}", _in_short(each))
        mode = mode_in_words(each.probe)
        if mode is not None:
            yield from hanging(f"{'mode':<{_LABEL}}", safe_line(f"{each.probe.engine} {mode}"))
    yield from hanging(f"{'ledger':<{_LABEL}}", diagnosis.ledger)
    files = "1 of your own" if diagnosis.documents == 1 else f"{diagnosis.documents} of your own"
    yield from hanging(f"{'documents':<{_LABEL}}", f"{files} read")
    for each in diagnosis.engines.tried:
        attested = attested_in_words(each.probe) if each.probe.is_usable else None
        if attested is not None:
            yield from hanging(f"{'attestation':<{_LABEL}}", safe_line(attested))
    for line in diagnosis.advice:
        yield from hanging("advice: ", safe_line(line), indent=2)


def _in_short(tried: TriedEngine) -> str:
    held, lacking = len(tried.probe.held), len(tried.probe.lacking)
    if held == 0:
        return "can make no box here"
    kept = f"holds {held} controls; {tried.shown} of them were tried from inside a box"
    return kept if lacking == 0 else f"{kept}; {lacking} are lacking"


def _card(output: Output, tried: TriedEngine) -> Iterator[str]:
    """One row for each attack, with a column for each way to confine a run."""
    name = tried.probe.engine
    if tried.card is None:
        yield f"{name}: no box could be made, so nothing was tried in one"
        return
    cards = [(each.way, each.card) for each in tried.cards if each.card is not None]
    heads = "".join(f"{way:<{_WORD}}" for way, _ in cards)
    yield output.paint(f"{name:<{_NAME}}{'promised':<{_WORD}}{heads}answer", "bold")
    for rows in zip(*(card.rows for _, card in cards), strict=True):
        words = "".join(output.paint(f"{row.verdict:<{_WORD}}", _style(row)) for row in rows)
        promised = Verdict.BLOCKED if any(row.is_promised for row in rows) else "-"
        start = f"{rows[0].name:<{_NAME}}{promised:<{_WORD}}{words}"
        width = _NAME + (1 + len(rows)) * _WORD
        yield from hanging(start, _answer(output, rows), width_of_start=width)
    for way, card in cards:
        counts = {each: _count(card.rows, each) for each in Verdict}
        said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        yield f"{way}: {said}"
        for row in card.rows:
            if row.verdict is Verdict.OPEN and not row.is_promised:
                yield from hanging(f"{way}: ", f"{row.name} is open, and not promised", indent=2)
    for each in tried.others:
        if each.card is None:
            yield from hanging(f"{each.way}: ", f"not tried: {safe_line(each.why)}", indent=2)


def _style(row: Row) -> str:
    is_known = row.verdict is Verdict.OPEN and not row.is_promised
    return _STYLES[Verdict.UNTRIED if is_known else row.verdict]


def _answer(output: Output, rows: tuple[Row, ...]) -> str:
    """What was answered in each way, once if that is the same everywhere."""
    answers = [safe_line(row.said) for row in rows]
    said = answers[0] if len(set(answers)) == 1 else " / ".join(answers)
    return f"{said}: {rows[0].what}" if output.verbose else said


def _count(rows: tuple[Row, ...], verdict: Verdict) -> int:
    return sum(row.verdict is verdict for row in rows)
