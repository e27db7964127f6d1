"""A verdict in SARIF 2.1.0, for code scanning: a result for each power that was gained, and each reason.

A reason that only repeats a gained power has no result of its own. Fingerprints are made of what a
power is and never of where it stands: a result stays the same one when lines move or a file is renamed.
The level follows the status (`error`, `warning`, `note`); whether a gate opens is for the exit status.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote_from_bytes

from consentry.base.values import dataclass
from consentry.examine.delta import Step
from consentry.examine.sides import Doubt
from consentry.examine.stepwords import step_in_words
from consentry.examine.verdict import Reason, Status, Tag, Verdict
from consentry.surface.dimensions import Dimension

SARIF_VERSION: Final = "2.1.0"
FINGERPRINT: Final = "consentryPower/v1"

_ROOT: Final = "%SRCROOT%"
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


@dataclass(frozen=True, slots=True)
class _Result:
    """One result, before it has its fingerprint."""

    rule: str
    message: str
    identity: tuple[str, ...]
    file: str | None = None
    line: int = 1


def sarif_text(verdict: Verdict, version: str) -> str:
    """The log as text: pure ASCII, two spaces, a final newline."""
    return (
        json.dumps(sarif_log(verdict, version), ensure_ascii=True, allow_nan=False, indent=2) + "\n"
    )


def sarif_log(verdict: Verdict, version: str) -> dict[str, Any]:
    """The log: one run with all rules and the results of this verdict; `version` is Consentry's."""
    rules = list(_rules())
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    status = verdict.status
    run = {
        "tool": {
            "driver": {
                "name": "Consentry guard",
                "version": version,
                "semanticVersion": version,
                "rules": rules,
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": {Status.PASS: 0, Status.BLOCKED: 1, Status.UNKNOWN: 2}[status],
            }
        ],
        "results": list(_placed(_results(verdict), numbers, _LEVELS[status])),
        "properties": {
            "status": status.value,
            "riskBand": verdict.band.value,
            "witnesses": list(verdict.witnesses),
        },
    }
    return {"version": SARIF_VERSION, "runs": [run]}


def _rules() -> Iterator[dict[str, Any]]:
    for dimension in Dimension:
        said = (
            f"The change can {dimension.label}, and could not before to this extent "
            f"({dimension.meaning}). The field `allowed_capabilities.{dimension.key}` of a wish says "
            "what is allowed."
        )
        yield _rule(f"{Tag.ESCALATION.value}/{dimension.value}", f"May {dimension.label}", said)
    for tag, (title, said) in _HELP.items():
        yield _rule(tag, title, said)


def _rule(name: str, title: str, said: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.replace("/", "_").split("_")),
        "shortDescription": {"text": title},
        "fullDescription": {"text": said},
        "help": {"text": said, "markdown": said},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["security", "capability"]},
    }


def _results(verdict: Verdict) -> Iterator[_Result]:
    delta = verdict.delta
    for step in delta.gained:
        rule = f"{Tag.ESCALATION.value}/{step.atom.dimension.value}"
        message = f"the change can {step_in_words(step)}: {step.reason}"
        yield _Result(rule, message, _identity(step), step.file, step.line)
    for reason in verdict.reasons:
        rule = reason.tag.replace(":", "/")
        step_of = next((each for each in delta.gained if _is_about(reason, each)), None)
        doubt = next((each for each in delta.doubts if _is_doubt(reason, each)), None)
        if step_of is not None and reason.tag.startswith(Tag.ESCALATION.value):
            continue
        if step_of is not None:
            identity = _identity(step_of)
            yield _Result(rule, reason.detail, identity, step_of.file, step_of.line)
        elif doubt is not None:
            identity = (doubt.about.key, doubt.about.reason)
            yield _Result(rule, reason.detail, identity, doubt.file, doubt.about.line)
        else:
            yield _Result(rule, reason.detail, (reason.detail,))


def _is_about(reason: Reason, step: Step) -> bool:
    return f"{step.reason} ({step.file}:{step.line})" in reason.detail


def _is_doubt(reason: Reason, doubt: Doubt) -> bool:
    return reason.detail == f"{doubt.file}:{doubt.about.line}: {doubt.about.reason}"


def _identity(step: Step) -> tuple[str, ...]:
    atom = step.atom
    return atom.dimension.value, atom.operation.value, atom.target, step.reason


def _placed(
    results: Iterator[_Result], numbers: Mapping[str, int], level: str
) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for each in results:
        digest = _digest((each.rule, *each.identity))
        # The same thing in two files is two results; which is the first of them does not matter.
        seen[digest] += 1
        result: dict[str, Any] = {
            "ruleId": each.rule,
            "ruleIndex": numbers[each.rule],
            "level": level,
            "message": {"text": _text(each.message)},
            "partialFingerprints": {FINGERPRINT: f"{digest}:{seen[digest]}"},
        }
        if each.file is not None:
            result["locations"] = [_location(each.file, each.line)]
        yield result


def _digest(parts: tuple[str, ...]) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()


def _location(file: str, line: int) -> dict[str, Any]:
    raw = file.encode("utf-8", "surrogateescape")
    artifact = {"uri": quote_from_bytes(raw), "uriBaseId": _ROOT}
    return {
        "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(1, line)}}
    }


def _text(said: str) -> str:
    """Without halves of surrogate pairs, which a reader of JSON may refuse."""
    return said.encode("utf-8", "backslashreplace").decode("utf-8")
