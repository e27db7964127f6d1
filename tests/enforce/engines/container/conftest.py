"""The keepers of containers, each started once for all tests of a worker."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.elsewhere import folder_elsewhere
from tests.enforce.engines.container.named import NamedRuns, images_of_host
from tests.enforce.engines.container.runs import ENGINES, KEPT_BY, Containers, made_engine


@pytest.fixture(scope="session", params=ENGINES)
def keeper(request: pytest.FixtureRequest) -> Iterator[tuple[str, dict[str, str]]]:
    """The name of an engine, and the variables that lead to who keeps its containers."""
    with ExitStack() as ends:
        yield request.param, ends.enter_context(KEPT_BY[request.param]())


@pytest.fixture
def containers(
    keeper: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Containers]:
    """Runs programs in containers."""
    name, variables = keeper
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    engine = made_engine(name)
    try:
        yield Containers(engine, monkeypatch)
    finally:
        engine.close()


@pytest.fixture(scope="session")
def images() -> Iterator[dict[str, str]]:
    """The variables that lead to a daemon with images of this host's files."""
    with images_of_host() as variables:
        yield variables


@pytest.fixture
def named(images: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> NamedRuns:
    """Runs programs in containers of named images."""
    return NamedRuns(images, monkeypatch)


@pytest.fixture
def project() -> Iterator[Path]:
    """A workspace outside of the folders that a run has for itself."""
    with folder_elsewhere() as place:
        place.chmod(0o755)
        (place / "file").write_text("granted")
        (place / "denied").mkdir()
        (place / "denied" / "file").write_text("denied")
        yield place
