"""A push is reported by its words, also where nothing shows how they meet."""

import pytest

from consentry.examine.fence.check import check_source
from consentry.examine.fence.findings import STRANGERS, Rule
from tests.fence.meeting import MEETING

APART = {
    "no-program": "run(['x', verb])\nverbs = ['push', 'pull']\n",
    "another-program": "run(['git', 'status'])\nrun(['docker', 'push', 'image'])\n",
    "stash": "run(['git', 'stash', 'push'])\n",
    "event": "run(['git', 'log'])\nif event == 'push':\n    go()\n",
    "case": "run(['git', 'log'])\nmatch event:\n    case 'push':\n        go()\n",
    "key": "run(['git', 'log'])\nTABLE = {'push': 1}\nTABLE['push'], TABLE.get('push')\n",
    "subcommand": "run(['git', 'log'])\ncommands.add_parser('push', help='publish')\n",
    "method": "run(['git', 'log'])\nstack.push(1)\n",
    "asked-about-git": "if kind == 'git':\n    go()\nverb('push')\n",
    "other-alias": "run(['git', '-c', 'alias.x=log', 'x'])\n",
    "scope-operator": "run(['git', 'grep', 'std::move'])\n",
    "redirected": "import os\nos.system('git log > push')\n",
    "quoted-arrow": "import os\nos.system(\"echo '>x' git\")\n",
}


def _rules(source: str) -> set[Rule]:
    return {each.rule for each in check_source("x.py", source.encode(), STRANGERS)}


@pytest.mark.parametrize("name", MEETING)
def test_words_that_meet_are_reported(name: str) -> None:
    """TRUST §token-4: whoever joins them."""
    compile(MEETING[name], name, "exec")
    assert _rules(MEETING[name]) == {Rule.PUSH}


@pytest.mark.parametrize("name", APART)
def test_words_that_stay_apart_are_not(name: str) -> None:
    """The same words, for another program, as a key, or compared."""
    assert not _rules(APART[name])
