"""What the commands that run something share: limits as they are typed, and the status of a run."""

import base64

from consentry.base.codes import ExitStatus
from consentry.base.errors import BadInput
from consentry.base.units import Duration, Size
from consentry.cli.command import usage_problem
from consentry.enforce.engine import Outcome
from consentry.record.auditfields import ExecutionStatus


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
