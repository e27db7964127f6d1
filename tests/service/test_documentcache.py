"""What was parsed before is not parsed again, and says nothing that the text does not say."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.consentconfig import read_consent_config
from consentry.service import documentcache
from consentry.service.documentcache import FOLDER, DocumentCache
from consentry.service.surroundings import Surroundings
from tests.service.configuring import levels_text, tool_text, write

MakeAround = Callable[..., Surroundings]
TEXT = levels_text(none="{allowedTools: [check]}").encode()
NAME = "consent-config.yaml"
LOADING = """
import os
import sys
from pathlib import Path
from consentry.decide.acceptance import NothingAccepted
from consentry.service.configuration import load_configuration
from consentry.service.places import find_workspace
from consentry.service.surroundings import Surroundings
home, project = map(Path, sys.argv[1:])
around = Surroundings({"HOME": str(home)}, project, os.geteuid())
effective = load_configuration(around, find_workspace(around, str(project)), None, NothingAccepted())
tool = effective.tool("check")
print(effective.level_of(tool).level, *(name for name in ("yaml", "pydantic") if name in sys.modules))
"""


@pytest.fixture
def cache(tmp_path: Path) -> DocumentCache:
    """A cache in a state directory that is there."""
    return DocumentCache(tmp_path)


def entries(cache: DocumentCache) -> list[Path]:
    """The files that are kept."""
    assert cache.state is not None
    return sorted((cache.state / FOLDER).iterdir())


def test_the_second_time_nothing_is_parsed(
    cache: DocumentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same value, same places, from what was kept; another text is parsed."""
    first = read_consent_config(TEXT, NAME, parse=cache.parse)
    monkeypatch.setattr(documentcache, "parsed", lambda *_: pytest.fail("it was parsed again"))
    again = read_consent_config(TEXT, NAME, parse=cache.parse)
    assert again == first
    assert repr(again) == repr(first), "places included"
    with pytest.raises(pytest.fail.Exception):
        read_consent_config(TEXT + b"\n", NAME, parse=cache.parse)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"[1,2]", b'[1,1,9,"x",1]', b'["a",1,[]]', b"\xff"]
)
def test_a_damaged_entry_is_parsed_anew_and_put_right(cache: DocumentCache, content: bytes) -> None:
    """Whatever stands there: what counts is the text."""
    first = read_consent_config(TEXT, NAME, parse=cache.parse)
    [entry] = entries(cache)
    entry.write_bytes(content)
    assert read_consent_config(TEXT, NAME, parse=cache.parse) == first
    assert json.loads(entry.read_bytes())[:2] == [1, 1]


def test_what_is_kept_is_checked_like_a_text(cache: DocumentCache) -> None:
    """An entry that says what no document may say is refused as the document would be."""
    read_consent_config(TEXT, NAME, parse=cache.parse)
    [entry] = entries(cache)
    entry.write_text(entry.read_text().replace('"allowedTools"', '"forbiddenTools"'))
    with pytest.raises(BadDocument, match="forbiddenTools"):
        read_consent_config(TEXT, NAME, parse=cache.parse)


def test_a_broken_document_is_not_kept(cache: DocumentCache) -> None:
    """Its message is the parser's own each time."""
    for _ in range(2):
        with pytest.raises(BadDocument, match="alias"):
            read_consent_config(b"consentSystem: {version: *x}", NAME, parse=cache.parse)
    assert not (cache.state or Path()).joinpath(FOLDER).exists() or entries(cache) == []


def test_without_a_state_directory_everything_is_parsed() -> None:
    """Nothing is made to keep something in."""
    nowhere = DocumentCache(None)
    assert read_consent_config(TEXT, NAME, parse=nowhere.parse) == read_consent_config(TEXT, NAME)


def test_the_cache_does_not_grow_for_ever(
    cache: DocumentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many, and the older half goes."""
    monkeypatch.setattr(documentcache, "MOST_KEPT", 10)
    for number in range(40):
        read_consent_config(TEXT + b"\n" * number, NAME, parse=cache.parse)
    assert len(entries(cache)) <= 10


def test_a_cold_start_loads_no_parser(home: Path, project: Path) -> None:
    """One tool from the cache: neither PyYAML nor pydantic is imported the second time."""
    write(home / ".config/consentry", check=tool_text("check"), consent_config=TEXT.decode())
    (home / ".local/state/consentry").mkdir(parents=True, mode=0o700)
    line = [sys.executable, "-I", "-c", LOADING, str(home), str(project)]
    said = [subprocess.run(line, capture_output=True, check=True).stdout for _ in range(2)]
    assert said == [b"none yaml\n", b"none\n"]
