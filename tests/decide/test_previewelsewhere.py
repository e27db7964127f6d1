"""Previews are the same everywhere: in other processes, under other settings, and as the file has them.

`data/previews.json` stands for the other machine. It was written once: what is asked for, the hash of the
preview, and the revision that it leads to; every machine that runs this has to come to the same. Whoever changes what is hashed changes what every yes binds to; then this file shows it.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from tests.decide.previewelsewhere import preview_for, said_of, shuffled

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "data" / "previews.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
WANTED = [{"name": each["name"], **each["expected"]} for each in CASES]
ELSEWHERE: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "another seed for hashes": ((), {"PYTHONHASHSEED": "1"}),
    "a seed of its own": ((), {"PYTHONHASHSEED": "random"}),
    "another language": ((), {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}),
    "no language": (("-X", "utf8=0"), {"LC_ALL": "C", "PYTHONIOENCODING": "utf-8"}),
    "far in the east": ((), {"TZ": "Pacific/Kiritimati"}),
    "far in the west": ((), {"TZ": "Etc/GMT+12"}),
    "optimised": (("-OO",), {}),
    "development": (("-X", "dev"), {}),
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_a_preview_has_one_hash_in_every_process(tmp_path: Path, where: str) -> None:
    """CONTRACTS §3-hash: whatever the process is started with, and in whatever order names come."""
    options, settings = ELSEWHERE[where]
    order = random.Random(where)  # noqa: S311 - any order will do
    given = json.dumps([shuffled(each, order) for each in CASES], ensure_ascii=order.random() < 0.5)
    ended = subprocess.run(
        [sys.executable, *options, "-m", "tests.decide.previewelsewhere"],
        input=given.encode(),
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", **settings},
    )
    assert ended.returncode == 0, ended.stderr.decode()
    assert [json.loads(line) for line in ended.stdout.splitlines()] == WANTED


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_preview_has_the_hash_of_the_file(case: dict[str, Any]) -> None:
    """CONTRACTS §3-hash, §3-preview: wherever this runs, as where it was written."""
    assert said_of(case) == case["expected"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_hash_is_what_anybody_works_out(case: dict[str, Any]) -> None:
    """CONTRACTS §3-hash: SHA-256 over canonical JSON without the hash itself, by code that is not ours."""
    preview = preview_for(case)
    rest = {name: value for name, value in preview.items() if name != "previewHash"}
    worked_out = hashlib.sha256(rfc8785.dumps(rest)).hexdigest()
    assert preview["previewHash"] == f"sha256:{worked_out}"


@pytest.mark.parametrize(
    "change",
    [
        {"txId": "tx-01900000-0000-7000-8000-000000000002"},
        {"attemptNo": 2},
        {"track": "heavy"},
        {"baseRevision": "sha256:" + "1" * 64},
        {"generatedAt": "2026-01-01T12:00:00.001Z"},
        {"entities": {"notes": {"a": {"text": "older", "tags": ["x", "y"]}, "b": 1}}},
        {"redactions": [{"entityType": "notes", "path": "/text", "visibleTo": ["owner"]}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_a_preview_says_is_in_its_hash(change: dict[str, Any]) -> None:
    """CONTRACTS §3-hash, §3-approval: a yes to one is no yes to another."""
    assert said_of({**CASES[0], **change})["previewHash"] != CASES[0]["expected"]["previewHash"]
