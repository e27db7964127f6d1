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
from consentry.enforce.programs import NATIVE
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
        "Starts a box in each engine that is here, and attacks it from inside.",
        "kernel: the kernel holds it; mediated: it passes through us and has no other way;",
        "observed: our observer sees it, and can be raced.",
    ),
    examples=(
        ("consentry engines", "every control, and what holds it here"),
        ("consentry engines --verbose", "and what each control means, and why one is lacking"),
        (
            "consentry engines --quiet",
            "only what the native engine lacks, nothing if that is nothing",
        ),
        ("consentry engines --json", "for a script"),
    ),
    statuses=(
        ("0", "at least one engine can be used here"),
        ("2", "wrong usage"),
        ("126", "no engine can be used here; the reasons are listed"),
    ),
    read_on=("`consentry doctor --attack` prints the attacks one by one.",),
)

# Seven engines beside each other have room in 80 columns.
_CONTROL = 16
_WORD = 9
_HEADS = {"bubblewrap": "bwrap"}
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
    for probe in (each.probe for each in report.tried if each.probe.engine != NATIVE):
        lacking += _lacking_of(output, probe) if output.verbose else _lacking_in_short(probe)
    if lacking:
        yield from [""] * bool(usable)
        yield from lacking
    for each in report.tried:
        attested = attested_in_words(each.probe) if each.probe.is_usable else None
        if attested is not None:
            yield ""
            yield from hanging(f"{each.probe.engine}: ", safe_line(attested), indent=2)
    yield ""
    if report.missing:
        said = ", ".join(f"{name} ({safe_line(why)})" for name, why in report.missing)
        yield from hanging("not here: ", said, indent=2)
    if report.not_built:
        others = ", ".join(report.not_built)
        yield from hanging("", f"known, and not built in this version: {others}")


def _table(output: Output, probes: list[Probe]) -> Iterator[str]:
    """A row for each control, a column for each engine; a single engine has room for the means."""
    names = "".join(f"{_HEADS.get(probe.engine, probe.engine):<{_WORD}}" for probe in probes)
    last = "held by" if len(probes) == 1 else ""
    yield output.paint(f"{'control':<{_CONTROL}}{names}{last}".rstrip(), "bold")
    for control in Control:
        found = [_claim(probe, control) for probe in probes]
        words = [_LACKING if held is None else held.truth.value for held in found]
        cells = "".join(_cell(output, word) for word in words)
        means = found[0].mechanism if len(probes) == 1 and found[0] is not None else ""
        width = _CONTROL + _WORD * len(probes)
        yield from (
            row.rstrip()
            for row in hanging(f"{control:<{_CONTROL}}{cells}", means, width_of_start=width)
        )
        if output.verbose:
            yield from hanging("  ", control.meaning)
            for probe, held in zip(probes, found, strict=True):
                if held is not None and len(probes) > 1:
                    yield from hanging(f"  {probe.engine}: ", held.mechanism, indent=4)


def _claim(probe: Probe, control: Control) -> Held | None:
    return next((held for held in probe.held if held.control is control), None)


def _cell(output: Output, word: str) -> str:
    styles = {"kernel": "green", "mediated": "green", "observed": "yellow", _LACKING: "red"}
    return output.paint(f"{word:<{_WORD}}", styles[word])


def _lacking(output: Output, report: EnginesReport) -> Iterator[str]:
    """What the native engine lacks; where none can be used, also why the others cannot."""
    for probe in (each.probe for each in report.tried):
        if probe.engine == NATIVE or not report.is_any_usable:
            yield from _lacking_of(output, probe)


def _lacking_of(output: Output, probe: Probe) -> Iterator[str]:
    if not probe.is_usable:
        start = f"{probe.engine}: "
        said = f"can make no box here: {safe_line(probe.lacking[0].why)}"
        yield from hanging(start, said, indent=2)
        yield from hanging("  help: ", safe_line(probe.lacking[0].remedy))
        return
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


def _lacking_in_short(probe: Probe) -> Iterator[str]:
    """Of an engine that has no means for some controls, which is no fault of the host."""
    if not probe.is_usable:
        said = f"can make no box here: {safe_line(probe.lacking[0].why)}"
        yield from hanging(f"{probe.engine}: ", said, indent=2)
    elif probe.lacking:
        controls = ", ".join(each.control for each in probe.lacking)
        said = f"lacks {controls}, and refuses what needs one of them; --verbose says why"
        yield from hanging(f"{probe.engine}: ", said, indent=2)
