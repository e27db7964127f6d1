"""What a run of the fence over many files found, as a JSON document and as a SARIF log."""

from collections.abc import Mapping
from typing import Any, Final

from consentry.base.canonical import Json
from consentry.base.values import dataclass
from consentry.examine.fence.findings import FenceFinding, Rule
from consentry.examine.sariflog import SarifResult, SarifRule, SarifTool, log_of, log_text

FINGERPRINT: Final = "consentryFence/v1"


@dataclass(frozen=True, slots=True)
class FenceReport:
    """The findings, sorted by file and place, and how many files were looked at."""

    findings: tuple[FenceFinding, ...]
    files: int
    """Files of Python source that were read, or could not be."""
    pardoned: int
    """Of those, the homes of tokens and the tests."""
    others: tuple[str, ...]
    """Files and links in folders that are not Python source, and were not read."""

    @property
    def exit_status(self) -> int:
        """0 where there is nothing to report."""
        return 1 if self.findings else 0

    def to_json(self) -> Mapping[str, Json]:
        """The document that `--json` prints."""
        return {
            "files": self.files,
            "pardoned": self.pardoned,
            "others": len(self.others),
            "findings": [
                {
                    "path": _text(each.path),
                    "line": each.line,
                    "column": each.column,
                    "rule": each.rule.value,
                    "message": _text(each.message),
                    "help": each.help_line,
                }
                for each in self.findings
            ],
        }

    def to_sarif(self, version: str) -> str:
        """The log that `--sarif` prints; `version` is Consentry's."""
        rules = tuple(SarifRule(each.value, each.heading, _sentence(each)) for each in Rule)
        results = [
            SarifResult(
                each.rule.value,
                each.message,
                (each.path, each.message),
                each.path,
                each.line,
                each.column,
            )
            for each in self.findings
        ]
        return log_text(_log(version, rules, results, self))


def _log(
    version: str,
    rules: tuple[SarifRule, ...],
    results: list[SarifResult],
    report: FenceReport,
) -> dict[str, Any]:
    return log_of(
        SarifTool("Consentry fence", version, rules, FINGERPRINT),
        results,
        level="error",
        exit_code=report.exit_status,
        properties={"files": report.files, "others": len(report.others)},
    )


def _sentence(rule: Rule) -> str:
    return f"{rule.heading}. {rule.help_line[0].upper()}{rule.help_line[1:]}."


def _text(said: str) -> str:
    """Without halves of surrogate pairs, which a reader of JSON may refuse."""
    return said.encode("utf-8", "backslashreplace").decode("utf-8")
