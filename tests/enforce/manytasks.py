"""Keeps tests apart that have very many tasks from those that bound how many this user may have.

Tasks in boxes count as their maker's, whoever they are inside. A bound in one test process would keep
programs of another from starting, so the two wait for each other.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone_with_tasks() -> Iterator[None]:
    """Nobody else here has, or bounds, very many tasks meanwhile."""
    place = Path(tempfile.gettempdir()) / f"consentry-tests-tasks-{os.getuid()}"
    descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
