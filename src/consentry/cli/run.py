"""`consentry run`: runs a tool by its manifest, asking first where its level says so."""

import os
from contextlib import AbstractContextManager
from functools import partial

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.cli.command import Folder, PlainCommand, Text, output_of
from consentry.cli.output import Output
from consentry.cli.progressline import streams_with_progress
from consentry.cli.runcompany import TerminalCompany
from consentry.cli.runoptions import (
    exit_status,
    held_here,
    hold_option,
    place_options,
    run_document,
    status_apart,
)
from consentry.cli.runstreams import streams
from consentry.cli.table import Page
from consentry.cli.toolnames import complete_tool
from consentry.cli.toolrunend import tell_end
from consentry.decide.previewparts import Estimate
from consentry.enforce.native.streamends import Io
from consentry.service.approvals import Desk
from consentry.service.durations import estimate_of
from consentry.service.refusals import journal_of_terminal
from consentry.service.surroundings import look_around
from consentry.service.toolcalls import ToolCall
from consentry.service.toolruns import ToolRun, ToolRunner, ToolWish, find_request
from consentry.store.journal import Journal

PAGE = Page(
    summary="Run a tool: see what it wants, decide, confine it to that, have it on record.",
    paragraphs=(
        (
            "The tool is found in your configuration and the workspace's. What it wants is shown "
            "before anything runs; its level says whether you are told, asked, or asked twice."
        ),
        (
            "Without a terminal the question is stored and this command waits until somebody "
            "answers it with `consentry approve` or `deny`; with `--no-wait` it exits with 75, and "
            "`consentry run --request ID` starts the run once it was approved."
        ),
        "At level strict it runs in a layer first; a second yes takes over exactly what it changed.",
    ),
    arguments=(
        ("TOOL", "The tool's name."),
        ("ARGUMENTS", "Words for its entry point, behind `--`."),
    ),
    examples=(
        ("consentry run lint-latex", "ask, then run it"),
        ("consentry run build-latex -- --draft", "with words for its entry point"),
        ("consentry run --no-wait lint-latex", "store the question, exit with 75"),
        ("consentry run --request request-0198c2f4-…", "start what was approved, once"),
        ("consentry run --hold lint-latex", "ask me when it is refused something, and let it wait"),
        ("consentry run --rehearse format-references", "change nothing yet, and see what it would"),
    ),
    statuses=(
        ("0", "the tool ended with 0"),
        ("2", "wrong usage, or no such tool; or the tool's own status"),
        ("3", "a document cannot be read; or the tool's own status"),
        ("4", "a plugin failed its integrity check, so nothing was started"),
        ("5", "the ledger cannot be written; the tool did not run, or the message says so"),
        ("75", "a question waits for its answer"),
        ("124", "the time limit was reached"),
        ("125", "Consentry failed, and the tool did not run"),
        ("126", "denied: by a person, a deadline, a policy, or because no engine holds it"),
        ("127", "a program of the tool was not found"),
        ("137", "killed by a limit"),
        ("other", "the tool's own status; 128 and the signal when one ended it"),
    ),
    read_on=("docs/how-to/run-a-tool.md; `consentry tool list` names the tools.",),
)


@dataclass(slots=True)
class _Streams:
    """The streams of a run, with a line that says how long it usually takes; that is kept."""

    output: Output
    journal: Journal
    holds: bool = False
    estimate: Estimate | None = None

    def __call__(self, tool: str) -> AbstractContextManager[Io]:
        """Takes them for the run of that tool."""
        self.estimate = estimate_of(self.journal.ledger.history, tool)
        plain = partial(streams, captured=self.output.json, capped=False, holds=self.holds)
        return streams_with_progress(plain, tool, lambda: self.estimate)


@click.pass_context
def _run(
    ctx: click.Context,
    /,
    *,
    words: tuple[str, ...],
    request: str | None,
    config: str | None,
    workspace: str | None,
    status_fd: int | None,
    no_wait: bool,
    rehearse: bool,
    keep_partial: bool,
    hold: bool,
) -> int:
    output = output_of(ctx)
    with status_apart(status_fd) as ours:
        _require_one(words, request, config, workspace)
        around = look_around(os.environ)
        holding = held_here(around) if hold else None
        wish = ToolWish(rehearse, keep_partial, waits=not no_wait, holding=holding)
        with journal_of_terminal(around) as journal:
            runner = ToolRunner(journal, around, TerminalCompany(journal, around, output), wish)
            open_io = _Streams(output, journal, holds=hold)
            if request is not None:
                over = runner.dispatch(find_request(Desk(journal), request), open_io)
            else:
                call = ToolCall(words[0], words[1:], workspace, config)
                over = runner.run(call, open_io)
        status, is_ours = _status(over)
        ours.status = status if is_ours else ExitStatus.DONE
    if output.json:
        output.document("run", run_document(over.run, status))
    elif not output.quiet:
        tell_end(over, open_io.estimate)
    return status


def _status(over: ToolRun) -> tuple[int, bool]:
    if over.problem is not None:
        return over.problem.exit_status, True
    return exit_status(over.status, over.run.outcome)


def _require_one(
    words: tuple[str, ...], request: str | None, config: str | None, workspace: str | None
) -> None:
    if request is None and not words:
        raise UsageProblem(
            Code.USAGE,
            "no tool was named",
            help_line="`consentry tool list` names the tools that are known here",
        )
    if request is not None and (words or config or workspace):
        raise UsageProblem(
            Code.USAGE,
            "`--request` names everything that it runs",
            help_line="leave the tool, `--config` and `--workspace` out",
        )


OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(
        ["--request"],
        type=Text(),
        metavar="ID",
        help="Start the run that this request was approved for, once.",
    ),
    click.Option(
        ["--config"],
        type=Folder(),
        metavar="DIR",
        help="This configuration folder instead of yours and the workspace's.",
    ),
    click.Option(
        ["--no-wait"],
        is_flag=True,
        help="Where nobody can be asked here, exit with 75 instead of waiting.",
    ),
    click.Option(
        ["--rehearse"],
        is_flag=True,
        help="Keep what it wrote apart, to be looked at, committed or discarded later.",
    ),
    click.Option(
        ["--keep-partial"],
        is_flag=True,
        help="Keep what it wrote even if a limit or a signal ended it.",
    ),
    hold_option(),
    *place_options("tool"),
    click.Argument(
        ["words"],
        nargs=-1,
        type=click.UNPROCESSED,
        metavar="TOOL [-- ARGUMENTS...]",
        shell_complete=complete_tool,
    ),
)

run = PlainCommand("run", PAGE, _run, OPTIONS)
