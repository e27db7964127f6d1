"""The generator: what it makes of a table, and how it is run."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

from checks.reference import PAGES, events_page, settings_page

ROOT = Path(__file__).parents[2]


def run(folder, *words):
    """The generator, started in a folder."""
    command = [sys.executable, "-m", "checks.reference", *words]
    environment = {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def module(**contents):
    """A module that holds a table of the test's own."""
    made = ModuleType("made")
    vars(made).update(contents)
    return made


def test_writing_makes_every_page_once(tmp_path):
    """The first run writes all pages whose table exists, the second finds nothing to do."""
    first = run(tmp_path, "--write")
    assert first.returncode == 0, first.stderr
    expected = {page.path: page.text() for page in PAGES}
    for path, text in expected.items():
        assert (tmp_path / path).exists() == (text is not None)
        if text is not None:
            assert (tmp_path / path).read_text(encoding="utf-8") == text
    second = run(tmp_path, "--write")
    assert (second.returncode, second.stdout) == (0, "")


def test_without_write_it_only_says_what_differs(tmp_path):
    """Status 1, the page named, nothing written."""
    done = run(tmp_path)
    assert done.returncode == 1
    assert "differs: docs/reference/codes.md" in done.stdout
    assert not list(tmp_path.iterdir())


def event(name, group, places, meaning="something happened"):
    """An event type as the table has it; a place that ends with a question mark may be null."""
    held = [
        (
            place.rstrip("?"),
            SimpleNamespace(
                name=place.rstrip("?").rpartition(".")[2],
                nullable=place.endswith("?"),
                kind=SimpleNamespace(words=words),
            ),
        )
        for place, words in places.items()
    ]
    return SimpleNamespace(value=name, group=group, meaning=meaning, places=lambda: iter(held))


def test_an_event_has_its_fields_and_meaning():
    """One row for each event type; a mark where a field may be null."""
    started = event(
        "run.started", "runs", {"runId": "a text", "digest?": "a digest"}, "a *run* began"
    )
    page = events_page(module(EventType=[started]))
    assert r"| `run.started` | `runId`, `digest`? | a \*run\* began |" in page
    assert "| `runId` | a text | all |" in page
    assert "| `digest` | a digest, or null | all |" in page


def test_the_parts_of_a_field_stand_below_it():
    """In the list of fields by their place; among the fields of the event only the whole."""
    ended = event("run.ended", "runs", {"user": "an object", "user.id": "a text"})
    page = events_page(module(EventType=[ended]))
    assert "| `run.ended` | `user` | something happened |" in page
    assert "| `user` | an object | all |\n| `user.id` | a text | all |" in page


def test_each_group_of_events_has_its_section():
    """In the order of the table; what a field holds is said once, with the events it holds for."""
    page = events_page(
        module(
            EventType=[
                event("run.started", "runs", {"runId": "a text", "why": "`a`"}),
                event("run.ended", "runs", {"runId": "a text", "why": "`b`"}),
                event("plan.made", "plans", {"planId": "a text"}),
            ]
        )
    )
    runs, plans = page.index("## Runs\n"), page.index("## Plans\n")
    assert runs < page.index("`run.ended`") < plans < page.index("`plan.made`")
    assert "| `runId` | a text | all |" in page
    assert "| `why` | `a` | `run.started` |\n| `why` | `b` | `run.ended` |" in page


def test_a_setting_has_its_kind_default_and_meaning():
    """One row for each setting."""
    setting = SimpleNamespace(name="X_Y", kind="file", default="not set", meaning="what *it* does")
    page = settings_page(module(SETTINGS=[setting]))
    assert r"| `X_Y` | file | not set | what \*it\* does |" in page
