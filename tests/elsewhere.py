"""A folder for tests that cannot be below `/tmp`, where a run has a folder of its own."""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@contextmanager
def folder_elsewhere() -> Iterator[Path]:
    """A folder that may be granted and is gone afterwards; skips where there is no place for one."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    places = [each for each in ("/srv", home) if os.access(each, os.W_OK)]
    if not places:
        pytest.skip("this user may write nowhere but below folders that a run has for itself")
    with TemporaryDirectory(prefix="consentry-test-", dir=places[0]) as place:
        yield Path(place)
