"""A report as one JSON document, for programs; the entries are written behind it, one by one."""

from collections.abc import Sequence
from typing import Any

from consentry.record.chain import ChainHead
from consentry.record.report import Decisions, Report


def report_document(report: Report, heads: Sequence[ChainHead]) -> dict[str, Any]:
    """Everything but the entries."""
    period = report.period
    return {
        "period": {
            "from": str(period.since),
            "to": str(period.until),
            "made": str(period.now),
            "tool": period.tool,
            "step_ms": period.width_ms,
        },
        "ledger": [{"writer": h.writer, "events": h.seq, "hash": h.hash} for h in heads],
        "runs": report.runs,
        "listed": report.listed,
        "unlisted": report.unlisted,
        "past_retention": report.past_retention,
        "statuses": dict(report.statuses),
        "over_time": [
            {"start": str(each.start), "counts": dict(each.counts)} for each in report.over_time
        ],
        "levels": [_decisions(each) for each in report.levels],
        "methods": [_decisions(each) for each in report.methods],
        "violations": {
            "kinds": [
                {"operation": each.operation, "times": each.times, "runs": each.runs}
                for each in report.violations
            ],
            "runs": report.runs_with_violations,
            "incomplete": report.runs_incomplete,
        },
        "powers": [
            {
                "tool": each.tool,
                "judged": each.judged,
                "not_judged": each.not_judged,
                "powers": [
                    {
                        "power": use.power.value,
                        "granted": list(use.granted),
                        "unused": list(use.unused),
                    }
                    for use in each.uses
                ],
            }
            for each in report.powers
        ],
        "slowest": [
            {
                "tool": each.tool,
                "runs": each.runs,
                "median_ms": each.median_ms,
                "p90_ms": each.ninth_ms,
                "slowest_ms": each.slowest_ms,
                "slowest": each.slowest_id,
            }
            for each in report.slowest
        ],
    }


def _decisions(each: Decisions) -> dict[str, Any]:
    return {"word": each.word, "given": each.given, "refused": each.refused}
