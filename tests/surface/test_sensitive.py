"""Names that often hold secrets."""

import pytest

from consentry.surface.sensitive import sensitive_names


@pytest.mark.parametrize(
    "path",
    [".env", "app/.env.local", "deploy/server.PEM", "x/.ssh/config", ".git/config", "id_rsa.pub"],
)
def test_usual_names_are_known(path: str) -> None:
    """At any depth, in any case, and for all below."""
    assert sensitive_names().why(path) is not None


@pytest.mark.parametrize("path", ["src/token.py", "environment.md", "keys.py", ".gitignore", ""])
def test_other_names_are_not(path: str) -> None:
    """A word in a name is no secret."""
    assert sensitive_names().why(path) is None
