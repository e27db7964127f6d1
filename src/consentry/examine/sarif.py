"""A verdict in SARIF 2.1.0, for code scanning: a result for each power that was gained, and each reason.

A reason that only repeats a gained power has no result of its own. Fingerprints are made of what a
power is and never of where it stands: a result stays the same one when lines move or a file is renamed.
The level follows the status (`error`, `warning`, `note`); whether a gate opens is for the exit status.
"""

from collections.abc import Iterator
from typing import Any, Final

from consentry.examine.delta import Step
from consentry.examine.sariflog import (
    SarifResult,
    SarifRule,
    SarifTool,
    log_of,
    log_text,
)
from consentry.examine.sides import Doubt
from consentry.examine.stepwords import step_in_words
from consentry.examine.verdict import Reason, Status, Tag, Verdict
from consentry.surface.dimensions import Dimension

FINGERPRINT: Final = "consentryPower/v1"

_LEVELS: Final = {Status.PASS: "note", Status.BLOCKED: "error", Status.UNKNOWN: "warning"}
_HELP: Final = {
    Tag.PROTECTED.value: (
        "A protected root is reached",
        (
            "The change reads or writes below a protected root such as /etc, /var or ~/.ssh. Only a wish "
            "that names that very path allows it; a parent folder or a wildcard does not."
        ),
    ),
    Tag.LOADING.value: (
        "Data becomes code",
        (
            "The change loads code at run time: eval, exec, unpickling, an import by name. A wish that says "
            "`dynamic_code_load: LIMITED` allows a module with a constant name, and nothing allows more."
        ),
    ),
    Tag.INSUFFICIENT.value: (
        "It cannot be told",
        (
            "A part of the change could not be read, or nobody knows what it may do. Look at it yourself; "
            "no wish turns this into a pass."
        ),
    ),
}


def sarif_text(verdict: Verdict, version: str) -> str:
    """The log as text: pure ASCII, two spaces, a final newline."""
    return log_text(sarif_log(verdict, version))


def sarif_log(verdict: Verdict, version: str) -> dict[str, Any]:
    """The log: one run with all rules and the results of this verdict; `version` is Consentry's."""
    status = verdict.status
    return log_of(
        SarifTool("Consentry guard", version, tuple(_rules()), FINGERPRINT),
        _results(verdict),
        level=_LEVELS[status],
        exit_code={Status.PASS: 0, Status.BLOCKED: 1, Status.UNKNOWN: 2}[status],
        properties={
            "status": status.value,
            "riskBand": verdict.band.value,
            "witnesses": list(verdict.witnesses),
        },
    )


def _rules() -> Iterator[SarifRule]:
    for dimension in Dimension:
        said = (
            f"The change can {dimension.label}, and could not before to this extent "
            f"({dimension.meaning}). The field `allowed_capabilities.{dimension.key}` of a wish says "
            "what is allowed."
        )
        yield SarifRule(f"{Tag.ESCALATION.value}/{dimension.value}", f"May {dimension.label}", said)
    for tag, (title, said) in _HELP.items():
        yield SarifRule(tag, title, said)


def _results(verdict: Verdict) -> Iterator[SarifResult]:
    delta = verdict.delta
    for step in delta.gained:
        rule = f"{Tag.ESCALATION.value}/{step.atom.dimension.value}"
        message = f"the change can {step_in_words(step)}: {step.reason}"
        yield SarifResult(rule, message, _identity(step), step.file, step.line)
    for reason in verdict.reasons:
        rule = reason.tag.replace(":", "/")
        step_of = next((each for each in delta.gained if _is_about(reason, each)), None)
        doubt = next((each for each in delta.doubts if _is_doubt(reason, each)), None)
        if step_of is not None and reason.tag.startswith(Tag.ESCALATION.value):
            continue
        if step_of is not None:
            identity = _identity(step_of)
            yield SarifResult(rule, reason.detail, identity, step_of.file, step_of.line)
        elif doubt is not None:
            identity = (doubt.about.key, doubt.about.reason)
            yield SarifResult(rule, reason.detail, identity, doubt.file, doubt.about.line)
        else:
            yield SarifResult(rule, reason.detail, (reason.detail,))


def _is_about(reason: Reason, step: Step) -> bool:
    return f"{step.reason} ({step.file}:{step.line})" in reason.detail


def _is_doubt(reason: Reason, doubt: Doubt) -> bool:
    return reason.detail == f"{doubt.file}:{doubt.about.line}: {doubt.about.reason}"


def _identity(step: Step) -> tuple[str, ...]:
    atom = step.atom
    return atom.dimension.value, atom.operation.value, atom.target, step.reason
