"""`make check` runs every step and says how each ended."""

import sys

from checks.steps import Step, run_all

GOOD = Step("good", (sys.executable, "-c", "print('fine')"))
BAD = Step("bad", (sys.executable, "-c", "print('why it failed'); raise SystemExit(3)"))
NOTED = Step(
    "noted", (sys.executable, "-c", "print('a warning: x'); print('noise')"), notice="warning: "
)


def test_all_steps_run_after_one_failed(capsys):
    """The failure is shown with its output, later steps are still reported, the status is 1."""
    assert run_all((BAD, GOOD)) == 1
    shown = capsys.readouterr().out
    assert (
        shown.index("bad      failed")
        < shown.index("    why it failed")
        < shown.index("good     ok")
    )
    assert shown.endswith("check: failed: bad\n")


def test_what_passed_is_silent_but_for_its_notices(capsys):
    """Output of a step that passed is shown only where it was asked for."""
    assert run_all((GOOD, NOTED)) == 0
    shown = capsys.readouterr().out
    assert "fine" not in shown
    assert "noise" not in shown
    assert "    a warning: x" in shown
