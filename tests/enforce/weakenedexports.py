"""Exports from which a check was taken away, to show what it stops.

Only tests can import this: no switch of the product does any of it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from consentry.base.paths import SandboxedPath
from consentry.enforce import moduleexport
from consentry.enforce.moduleexport import ExportTarget


def _by_name(folder: Path, name: str) -> tuple[SandboxedPath, None]:
    return SandboxedPath(folder, Path(name), (0, 0), is_new=False), None


def _written_by_name(target: ExportTarget, content: bytes, *, on_race: object) -> None:  # noqa: ARG001 - as the real one
    target.path.write_bytes(content)


@contextmanager
def without_jail() -> Iterator[None]:
    """The path is checked when it is chosen, and then written by its name, as most programs do."""
    with patch.object(ExportTarget, "put", _written_by_name):
        yield


@contextmanager
def without_looking() -> Iterator[None]:
    """And nobody looks what has the name when it is chosen."""
    with ExitStack() as taken:
        taken.enter_context(without_jail())
        taken.enter_context(patch.object(moduleexport, "_looked_at", _by_name))
        yield


@contextmanager
def without_plain_names() -> Iterator[None]:
    """And any text is a name."""
    with ExitStack() as taken:
        taken.enter_context(without_looking())
        taken.enter_context(patch.object(moduleexport, "_checked_name", lambda name: name))
        yield


@contextmanager
def without_asking() -> Iterator[None]:
    """A file that is there is overwritten, whoever said so."""
    with patch.object(moduleexport, "_refuse_existing", lambda _name: None):
        yield


@contextmanager
def without_spending() -> Iterator[None]:
    """One choice is good for any number of exports."""
    with patch.object(ExportTarget, "spend", lambda _target: None):
        yield


@contextmanager
def without_comparing() -> Iterator[None]:
    """Whatever file has the name by now is taken for the one that was chosen."""

    def put(target: ExportTarget, content: bytes, *, on_race: object) -> None:
        target._place.replace(content, on_race=on_race)  # type: ignore[arg-type]

    with patch.object(ExportTarget, "put", put):
        yield


@contextmanager
def without_protection() -> Iterator[None]:
    """No place is protected."""
    with patch.object(moduleexport, "_require_unprotected", lambda _path, _protected: None):
        yield
