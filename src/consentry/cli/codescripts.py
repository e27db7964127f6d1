"""`consentry code script.ts`: a script for Deno, run as `consentry exec --engine deno` would."""

from consentry.base.codes import ExitStatus
from consentry.cli.command import usage_problem
from consentry.cli.output import Output, write_message
from consentry.cli.runoptions import OwnStatus, exit_status, run_document
from consentry.cli.runstreams import streams
from consentry.cli.runtext import told_at_the_end
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.surroundings import Surroundings


def require_plain(preload: tuple[str, ...], arg: tuple[str, ...]) -> None:
    """Raises for options that only a Python snippet has."""
    for option, given in (("--preload", preload), ("--arg", arg)):
        if given:
            raise usage_problem(
                f"`{option}` is for Python snippets, and this is a script for Deno",
                "pass words with `consentry exec --engine deno -- SCRIPT WORD...`",
            )


def run_script(
    wish: RunWish, around: Surroundings, output: Output, ours: OwnStatus, workspace: str | None
) -> int:
    """Runs it to its end; it prints where this command does, and gives no result of its own."""
    is_capped = wish.limits.output_bytes is not None
    with streams(captured=output.json, capped=is_capped) as io:
        run = carry_out(wish, around, io, workspace=workspace)
    status, is_ours = exit_status(run.status, run.outcome)
    ours.status = status if is_ours else ExitStatus.DONE
    if output.json:
        output.document("code", {**run_document(run, status), "result": None, "error": None})
        return status
    lines = [] if output.quiet else told_at_the_end(run.entry)
    if lines:
        write_message("\n".join(lines))
    return status
