"""Tests that use the host's audit: one at a time on the whole host, or skipped in the kernel's words."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from consentry.enforce.native import calls
from consentry.enforce.native.audithost import PLACE, AuditOn, why_not_attested


@contextmanager
def audit_alone() -> Iterator[None]:
    """No other test uses audit meanwhile; skips where nobody could."""
    why = why_not_attested(os.getuid(), calls.landlock_abi())
    if why is not None:
        pytest.skip(why)
    if not os.access(PLACE.parent, os.W_OK):
        pytest.skip(f"{PLACE.parent} cannot be written")
    with Path(f"{PLACE}.tests").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Whatever a test that was killed has left on.
        AuditOn().close()
        yield
