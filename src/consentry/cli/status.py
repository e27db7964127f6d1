"""`consentry status`: where the user stands, on one screen."""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import Folder, PlainCommand, output_of
from consentry.cli.hanging import LONGEST, hanging, problem_rows
from consentry.cli.layout import columns_of, laid_out
from consentry.cli.output import Output, page_width
from consentry.cli.table import Page
from consentry.enforce.facts import Fact, Found, HostView
from consentry.enforce.programs import Engine
from consentry.service.concern import status_for
from consentry.service.places import ConfigurationFolder, Trust
from consentry.service.statedir import StateDirectory
from consentry.service.status import StatusReport, status_document, take_status
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Show the workspace, the configuration, the state, the engines, and why each.",
    paragraphs=(
        "Only looks: makes no folder, changes no file, starts no program.",
        "Facts about the host are read, not proven by doing.",
    ),
    examples=(
        ("consentry status", "what is found here"),
        ("consentry status --verbose", "and where each fact was read"),
        ("consentry status --quiet", "only what is wrong, nothing if all is well"),
        ("consentry status --workspace ~/src/app", "for another folder"),
        ("consentry status --json", "for a script"),
    ),
    statuses=(
        ("0", "no problem was found"),
        ("1", "problems are listed, each with what to do"),
        ("2", "wrong usage, or a named folder that cannot be used"),
        ("4", "one of the problems is a plugin that failed its integrity check"),
    ),
    read_on=("docs/reference/status-json.md in the source describes the JSON document.",),
)

_LABEL = 11
_TRUST = {
    Trust.OWN: "",
    Trust.NOT_ACCEPTED: ", not trusted until accepted",
    Trust.ACCEPTED: ", accepted by you as they are",
}
_WORDS = {Found.YES: "found", Found.NO: "not found", Found.UNKNOWN: "unknown"}
_VERBS = {Found.YES: "offers", Found.NO: "lacks", Found.UNKNOWN: "unsure"}
_STYLES = {Found.YES: "green", Found.NO: "bold", Found.UNKNOWN: "yellow"}


@click.pass_context
def _status(ctx: click.Context, *, workspace: str | None, config: str | None) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    view = HostView(environ=os.environ, uid=around.uid)
    report = take_status(around, view, workspace_named=workspace, config_named=config)
    if output.json:
        output.document("status", status_document(report))
    elif output.quiet:
        if report.concerns:
            output.text("\n".join(problem_rows(output, report.concerns)))
    else:
        output.text("\n".join(_page(output, report)))
    return status_for(report.concerns)


status = PlainCommand(
    "status",
    PAGE,
    _status,
    [
        click.Option(
            ["--workspace"],
            type=Folder(),
            metavar="FOLDER",
            help="Take this folder as the workspace.",
        ),
        click.Option(
            ["--config"],
            type=Folder(),
            metavar="FOLDER",
            help="Read the configuration from this folder alone.",
        ),
    ],
)


def _page(output: Output, report: StatusReport) -> list[str]:
    lines = [_title(output, report), ""]
    lines += _places(output, report)
    lines += ["", *_engines(output, report)]
    lines += ["", *_host(output, report)]
    if report.notes:
        lines.append("")
        lines += [line for note in report.notes for line in _note(note)]
    if report.concerns:
        lines += ["", *problem_rows(output, report.concerns)]
    return lines


def _note(note: str) -> list[str]:
    return hanging("note: ", safe_line(note, limit=LONGEST))


def _title(output: Output, report: StatusReport) -> str:
    name = f"consentry {report.version}:"
    count = len(report.concerns)
    if count == 0:
        return f"{name} {output.paint('no problem found', 'green')}"
    what = "1 problem, listed at the end" if count == 1 else f"{count} problems, listed at the end"
    return f"{name} {output.paint(what, 'red')}"


def _places(output: Output, report: StatusReport) -> list[str]:
    if report.workspace is None:
        lines = _labelled(output, "workspace", ["none; see the problems below"])
    else:
        where = _place(report.workspace.path, report.workspace.why)
        lines = _labelled(output, "workspace", where)
    folders = [line for folder in report.configuration.folders for line in _folder(output, folder)]
    lines += _labelled(output, "config", folders or ["none; no home folder is known"])
    if report.state is None:
        return lines + _labelled(output, "state", ["none; see the problems below"])
    return lines + _labelled(output, "state", _state(report.state))


