"""What the commands that run something share: options, limits as typed, and what is told of a run."""

import base64
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from consentry.base.codes import ExitStatus
from consentry.base.errors import BadInput, ConsentryError
from consentry.base.units import Duration, Size
from consentry.cli.command import File, Folder, usage_problem
from consentry.enforce.confinement import Limits
from consentry.enforce.engine import Outcome
from consentry.record.auditfields import ExecutionStatus
from consentry.service.runledger import Run
from consentry.service.surroundings import Surroundings
from consentry.surface.permission_sets import PermissionSet

if TYPE_CHECKING:
    from consentry.service.holding import Holding


def ground_options() -> list[click.Option]:
    """What is opened before anything is named: a set, or a profile."""
    return [
        click.Option(["--set", "set_"], metavar="SET", help="One of the six permission sets."),
        click.Option(
            ["--profile"],
            metavar="NAME|FILE",
            help="A profile of your configuration, or of a file: FILE, or FILE:NAME.",
        ),
    ]


def read_option() -> click.Option:
    """What may be read besides."""
    return many("--read", "PATH", "May be read, with all below it.", kind=File())


def net_options() -> list[click.Option]:
    """Hosts that may be reached, and what is added to requests for them."""
    return [
        click.Option(
            ["--net"],
            metavar="HOST|any|none",
            multiple=True,
            help="A host it may reach: a name, `*.name`, an address, a block; `:port` narrows it.",
        ),
        many(
            "--secret",
            "HOST=HEADER:SOURCE",
            "The proxy adds this header for that host, over TLS; SOURCE is file:PATH or env:NAME.",
        ),
        click.Option(
            ["--secret-ca"],
            type=File(),
            metavar="FILE",
            help="Certificates that vouch for the hosts of --secret, not the system's own.",
        ),
    ]


def many(
    name: str, metavar: str, help_line: str, *, kind: click.ParamType[object] | None = None
) -> click.Option:
    """An option that may be given several times."""
    return click.Option([name], multiple=True, type=kind, metavar=metavar, help=help_line)


def hold_option() -> click.Option:
    """Whether what is refused waits for an answer."""
    return click.Option(
        ["--hold"],
        is_flag=True,
        help="Ask at the moment of a denial, while the program waits; its view is `visible`.",
    )


def held_here(around: Surroundings) -> "Holding":
    """How what is held is asked about: at this terminal, or else told of there."""
    from consentry.cli.heldprompt import terminal_holding  # noqa: PLC0415 - few runs ask

    return terminal_holding(around)


def limit_options() -> list[click.Option]:
    """As `limits_of` takes them."""
    return [
        click.Option(["--timeout"], metavar="DURATION", help="Ends it after so long: 90s, 5min."),
        click.Option(["--memory"], metavar="SIZE", help="Ends it above so much memory: 512MB."),
        click.Option(
            ["--cpu"], type=click.IntRange(1), metavar="SECONDS", help="Of processor time, at most."
        ),
        click.Option(
            ["--processes"], type=click.IntRange(1), metavar="N", help="At the same time, at most."
        ),
        click.Option(["--max-output"], metavar="SIZE", help="Ends it when it prints more."),
    ]


def place_options(what: str) -> list[click.Option]:
    """Where it runs, and where our own status is told; `what` is what is run."""
    return [
        click.Option(["--workspace"], type=Folder(), metavar="DIR", help="The folder it works on."),
        click.Option(
            ["--status-fd"],
            type=click.IntRange(0),
            metavar="N",
            help=f"Write our own status to this descriptor: 0 if the {what} ran.",
        ),
    ]


def named_set(set_: str | None, profile: str | None) -> PermissionSet | None:
    """The set that a line names, if any; it is instead of a profile."""
    if set_ is not None and profile is not None:
        raise usage_problem("`--set` and `--profile` exclude each other", "leave one out")
    return None if set_ is None else PermissionSet.named(set_)


def exit_status(status: ExecutionStatus, outcome: Outcome) -> tuple[int, bool]:
    """The status to exit with, and whether it is ours rather than the program's."""
    match status:
        case ExecutionStatus.TIMEOUT:
            return ExitStatus.TIME_LIMIT, True
        case ExecutionStatus.LIMIT:
            return ExitStatus.KILLED_BY_LIMIT, True
        case ExecutionStatus.DISCARDED:
            return ExitStatus.DENIED, True
        case _:
            if outcome.exit_code is not None:
                return outcome.exit_code, False
            return 128 + (outcome.signal or 0), False


def run_document(run: Run, status: int) -> dict[str, object]:
    """The answer in JSON: the record of the run, and what was printed."""
    outcome = run.outcome
    return {
        "run": run.entry,
        "exit_status": status,
        "stdout": printed(outcome.stdout),
        "stderr": printed(outcome.stderr),
        "output_complete": outcome.output_complete,
    }


def printed(content: bytes) -> dict[str, str]:
    """What a run printed, as it stands in a document."""
    try:
        return {"encoding": "utf-8", "content": content.decode()}
    except UnicodeDecodeError:
        return {"encoding": "base64", "content": base64.b64encode(content).decode("ascii")}


def size_of(option: str, text: str | int | None) -> int | None:
    """The bytes that an option names."""
    if text is None:
        return None
    try:
        return Size.parse(str(text)).count
    except BadInput as problem:
        raise usage_problem(f"`{option}`: {problem.message}", problem.help_line) from None


def seconds_of(option: str, text: str | int | None) -> float | None:
    """The time that an option names."""
    if text is None:
        return None
    try:
        span = Duration.parse(str(text))
    except BadInput as problem:
        raise usage_problem(f"`{option}`: {problem.message}", problem.help_line) from None
    if span.milliseconds == 0:
        raise usage_problem(f"`{option}`: no time at all", "give at least 1ms, or leave it out")
    return span.milliseconds / 1000


def limits_of(given: Mapping[str, str | int | None]) -> Limits:
    """The limits that a line names."""
    cpu, processes = given["cpu"], given["processes"]
    return Limits(
        cpu_seconds=None if cpu is None else int(cpu),
        memory_bytes=size_of("--memory", given["memory"]),
        processes=None if processes is None else int(processes),
        output_bytes=size_of("--max-output", given["max_output"]),
        wall_seconds=seconds_of("--timeout", given["timeout"]),
    )


class OwnStatus:
    """Our own status, told apart from the program's."""

    status: int = ExitStatus.FAILED


@contextmanager
def status_apart(descriptor: int | None) -> Iterator[OwnStatus]:
    """Writes our own status to a descriptor, if one was named, however the command ends."""
    ours = OwnStatus()
    if descriptor is not None:
        try:
            os.fstat(descriptor)
        except OSError:
            message = f"`--status-fd {descriptor}`: no such descriptor is open"
            raise usage_problem(message, "open it first, as `3>file` does in a shell") from None
    try:
        yield ours
    except ConsentryError as problem:
        ours.status = problem.exit_status
        raise
    except KeyboardInterrupt:
        ours.status = ExitStatus.INTERRUPTED
        raise
    finally:
        if descriptor is not None:
            with suppress(OSError):
                os.write(descriptor, f"{int(ours.status)}\n".encode())
