"""What a sign-off counts of the certification corpus: packages that import, that fail alike, and actions.

Every figure is taken from what the tries answered, and none from a verdict that somebody recorded.

- `H-KPI-1`: every check of a valid package is an attempt; it is good when its first answer is `imported`.
- `H-KPI-2`: an invalid fixture counts once however often it was checked. It is stable when each check
  tried it at least twice and every answer has the code and the path that are expected of it.
- `H-KPI-3`: an action counts once; it is good when each check found its five control fields valid.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from consentry.record.signoffevents import Evidence
from consentry.record.signofffields import CONTROL_FIELDS
from consentry.record.signoffgates import Counts, Gate, Samples, share_gate
from consentry.record.signoffstates import States

IMPORTED: Final = "imported"
_LEAST_REPEATS: Final = 2


class CertificationTally:
    """Counts checked cases; `gates` says what came of it."""

    def __init__(self, cases: States) -> None:
        self._cases = cases
        self._imports = Samples()

    def add(self, event: Evidence) -> None:
        """The next check in the window."""
        checked = event.payload
        if checked["caseKind"] == "valid":
            code = str(checked["answers"][0]["code"])
            counts = Counts.FOR if code == IMPORTED else Counts.AGAINST
            self._imports.add(event.event_id, str(checked["caseId"]), counts, f"it answered {code}")
            return
        key = json.dumps([checked[name] for name in ("caseKind", "corpusVersion", "caseId")])
        case = self._cases.get(key) or {
            "kind": checked["caseKind"],
            "about": checked["caseId"],
            "first": event.event_id,
            "expected": [checked["expectedCode"], checked["expectedPath"]],
            "bad": None,
        }
        is_good = (
            _has_all_fields(checked) if case["kind"] == "action" else _is_stable(checked, case)
        )
        if not is_good:
            case["bad"] = case["bad"] or event.event_id
        self._cases.put(key, case)

    def gates(self) -> tuple[Gate, ...]:
        """The three gates."""
        stable, valid = Samples(), Samples()
        for _, case in self._cases.pairs():
            is_action = case["kind"] == "action"
            good, bad = _WORDS[is_action]
            samples = valid if is_action else stable
            if case["bad"] is None:
                samples.add(case["first"], str(case["about"]), Counts.FOR, good)
            else:
                samples.add(case["bad"], str(case["about"]), Counts.AGAINST, bad)
        return (
            share_gate(
                "H-KPI-1", "valid corpus packages that import / attempts", "100 %", self._imports
            ),
            share_gate(
                "H-KPI-2",
                "invalid fixtures whose first code and path are stable over repeats / all",
                "100 %",
                stable,
            ),
            share_gate(
                "H-KPI-3",
                "actions with all five control fields schema-valid / all",
                "100 %",
                valid,
            ),
        )


_WORDS: Final = {
    True: ("all five control fields are valid", "a control field is not valid"),
    False: (
        "every try answered as expected",
        "a try answered otherwise, or it was tried only once",
    ),
}


def _is_stable(checked: Mapping[str, Any], case: Mapping[str, Any]) -> bool:
    wanted = [checked["expectedCode"], checked["expectedPath"]]
    answers = checked["answers"]
    return (
        len(answers) >= _LEAST_REPEATS
        and wanted == case["expected"]
        and all([each["code"], each["path"]] == wanted for each in answers)
    )


def _has_all_fields(checked: Mapping[str, Any]) -> bool:
    return all(checked["controlFields"][name] is True for name in CONTROL_FIELDS)
