"""Turns whatever went wrong into one message, or one JSON document, and an exit status.

    consentry: error[code]: what is wrong
    help: what to do about it

A document with several things wrong has one line for each between the two, two columns in:

    consentry: error[document-invalid]: FILE: 2 things are wrong
      FILE:LINE:COLUMN: FIELD: what is wrong; what to do about it
      FILE:LINE:COLUMN: FIELD: what is wrong; what to do about it
    help: where to look

A plugin that is rejected has a line for each file that is not as its lock says:

      changed rules/notes.py

On a terminal a message that is wider goes on in rows that open with `|`, see `cli.layout`.
The message goes to standard error; with `--json` anywhere before `--` the error is the JSON
document on standard output instead, so that a script reads one stream. Everything untrusted in a
message passes through `base.safetext`. A traceback appears only for a fault of our own, and only
with `--verbose`.
"""

import os
import signal
import sys
import traceback
from typing import TYPE_CHECKING

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import BadDocument, ConsentryError, Problem, Where
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.cli.layout import laid_out
from consentry.cli.output import (
    ReaderGone,
    json_text,
    page_width,
    painted,
    wants_color,
    write_answer,
    write_message,
)
from consentry.cli.suggest import help_for
from consentry.cli.table import PROGRAM

if TYPE_CHECKING:
    from consentry.examine.pluginproblems import PluginRejected

_TRACEBACK_MARGIN = 8
_PROBLEM_MARGIN = 2
_MOST_CHANGES = 50
_OF_PLUGINS = (Code.PLUGIN_REJECTED, Code.PLUGIN_DOCUMENT, Code.PLUGIN_POLICY)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error in the form it is shown."""

    code: Code
    message: str
    help_line: str
    where: Where | None = None
    problems: tuple[Problem, ...] = ()
    rejection: "PluginRejected | None" = None


def report(problem: BaseException, arguments: list[str]) -> int:
    """Shows `problem` and returns the exit status that belongs to it."""
    if isinstance(problem, ReaderGone):
        return ExitStatus.READER_GONE
    failure = failure_of(problem)
    if failure.code is Code.INTERRUPTED:
        # A second Ctrl-C must not cut the answer to the first one short.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if failure.code is Code.INTERNAL_FAULT and _wanted(arguments, "--verbose", "-v"):
        write_message(_traceback_of(problem))
    if _wanted(arguments, "--json") and failure.code is not Code.OUTPUT_FAILED:
        return _answer_in_json(failure)
    write_message(_text_of(failure, "always" if _colored(arguments) else "never"))
    return failure.code.status


def _traceback_of(problem: BaseException) -> str:
    lines = "".join(traceback.format_exception(problem)).split("\n")
    bodies = [(line, line.lstrip(" ")) for line in lines if line.strip(" ")]
    # The margin is the traceback's own; wider than that it would be padding, and is shown.
    return "\n".join(
        " " * (len(line) - len(body)) + safe_line(body)
        if len(line) - len(body) <= _TRACEBACK_MARGIN
        else safe_line(line)
        for line, body in bodies
    )


def failure_of(problem: BaseException) -> Failure:
    """What to say about `problem`, whatever it is."""
    if isinstance(problem, ConsentryError):
        listed = problem.problems if isinstance(problem, BadDocument) else ()
        return Failure(
            problem.code,
            problem.message,
            problem.help_line,
            problem.where,
            listed,
            _rejection_in(problem),
        )
    if isinstance(problem, KeyboardInterrupt | click.Abort):
        return Failure(Code.INTERRUPTED, "interrupted", Code.INTERRUPTED.remedy)
    if isinstance(problem, click.ClickException):
        return _failure_of_usage(problem)
    kind = type(problem).__name__
    said = str(problem)
    message = f"unforeseen {kind}: {said}" if said else f"unforeseen {kind}"
    return Failure(Code.INTERNAL_FAULT, message, Code.INTERNAL_FAULT.remedy)


def _rejection_in(problem: ConsentryError) -> "PluginRejected | None":
    if problem.code not in _OF_PLUGINS:
        return None
    from consentry.examine.pluginproblems import PluginRejected  # noqa: PLC0415 - few have plugins

    return problem if isinstance(problem, PluginRejected) else None


def _failure_of_usage(problem: click.ClickException) -> Failure:
    ctx = problem.ctx if isinstance(problem, click.UsageError) else None
    command = PROGRAM if ctx is None else ctx.command_path
    otherwise = f"`{command} --help` shows what it takes"
    if isinstance(problem, click.NoSuchOption):
        name = problem.option_name
        known = [] if ctx is None else _options_of(ctx.command)
        elsewhere = None if ctx is None else _where_it_belongs(name, ctx)
        help_line = elsewhere or help_for(name, known, _behind_dashes(ctx) or otherwise)
        return Failure(Code.USAGE, f"`{name}` is not an option of `{command}`", help_line)
    if isinstance(problem, click.BadOptionUsage):
        takes = "takes no value" if "not take" in problem.message else "needs a value"
        return Failure(Code.USAGE, f"`{problem.option_name}` {takes}", otherwise)
    if isinstance(problem, click.MissingParameter) and problem.param is not None:
        param = problem.param
        # Of an option click's own name for people is the name of a variable.
        is_option = isinstance(param, click.Option)
        name = max(param.opts, key=len) if is_option else param.human_readable_name
        named = _where_named(name, ctx)
        return Failure(Code.USAGE, f"`{command}` needs `{name}`", named or otherwise)
    said = problem.format_message().rstrip(".")
    return Failure(Code.USAGE, said[:1].lower() + said[1:], otherwise)


def _where_named(name: str, ctx: click.Context | None) -> str | None:
    """What the page says of an argument, where that names the command that lists what it may be."""
    page = None if ctx is None else getattr(ctx.command, "page", None)
    rows = () if page is None else page.arguments
    for argument, said in rows:
        if argument == name.removesuffix("...") and f"`{PROGRAM} " in said:
            return str(said[:1].lower() + said[1:].rstrip("."))
    return None


def _behind_dashes(ctx: click.Context | None) -> str | None:
    """The help line for an option that is perhaps another program's."""
    if ctx is None or not any("-- " in (param.metavar or "") for param in _arguments_of(ctx)):
        return None
    return f"words for what it runs stand behind `--`; `{ctx.command_path} --help` has its own"


