"""A verdict in SARIF 2.1.0: what code scanning needs of it, and fingerprints that stay."""

import json
from typing import Any

import pytest

import consentry
from consentry.examine.sarif import FINGERPRINT, sarif_log, sarif_text
from tests.service.patches import bundle_of, wish_of

LINES = "import requests\nrequests.get('https://api.example.org/')\nopen('/etc/passwd')\neval(input())\n"
UNKNOWN = "import a_module_that_nobody_knows\n"


def run_of(
    before: dict[str, str], after: dict[str, str], *wish: Any, **more: Any
) -> dict[str, Any]:
    """The one run of the log of a change."""
    verdict = consentry.check_patch(bundle_of(before, after), *wish, **more)
    log = sarif_log(verdict, consentry.__version__)
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    run: dict[str, Any] = log["runs"][0]
    return run


def fingerprints(run: dict[str, Any]) -> list[str]:
    """Those of all results, sorted."""
    return sorted(each["partialFingerprints"][FINGERPRINT] for each in run["results"])


def test_a_result_for_each_power_and_for_each_reason_beyond() -> None:
    """The rule is the tag; a reason that only repeats a power has no result of its own."""
    run = run_of({}, {"app.py": LINES})
    rules = [each["ruleId"] for each in run["results"]]
    assert rules.count("capability_escalation/NET_ACCESS") == 2
    assert rules.count("capability_escalation/FS_READ_ROOTS") == 2
    assert rules.count("capability_escalation/DYNAMIC_CODE_LOAD") == 1
    assert rules.count("protected_root_access") == rules.count("dynamic_code_load") == 1
    places = {
        (each["ruleId"], each["locations"][0]["physicalLocation"]["region"]["startLine"])
        for each in run["results"]
    }
    assert ("protected_root_access", 3) in places
    assert ("dynamic_code_load", 4) in places


def test_every_result_has_what_the_format_requires() -> None:
    """Its rule is in the table at its index; messages, levels, places and fingerprints are whole."""
    run = run_of({}, {"app.py": LINES + UNKNOWN, "b.py": UNKNOWN})
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("Consentry guard", consentry.__version__)
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids)) == 11
    for rule in driver["rules"]:
        for key in ("shortDescription", "fullDescription", "help"):
            assert rule[key]["text"]
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] == "error"
        [place] = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        assert place["physicalLocation"]["region"]["startLine"] >= 1
    assert len(set(fingerprints(run))) == len(run["results"])
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]
    assert run["properties"]["status"] == "BLOCKED"
    assert len(run["properties"]["witnesses"]) == 4


@pytest.mark.parametrize(
    ("lines", "wish", "level", "status"),
    [
        (LINES, None, "error", 1),
        (UNKNOWN, None, "warning", 2),
        ("import requests\n", wish_of(net_access="ANY", tool_classes=["python", "web"]), "note", 0),
    ],
)
def test_the_level_follows_the_status(lines: str, wish: Any, level: str, status: int) -> None:
    """An error blocks, a warning is for a person, a note is what a wish allowed."""
    run = run_of({}, {"app.py": lines}, wish)
    assert {each["level"] for each in run["results"]} == {level}
    assert run["invocations"][0]["exitCode"] == status


def test_fingerprints_stay_when_lines_move_and_files_are_renamed() -> None:
    """They are made of what a power is, never of where it stands."""
    plain = run_of({}, {"app.py": LINES})
    moved = run_of({}, {"app.py": f'"""Text."""\n\n\n{LINES}'})
    renamed = run_of({}, {"src/other.py": LINES})
    assert fingerprints(plain) == fingerprints(moved) == fingerprints(renamed)
    another = run_of({}, {"app.py": LINES.replace("api.example.org", "b.example.org")})
    assert len(set(fingerprints(plain)) ^ set(fingerprints(another))) == 2


def test_a_pass_without_powers_has_no_results() -> None:
    """And still says which rules were asked."""
    run = run_of({"app.py": "x = 1\n"}, {"app.py": "y = 1\n"})
    assert run["results"] == []
    assert len(run["tool"]["driver"]["rules"]) == 11


def test_an_incomplete_bundle_is_a_result_without_a_place() -> None:
    """There is no file to point at."""
    [run] = sarif_log(consentry.check_patch({}), "1.0")["runs"]
    [result] = run["results"]
    assert (result["ruleId"], "locations" in result) == ("insufficient_patch_data", False)


def test_the_text_is_ascii_and_names_are_percent_encoded() -> None:
    """Whatever a file is called."""
    text = sarif_text(consentry.check_patch(bundle_of({}, {"a b/<ü>#.py": LINES})), "1.0")
    assert text.isascii()
    assert text.endswith("}\n")
    uris = [
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for each in json.loads(text)["runs"][0]["results"]
    ]
    assert set(uris) == {"a%20b/%3C%C3%BC%3E%23.py"}
