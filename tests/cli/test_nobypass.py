"""There is no way around the question: no option, no variable, no word (CONSENT §base-4)."""

import subprocess

import pytest

from consentry.cli.run import OPTIONS
from consentry.service.settings import SETTINGS
from tests.cli.conftest import CommandLine
from tests.cli.toolhomes import entries_of, requests_of, write_tool

PROOF = "import pathlib\npathlib.Path('ran').write_text('it ran')\n"
OUT = [{"pattern": "ran", "purpose": "the proof"}]
PLACES = ("CONSENTRY_STATE", "CONSENTRY_STORE", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "PATH")
"""They say where things are; elsewhere there is no such tool, or no ledger to write."""


@pytest.fixture
def asked(consentry: CommandLine) -> CommandLine:
    """A tool that leaves a proof of having run, and nobody to ask."""
    write_tool(consentry, "prove", PROOF, fileWrite=OUT)
    return consentry


def flags() -> list[str]:
    """Every option of `run` that takes no value."""
    return [
        option
        for each in OPTIONS
        if getattr(each, "is_flag", False)
        for option in each.opts
        if option != "--no-wait"
    ]


@pytest.mark.parametrize("flag", [*flags(), "--quiet", "--verbose", "--json"])
def test_no_option_runs_a_tool_unasked(asked: CommandLine, flag: str) -> None:
    """The question is stored whatever else is said."""
    assert asked("run", flag, "--no-wait", "prove").status == 75
    assert not (asked.cwd / "ran").exists()
    assert (len(requests_of(asked)), entries_of(asked)) == (1, [])


@pytest.mark.parametrize("option", ["--yes", "--force", "--no-ask", "--approve", "-y", "--trust"])
def test_options_that_one_would_try_do_not_exist(asked: CommandLine, option: str) -> None:
    """They are an error, and no word for the tool."""
    assert asked("run", option, "prove").status == 2
    assert not (asked.cwd / "ran").exists()


@pytest.mark.parametrize("value", ["1", "0", "yes", "none"])
def test_no_variable_runs_a_tool_unasked(asked: CommandLine, value: str) -> None:
    """Every setting that is honoured, and names that others have for it."""
    names = [each.name for each in SETTINGS if each.name not in PLACES]
    others = ("CONSENTRY_YES", "CONSENTRY_CONSENT", "CONSENTRY_LEVEL", "CI", "DEBIAN_FRONTEND")
    environ = dict.fromkeys((*names, *others), value)
    for name in ("CONSENTRY_KEEP", "CONSENTRY_KEEP_SIZE", "SUDO_UID"):
        environ.pop(name, None)  # which are numbers, and refused otherwise
    ended = asked("run", "--no-wait", "prove", **environ)
    assert ended.status == 75, ended
    assert not (asked.cwd / "ran").exists()


def test_a_job_that_asks_again_and_again_leaves_one_question(asked: CommandLine) -> None:
    """Each time in a session of its own, as from a timer."""
    for _ in range(3):
        done = subprocess.run(
            [*asked.program, "run", "--no-wait", "prove"],
            cwd=asked.cwd,
            env=asked.environ,
            start_new_session=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 75
    assert len(requests_of(asked)) == 1
