"""The one writer of SARIF 2.1.0: a run with its rules and results, for whatever tool of ours.

Fingerprints are made of what a result is by its maker's word, and never of the line it stands on: a
result stays the same one when lines move. Text is pure ASCII; paths are URIs relative to `%SRCROOT%`.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote_from_bytes

from consentry.base.values import dataclass

SARIF_VERSION: Final = "2.1.0"

_ROOT: Final = "%SRCROOT%"


@dataclass(frozen=True, slots=True)
class SarifRule:
    """A rule: its name, a title, and what to do in a sentence or two."""

    name: str
    title: str
    said: str


@dataclass(frozen=True, slots=True)
class SarifResult:
    """One result; `identity` says what it is, wherever it stands."""

    rule: str
    message: str
    identity: tuple[str, ...]
    file: str | None = None
    line: int = 1
    column: int | None = None


@dataclass(frozen=True, slots=True)
class SarifTool:
    """Whose results they are: the tool, its version, its rules, and the name of its fingerprints."""

    name: str
    version: str
    rules: Sequence[SarifRule]
    fingerprint: str


def log_text(log: Mapping[str, Any]) -> str:
    """A log as text: pure ASCII, two spaces, a final newline."""
    return json.dumps(log, ensure_ascii=True, allow_nan=False, indent=2) + "\n"


def log_of(
    tool: SarifTool,
    results: Iterable[SarifResult],
    *,
    level: str,
    exit_code: int,
    properties: Mapping[str, Any],
) -> dict[str, Any]:
    """The log: one run with all rules of the tool and these results."""
    run = {
        "tool": {
            "driver": {
                "name": tool.name,
                "version": tool.version,
                "semanticVersion": tool.version,
                "rules": [_rule(each) for each in tool.rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "exitCode": exit_code}],
        "results": list(_placed(results, tool, level)),
        "properties": dict(properties),
    }
    return {"version": SARIF_VERSION, "runs": [run]}


def _rule(rule: SarifRule) -> dict[str, Any]:
    words = rule.name.replace("/", "_").replace("-", "_").split("_")
    return {
        "id": rule.name,
        "name": "".join(word.capitalize() for word in words),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.said},
        "help": {"text": rule.said, "markdown": rule.said},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["security", "capability"]},
    }


def _placed(
    results: Iterable[SarifResult], tool: SarifTool, level: str
) -> Iterator[dict[str, Any]]:
    numbers = {rule.name: number for number, rule in enumerate(tool.rules)}
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
            "partialFingerprints": {tool.fingerprint: f"{digest}:{seen[digest]}"},
        }
        if each.file is not None:
            result["locations"] = [_location(each.file, each.line, each.column)]
        yield result


def _digest(parts: tuple[str, ...]) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()


def _location(file: str, line: int, column: int | None) -> dict[str, Any]:
    raw = file.encode("utf-8", "surrogateescape")
    artifact = {"uri": quote_from_bytes(raw), "uriBaseId": _ROOT}
    region = {"startLine": max(1, line)}
    if column is not None:
        region["startColumn"] = max(1, column)
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _text(said: str) -> str:
    """Without halves of surrogate pairs, which a reader of JSON may refuse."""
    return said.encode("utf-8", "backslashreplace").decode("utf-8")