def _labelled(output: Output, label: str, lines: Iterable[str]) -> list[str]:
    first = output.paint(f"{label:<{_LABEL}}", "bold")
    return [(first if number == 0 else " " * _LABEL) + line for number, line in enumerate(lines)]


def _place(path: Path, about: str) -> list[str]:
    """The path, and what there is to say of it: beside it or below."""
    shown, said = safe_line(str(path)), safe_line(about)
    room = page_width() - _LABEL - 1
    if columns_of(shown) + columns_of(said) + 4 <= room:
        return [f"{shown}  ({said})"]
    # No path begins with a space, so what is said of it cannot be taken for a part of it.
    return [*laid_out(shown, width=room), *_indented(laid_out(said, width=room - 2))]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _folder(output: Output, folder: ConfigurationFolder) -> list[str]:
    if not folder.exists:
        about = f"{folder.source}; not there"
    else:
        count = len(folder.files)
        what = "1 known file" if count == 1 else f"{count or 'no'} known files"
        trust = _TRUST[folder.trust]
        about = f"{folder.source}; {what}{trust}"
    lines = _place(folder.path, about)
    if output.verbose:
        room = page_width() - _LABEL - 1
        for name in folder.files:
            first, *others = laid_out(safe_line(name), width=room, start=4, margin=4)
            lines += [f"  - {first}", *others]
    return lines


def _state(state: StateDirectory) -> list[str]:
    said = state.why if state.exists else f"{state.why}; made on first use"
    hidden = "; inside the workspace, and hidden there" if state.hidden else ""
    return _place(state.path, said + hidden)


def _engines(output: Output, report: StatusReport) -> list[str]:
    driven = [engine.name for engine in report.engines if engine.driver]
    if driven:
        about = f"this version can run things in: {', '.join(driven)}"
    else:
        about = "this version can run nothing in any of them yet: it has no driver"
    lines = _labelled(output, "engines", laid_out(about, width=page_width() - _LABEL - 1))
    for engine in report.engines:
        word = f"{_WORDS[engine.found]:<10}"
        start = f"  {engine.name:<11} {output.paint(word, _STYLES[engine.found])} "
        lines += hanging(start, _about_engine(engine), width_of_start=25)
        if output.verbose:
            lines += [line for need in engine.needs for line in _fact(output, need, margin=14)]
    return lines


def _about_engine(engine: Engine) -> str:
    lacking = engine.lacking if engine.found is Found.YES else None
    tail = "" if lacking is None else f", but {lacking.value}"
    return safe_line(f"{engine.why}{tail}", limit=LONGEST)


def _host(output: Output, report: StatusReport) -> list[str]:
    by_name = {fact.name: fact for fact in report.host}
    kernel, container = by_name.pop("kernel"), by_name.pop("container")
    inside = ", in a container by its signs" if container.found is Found.YES else ""
    what = safe_line(kernel.value or kernel.why) + inside + "; read, not tried"
    lines = _labelled(output, "host", laid_out(what, width=page_width() - _LABEL - 1))
    if output.verbose:
        return lines + [line for fact in report.host for line in _fact(output, fact, margin=2)]
    for found, verb in _VERBS.items():
        named = [_in_short(fact) for fact in by_name.values() if fact.found is found]
        if named:
            start = f"  {output.paint(f'{verb:<{_LABEL - 2}}', _STYLES[found])}"
            lines += hanging(start, ", ".join(named), width_of_start=_LABEL)
    return lines


def _in_short(fact: Fact) -> str:
    return safe_line(f"{fact.name} ({fact.value})" if fact.value else fact.name)


def _fact(output: Output, fact: Fact, *, margin: int) -> list[str]:
    start = f"{' ' * margin}{fact.name:<18}{output.paint(f'{fact.found:<8}', _STYLES[fact.found])}"
    said = f"{fact.value}: {fact.why}" if fact.value else fact.why
    return hanging(start, safe_line(said), width_of_start=margin + 26)