def _arguments_of(ctx: click.Context) -> list[click.Argument]:
    return [param for param in ctx.command.params if isinstance(param, click.Argument)]


def _options_of(command: click.Command) -> list[str]:
    options = [param for param in command.params if isinstance(param, click.Option)]
    return [name for option in options for name in option.opts if name.startswith("--")]


def _where_it_belongs(name: str, ctx: click.Context) -> str | None:
    """The help line for an option that exists, on the other side of the command word."""
    if isinstance(ctx.command, click.Group):
        for word in ctx.command.list_commands(ctx):
            command = ctx.command.get_command(ctx, word)
            if command is not None and name in _options_of(command):
                return f"`{name}` goes after the command word: `{PROGRAM} {word} {name} ...`"
    elif ctx.parent is not None and name in _options_of(ctx.parent.command):
        return f"`{name}` stands alone: `{ctx.parent.command_path} {name}`"
    return None


def _wanted(arguments: list[str], *names: str) -> bool:
    before_dashes = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return any(name in before_dashes for name in names)


def _colored(arguments: list[str]) -> bool:
    choice = "auto"
    for position, word in enumerate(arguments):
        if word == "--color" and position + 1 < len(arguments):
            choice = arguments[position + 1]
        elif word.startswith("--color="):
            choice = word.removeprefix("--color=")
    return wants_color(choice, sys.stderr, os.environ)


def _text_of(failure: Failure, color: str) -> str:
    title, hint = f"error[{failure.code}]:", "help:"
    before = len(f"{PROGRAM}: {title} ")
    after = len(f"{hint} ")
    if color == "always":
        title, hint = painted(title, "red"), painted(hint, "bold")
    said, advice = _rows(_message_of(failure), before), _rows(failure.help_line, after)
    listed = failure.problems if len(failure.problems) > 1 else ()
    opening = " " * _PROBLEM_MARGIN
    lines = [opening + _rows(str(each), _PROBLEM_MARGIN, _PROBLEM_MARGIN) for each in listed]
    lines += [opening + _rows(each, _PROBLEM_MARGIN, _PROBLEM_MARGIN) for each in _changes(failure)]
    return "\n".join((f"{PROGRAM}: {title} {said}", *lines, f"{hint} {advice}"))


def _changes(failure: Failure) -> list[str]:
    """Each file of a rejected plugin that is not as its lock says; `--json` has all of them."""
    changes = None if failure.rejection is None else failure.rejection.changes
    if changes is None:
        return []
    rows = [f"changed {path}" for path in changes.changed]
    rows += [f"added {path}" for path in changes.added]
    rows += [f"missing {path}" for path in changes.missing]
    more = len(rows) - _MOST_CHANGES
    return rows if more <= 0 else [*rows[:_MOST_CHANGES], f"and {more} more; --json has all"]


def _message_of(failure: Failure) -> str:
    if len(failure.problems) == 1:
        return failure.problems[0].said
    place = "" if failure.where is None else str(failure.where)
    return f"{place}: {failure.message}" if place else failure.message


def _rows(text: str, start: int, margin: int = 0) -> str:
    """One line for a file or a pipe; on a terminal, rows of which each begins as ours."""
    shown = safe_line(text)
    if sys.stderr is None or not sys.stderr.isatty():
        return shown
    width = page_width(sys.stderr.fileno()) - 1
    return "\n".join(laid_out(shown, width=width, start=start, margin=margin))


def error_body(failure: Failure) -> dict[str, object]:
    """The body of the JSON document that tells of it."""
    error: dict[str, object] = {
        "code": str(failure.code),
        "message": failure.message,
        "where": _where_in_json(failure.where),
        "help": failure.help_line,
        "exit_status": int(failure.code.status),
    }
    if failure.problems:
        error["problems"] = [
            {
                "code": str(each.code),
                "message": each.message,
                "where": _where_in_json(each.where),
                "help": each.help_line,
            }
            for each in failure.problems
        ]
    if failure.rejection is not None:
        error["plugin"] = _rejection_in_json(failure.rejection)
    return {"error": error}


def _rejection_in_json(rejection: "PluginRejected") -> dict[str, object]:
    changes = rejection.changes
    return {
        "name": rejection.plugin,
        "reason": str(rejection.reason),
        "expected": rejection.expected,
        "found": rejection.found,
        "changed": [] if changes is None else list(changes.changed),
        "added": [] if changes is None else list(changes.added),
        "missing": [] if changes is None else list(changes.missing),
    }


def _answer_in_json(failure: Failure) -> int:
    try:
        write_answer(json_text("error", error_body(failure)))
    except ReaderGone:
        return ExitStatus.READER_GONE
    except ConsentryError:
        # Standard output fails as well; the first error is the one worth telling.
        write_message(_text_of(failure, "never"))
    return failure.code.status


def _where_in_json(where: Where | None) -> dict[str, str | int | None] | None:
    if where is None:
        return None
    return {
        "file": where.file,
        "line": where.line,
        "column": where.column,
        "field": where.field,
    }
