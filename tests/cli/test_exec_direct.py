"""Programs whose writes reach the project at once, and what is told of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import last_record, put
from tests.elsewhere import folder_elsewhere

PROFILE = """
sandboxConfig:
  profiles:
    server:
      writes: direct
      filesystem:
        readWrite: ['${WORKSPACE}/out']
        noAccess: ['${WORKSPACE}/out/keys']
"""


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not below a folder that is the run's own."""
    with folder_elsewhere() as place:
        yield place


def test_what_was_written_is_there_and_told_of(consentry: CommandLine) -> None:
    """`exec` says what was stopped, and `why` that the list is what was seen."""
    put(consentry, "box.yaml", PROFILE)
    put(consentry, "out/keys/key", "secret")
    script = "echo page > out/page; echo evil > out/.envrc; cat out/keys/key"
    words = ["--profile", "box.yaml", "--exec", "cat", "--", "sh", "-c", script]
    ended = consentry("exec", *words)
    assert (ended.status, ended.out) == (1, "")
    assert (consentry.cwd / "out/page").read_text() == "page\n"
    assert not (consentry.cwd / "out/.envrc").exists()
    assert f"write {consentry.cwd}/out/.envrc: `.envrc` is not made at once" in ended.err
    assert f"read {consentry.cwd}/out/keys/key: denied inside a granted folder" in ended.err
    told = consentry("why").out
    assert "written at once, as far as it was seen (1)\n  out/page\n" in told
    impact = last_record(consentry)["impact"]
    assert (impact["committed"], impact["truth"]["filesWritten"]) == (True, "observed")


def test_a_denied_name_that_does_not_exist_is_refused(consentry: CommandLine) -> None:
    """It could be made at once; the message names it, and what helps."""
    put(consentry, "box.yaml", PROFILE)
    put(consentry, "out/page", "old")
    ended = consentry("exec", "--profile", "box.yaml", "--", "true")
    assert_error(ended, Code.NOT_ENFORCEABLE)
    assert f"`{consentry.cwd}/out/keys` is denied and could be made" in ended.err
    assert "make it, or write `writes: layer`" in ended.err


def test_what_is_written_at_once_cannot_be_rehearsed(consentry: CommandLine) -> None:
    """It cannot be held back: refused before anything starts, and on record."""
    put(consentry, "box.yaml", PROFILE)
    put(consentry, "out/page", "old")
    words = ["--rehearse", "--profile", "box.yaml", "--", "sh", "-c", "echo page > out/page"]
    assert_error(consentry("exec", *words), Code.NOT_ENFORCEABLE)
    assert (consentry.cwd / "out/page").read_text() == "old"
    assert last_record(consentry)["execution"]["status"] == "denied"
