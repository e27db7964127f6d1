"""The fence as tests of pytest: real runs of pytest in another process."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN = "consentry.bridge.pytestfence"
MADE = "EvilCapability()\n"
PASSES = "def test_one():\n    assert True\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a test that passes and a module that is in order."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("x = 1\n")
    (tmp_path / "test_app.py").write_text(PASSES)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def ran(project: Path, *words: str) -> tuple[int, str]:
    """The status and the words of one run, with no other plugins than ours."""
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "HOME": str(project)}
    environ.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", *words],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_path_that_is_in_order_is_one_test_that_passes(project: Path) -> None:
    """TRUST §fence-2: the gate of a project that uses tokens."""
    status, said = ran(project, "--consentry-fence", "src")
    assert (status, "2 passed" in said) == (0, True), said


def test_a_planted_token_fails_the_run_with_its_line(project: Path) -> None:
    """TRUST §fence-3: and without a traceback."""
    (project / "src" / "evil.py").write_text(MADE)
    status, said = ran(project, "--consentry-fence", "src")
    assert (status, "1 failed, 1 passed" in said) == (1, True), said
    assert "src/evil.py:1:1: token-made: `EvilCapability` is made here" in said
    assert "Traceback" not in said
    assert ran(project)[0] == 0, "not asked, nobody looks"


def test_the_configuration_names_paths_homes_and_tests(project: Path) -> None:
    """So that nobody has to type it."""
    (project / "src" / "home.py").write_text(MADE)
    (project / "test_app.py").write_text(PASSES + "def make():\n    EvilCapability()\n")
    ini = "[pytest]\nconsentry_fence = src\n"
    (project / "pytest.ini").write_text(ini)
    assert ran(project)[0] == 1
    (project / "pytest.ini").write_text(ini + "consentry_fence_homes = src/home.py\n")
    assert ran(project)[0] == 0
    (project / "pytest.ini").write_text(
        "[pytest]\nconsentry_fence = src\nconsentry_fence_tests = src\n"
    )
    assert ran(project)[0] == 0


def test_a_path_that_is_not_there_fails(project: Path) -> None:
    """A gate over nothing would always be open."""
    status, said = ran(project, "--consentry-fence", "nowhere")
    assert (status, "there is no such file or folder" in said) == (1, True), said


def test_it_can_be_the_only_test(project: Path) -> None:
    """A project may have no others."""
    (project / "test_app.py").unlink()
    assert ran(project, "--consentry-fence", "src")[0] == 0


def test_not_asked_it_loads_nothing_of_ours(project: Path) -> None:
    """TRUST §fence-2: what reads source is imported when a test of it runs."""
    (project / "test_app.py").write_text(
        "import sys\n\n\ndef test_loaded():\n"
        "    ours = {name for name in sys.modules if name.startswith('consentry')}\n"
        f"    assert ours == {{'consentry', 'consentry.bridge', '{PLUGIN}'}}\n"
    )
    status, said = ran(project)
    assert status == 0, said


def test_pytest_finds_it() -> None:
    """By the entry point of the distribution."""
    document = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert document["project"]["entry-points"]["pytest11"] == {"consentry-fence": PLUGIN}
