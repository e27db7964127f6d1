"""`make check` runs the capability fence over our own source (TRUST §fence-2, §fence-3)."""

from checks import tokens
from tests.fence.evasions import TOKENS

MADE = TOKENS + "NpmInstallCapability()\n"


def test_a_planted_token_is_found(plant):
    """In any room, with its line and what to do."""
    [finding] = tokens.check(plant({"src/consentry/service/x.py": MADE}))
    assert (finding.path, finding.line) == ("src/consentry/service/x.py", 2)
    assert finding.message.startswith(
        "token-made: `NpmInstallCapability` is made here; ask `mint()`"
    )


def test_a_planted_push_and_a_race_are_found(plant):
    """In checks and examples, too."""
    files = {
        "requirements/x.py": "run(['git', 'push'])\n",
        "checks/x.py": "def f(p):\n    p.open(on_race=print)\n",
        "examples/x.py": "def f(:\n",
    }
    words = [finding.message.partition(":")[0] for finding in tokens.check(plant(files))]
    assert sorted(words) == ["command-pushes", "race-unhandled", "unreadable"]


def test_the_home_and_the_tests_pass(plant):
    """The same line where it belongs."""
    files = {"src/consentry/decide/tokens.py": MADE, "tests/decide/test_tokens.py": MADE}
    assert not list(tokens.check(plant(files)))
