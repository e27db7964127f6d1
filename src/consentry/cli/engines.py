"""`consentry engines`: what each engine enforces here, shown by doing it."""

import os
from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.enforce.engine import Control, Held, Probe
from consentry.service.engines import (
    EnginesReport,
    attested_in_words,
    engines_document,
    mode_in_words,
    try_engines,
)
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Show which controls each engine holds on this host, and by what.",
    paragraphs=(
        "Starts a box in each engine that is built, and attacks it from inside.",
        "kernel: the kernel holds it; mediated: it passes through us and has no other way;",
        "observed: our observer sees it, and can be raced.",
    ),
    examples=(
        ("consentry engines", "every control, and what holds it here"),
        ("consentry engines --verbose", "and what each control means"),
        ("consentry engines --quiet", "only what does not hold, nothing if all does"),
        ("consentry engines --json", "for a script"),
    ),
    statuses=(
        ("0", "at least one engine can be used here"),
        ("2", "wrong usage"),
        ("126", "no engine can be used here; the reasons are listed"),
    ),
    read_on=("`consentry doctor --attack` prints the attacks one by one.",),
)

_CONTROL = 17
_WORD = 10
_LACKING = "lacking"


@click.pass_context
def _engines(ctx: click.Context) -> ExitStatus:
    output = output_of(ctx)
    report = try_engines(look_around(os.environ))
    if output.json:
        output.document("engines", engines_document(report))
    else:
        lines = list(_lacking(output, report) if output.quiet else _page(output, report))
        if lines:
            output.text("\n".join(lines))
    return ExitStatus.DONE if report.is_any_usable else ExitStatus.DENIED


engines = PlainCommand("engines", PAGE, _engines)


def _page(output: Output, report: EnginesReport) -> Iterator[str]:
    usable = [each.probe for each in report.tried if each.probe.is_usable]
    if usable:
        yield from _table(output, usable)
    lacking = list(_lacking(output, report))
    if lacking:
        yield from [""] * bool(usable)
        yield from lacking
    for each in report.tried:
        attested = attested_in_words(each.probe) if each.probe.is_usable else None
        if attested is not None:
            yield ""
            yield from hanging(f"{each.probe.engine}: ", safe_line(attested), indent=2)
    yield ""
    others = ", ".join(report.not_built)
    yield from hanging("", f"known, and not built in this version: {others}")


def _table(output: Output, probes: list[Probe]) -> Iterator[str]:
    """A row for each control, a column for each engine; a single engine has room for the means."""
    names = "".join(f"{probe.engine:<{_WORD + 2}}" for probe in probes)
    last = "held by" if len(probes) == 1 else ""
    yield output.paint(f"{'control':<{_CONTROL}}{names}{last}".rstrip(), "bold")
    for control in Control:
        found = [_claim(probe, control) for probe in probes]
        words = [_LACKING if held is None else held.truth.value for held in found]
        cells = "".join(_cell(output, word) for word in words)
        means = found[0].mechanism if len(probes) == 1 and found[0] is not None else ""
        width = _CONTROL + (_WORD + 2) * len(probes)
        yield from (
            row.rstrip()
            for row in hanging(f"{control:<{_CONTROL}}{cells}", means, width_of_start=width)
        )
        if output.verbose:
            yield from hanging("  ", control.meaning)
            for probe, held in zip(probes, found, strict=True):
                if held is not None and len(probes) > 1:
                    yield from hanging(f"  {probe.engine}: ", held.mechanism)


def _claim(probe: Probe, control: Control) -> Held | None:
    return next((held for held in probe.held if held.control is control), None)


def _cell(output: Output, word: str) -> str:
    styles = {"kernel": "green", "mediated": "green", "observed": "yellow", _LACKING: "red"}
    return output.paint(f"{word:<{_WORD}}", styles[word]) + "  "


def _lacking(output: Output, report: EnginesReport) -> Iterator[str]:
    for probe in (each.probe for each in report.tried):
        if not probe.is_usable:
            start = f"{probe.engine}: "
            yield from hanging(start, f"can make no box here: {safe_line(probe.lacking[0].why)}")
            yield from hanging("  help: ", safe_line(probe.lacking[0].remedy))
            continue
        mode = mode_in_words(probe)
        if mode is not None:
            yield from hanging(f"{probe.engine}: ", safe_line(mode), indent=2)
        for each in probe.lacking:
            word = output.paint(_LACKING, "red")
            start = f"{probe.engine}: {word} {each.control}: "
            width = len(probe.engine) + len(_LACKING) + len(each.control) + 5
            yield from hanging(start, safe_line(each.why), width_of_start=width, indent=2)
            if each.remedy:
                yield from hanging("  help: ", safe_line(each.remedy))
