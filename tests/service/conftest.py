"""A home folder, a project and the surroundings of a command started there; all real folders."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consentry.service.surroundings import Surroundings
from tests.service.changing import ChangingBoard
from tests.service.modulehosting import Board
from tests.store.conftest import postgres_server, postgres_url, store

__all__ = ["postgres_server", "postgres_url", "store"]  # fixtures that tests here ask for by name

MakeAround = Callable[..., Surroundings]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder."""
    folder = tmp_path / "homes/me"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder outside the home, with nothing in it."""
    folder = tmp_path / "work/project"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def around(home: Path, project: Path, tmp_path: Path) -> MakeAround:
    """Surroundings: started in the project, HOME set, with what the test adds to the environment."""

    def make(
        cwd: Path | None = project,
        *,
        environ: dict[str, str] | None = None,
        account_home: Path | None = None,
    ) -> Surroundings:
        return Surroundings(
            environ={"HOME": str(home), **(environ or {})},
            cwd=cwd,
            uid=os.geteuid(),
            account_home=account_home,
            homes_parent=tmp_path / "homes",
        )

    return make


@pytest.fixture
def board(home: Path) -> Iterator[Board]:
    """An application that modules are imported into."""
    made = Board(home)
    yield made
    made.host.close()


@pytest.fixture
def changing(home: Path) -> Iterator[ChangingBoard]:
    """An application whose notes modules change by transactions."""
    made = ChangingBoard(home)
    yield made
    made.host.close()
