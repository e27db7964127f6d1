"""The note board with one control taken away, to show that the control is what holds (tests only).

python -m tests.examples.weakenedboard --folder F --without approval   no change is asked about
python -m tests.examples.weakenedboard --folder F --without escaping   text goes to the page as it is
python -m tests.examples.weakenedboard --folder F --without policy     no content policy is sent
python -m tests.examples.weakenedboard --folder F --without both       neither of the two before
"""

import argparse
import sys

from consentry.base.values import replace
from consentry.declare.actiongraph import GraphAction
from consentry.modules import ModuleHost, TxOrigin
from consentry.service.actionchange import ActionChanges
from consentry.service.modulegate import Wanted
from examples.noteboard import markup
from examples.noteboard.__main__ import main
from examples.noteboard.server import NoteBoardServer

WITHOUT = ("approval", "escaping", "policy", "both")


class UnaskedChanges(ActionChanges):
    """Carries changes on as if no command and no graph asked for approval."""

    def _origin(self, action: GraphAction, wanted: Wanted) -> TxOrigin:
        return replace(super()._origin(action, wanted), rule=None)


class UnaskedHost(ModuleHost):
    """A host whose modules change documents so."""

    def __init__(self, *words: object, **options: object) -> None:
        super().__init__(*words, **options)  # type: ignore[arg-type]
        self._changes.__class__ = UnaskedChanges


class LooseServer(NoteBoardServer):
    """A server that forbids pages nothing."""

    headers = {}  # noqa: RUF012 - in the place of one that is shared, too


def weakened(words: list[str]) -> int:
    """Runs it so."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", choices=WITHOUT, required=True)
    given, rest = parser.parse_known_args(words)
    if given.without in ("escaping", "both"):
        markup.seen = markup.Markup  # type: ignore[assignment]
    host_type = UnaskedHost if given.without == "approval" else ModuleHost
    server_type = LooseServer if given.without in ("policy", "both") else NoteBoardServer
    return main(rest, host_type, server_type)


if __name__ == "__main__":
    sys.exit(weakened(sys.argv[1:]))
