"""The guard on real releases: what was only rewritten gains nothing, what was gained is named.

Successive source archives of projects in pure Python, each pair judged as one change without a wish.
The rows are releases that were looked at, and `gains` and `losses` state what they truly bring and
take. So that an empty delta is no blindness, each later release is judged once more with one line
added to one of its files.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from consentry.base.values import dataclass
from consentry.declare.patchbundle import Blob
from consentry.examine.verdict import Status, Verdict
from consentry.service.extracting import Extractor
from consentry.service.guarding import BlobTree, Change, Terms, check_change
from tests.examine.registrypackages import Unreachable, files_in, source_of

IS_FULL = os.environ.get("CONSENTRY_PROOF") == "full"
Files = Mapping[str, Blob]

SMALL = ("iniconfig", "src/iniconfig/", ("1.1.1", "2.0.0"))
REWRITTEN = (
    ("attrs", "src/", ("23.2.0", "24.1.0", "24.2.0", "24.3.0", "25.1.0")),
    ("blinker", "src/", ("1.8.0", "1.8.1", "1.8.2", "1.9.0")),
    ("cachetools", "src/", ("7.2.3", "7.2.5", "7.2.7", "7.2.8")),
    ("click", "src/", ("8.3.0", "8.3.1", "8.3.2", "8.3.3")),
    ("h11", "h11/_", ("0.12.0", "0.13.0", "0.14.0", "0.16.0")),
    ("idna", "idna/", ("3.12", "3.13", "3.14", "3.15")),
    ("iniconfig", "src/iniconfig/", ("2.0.0", "2.1.0", "2.2.0", "2.3.0")),
    ("itsdangerous", "src/itsdangerous/", ("2.0.0", "2.0.1", "2.1.0", "2.1.2", "2.2.0")),
    ("markdown-it-py", "markdown_it/", ("2.1.0", "2.2.0", "3.0.0")),
    ("mdurl", "src/", ("0.1.0", "0.1.1", "0.1.2")),
    ("packaging", "src/packaging/", ("23.2", "24.0", "24.1", "24.2", "25.0")),
    ("pluggy", "src/pluggy/", ("1.0.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0")),
    ("six", "six.py", ("1.14.0", "1.15.0", "1.16.0", "1.17.0")),
    ("sortedcontainers", "sortedcontainers/", ("2.1.0", "2.2.0", "2.3.0")),
    ("tomli", "src/", ("2.0.2", "2.1.0", "2.2.1", "2.3.0")),
    ("werkzeug", "src/", ("3.1.1", "3.1.2", "3.1.3", "3.1.4", "3.1.5")),
)


@dataclass(frozen=True, slots=True)
class Changed:
    """A release that is more than a rewriting, and the words by which the guard says so."""

    project: str
    top: str
    versions: tuple[str, str]
    gains: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()


CHANGED = (
    # It reads URLs from then on, and `urllib` is a library of the network to the letter.
    Changed("packaging", "src/", ("26.0", "26.1"), ("NET_ACCESS: import urllib.parse",)),
    # Rows that are dataclasses are asked for their fields by name, whatever these are.
    Changed(
        "tabulate",
        "tabulate",
        ("0.8.10", "0.9.0"),
        ("DYNAMIC_CODE_LOAD: getattr() with a computed name",),
    ),
    Changed("h11", "h11/_", ("0.11.0", "0.12.0"), losses=("DYNAMIC_CODE_LOAD: removed: exec()",)),
    Changed(
        "markdown-it-py",
        "markdown_it/",
        ("2.0.1", "2.1.0"),
        losses=("DYNAMIC_CODE_LOAD: removed: getattr() with a computed name",),
    ),
)

# Nothing that any of these projects does would cover it.
ADDED = b'\n\ndef report():\n    open("/var/log/report", "w").write("1")\n'


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file on both sides."""

    path_before: str | None
    path_after: str | None
    before: Blob | None
    after: Blob | None


def release(name: str, version: str, top: str, folder: Path) -> dict[str, Blob]:
    """What a release installs; skips where the index cannot be reached."""
    try:
        archive = source_of(name, version, folder)
    except Unreachable as reason:
        pytest.skip(f"{name} {version}: {reason}")
    found = {path: Blob(content) for path, content in files_in(archive) if path.startswith(top)}
    files = {path: blob for path, blob in found.items() if path.endswith((".py", ".pyi"))}
    assert files, f"{name} {version} has nothing below {top}"
    return files


def judged(before: Files, after: Files) -> Verdict:
    """The verdict on the change from one to the other, strict and without a wish."""
    paths = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    files = tuple(
        ChangedFile(
            path if path in before else None,
            path if path in after else None,
            before.get(path),
            after.get(path),
        )
        for path in paths
    )
    change = Change(files, BlobTree(before), BlobTree(after))
    return check_change(change, Terms(), Extractor())


def check_empty(name: str, top: str, versions: tuple[str, ...], folder: Path) -> None:
    """Each release passes, green, and would not with the line added."""
    releases = [release(name, version, top, folder) for version in versions]
    for version, before, after in zip(versions[1:], releases, releases[1:], strict=False):
        assert before != after
        verdict = judged(before, after).to_json()
        found = (version, verdict["status"], verdict["risk_band"], verdict["delta"])
        assert found == (version, "PASS", "GREEN", [])
    last = releases[-1]
    path = min(path for path in last if path.endswith(".py") and last[path].content.strip())
    hidden = judged(last, {**last, path: Blob(last[path].content + ADDED)})
    assert hidden.status is Status.BLOCKED
    assert "protected_root_access" in [reason.tag for reason in hidden.reasons]


def test_a_release_that_moves_everything_gains_nothing(tmp_path: Path) -> None:
    """GUARD T1, §decide-pass: types were added, a module split off, every file rewritten."""
    check_empty(*SMALL, tmp_path)


@pytest.mark.prove
@pytest.mark.skipif(not IS_FULL, reason="the full size of the proof")
@pytest.mark.parametrize(("name", "top", "versions"), REWRITTEN, ids=lambda value: str(value)[:20])
def test_releases_that_only_rewrite_gain_nothing(
    name: str, top: str, versions: tuple[str, ...], tmp_path: Path
) -> None:
    """GUARD T1, §decide-pass: refactoring, repairs and types leave no trace in the delta."""
    check_empty(name, top, versions, tmp_path)


@pytest.mark.prove
@pytest.mark.skipif(not IS_FULL, reason="the full size of the proof")
@pytest.mark.parametrize("row", CHANGED, ids=lambda row: f"{row.project} {row.versions[1]}")
def test_a_release_that_changes_its_powers_is_told(row: Changed, tmp_path: Path) -> None:
    """GUARD §vector-2: what is gained blocks with its name, what goes is listed and never blocks."""
    before, after = (release(row.project, each, row.top, tmp_path) for each in row.versions)
    verdict = judged(before, after).to_json()
    told = {f"{step['dimension']}: {step['reason']}" for step in verdict["delta"]}
    powers = {each for each in told if not each.startswith("TOOL_CLASSES")}
    assert powers == {*row.gains, *row.losses}
    assert verdict["status"] == ("BLOCKED" if row.gains else "PASS")
