"""A loader from which a check was taken away, to show what it stops.

Only tests can import this: no switch of the product does any of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from consentry.service import plugins


@contextmanager
def without_integrity_check() -> Iterator[None]:
    """Whatever lies in a plugin's folder is taken for what was locked."""
    with patch.object(plugins, "_check_integrity", lambda _tree, _lock: None):
        yield


@contextmanager
def without_fence() -> Iterator[None]:
    """Whatever a plugin's Python files do is let pass."""
    with patch.object(plugins, "check_fence", lambda _plugin, _contents: None):
        yield
