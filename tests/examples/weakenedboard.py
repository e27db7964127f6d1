"""The note board with one control taken away, to show that the control is what holds (tests only).

python -m tests.examples.weakenedboard --folder F --without writes     no rule about writing
python -m tests.examples.weakenedboard --folder F --without escaping   text goes to the page as it is
python -m tests.examples.weakenedboard --folder F --without policy     no content policy is sent
python -m tests.examples.weakenedboard --folder F --without both       neither of the two before
"""

import argparse
import sys

from consentry.decide.capabilitycheck import Rejection
from consentry.declare.actiongraph import GraphAction
from consentry.modules import ModuleHost
from consentry.service.actionoutcome import ActionWish
from consentry.service.moduleactions import ActionRunner
from consentry.service.modulegate import Wanted
from examples.noteboard import markup
from examples.noteboard.__main__ import main
from examples.noteboard.server import NoteBoardServer

WITHOUT = ("writes", "escaping", "policy", "both")


class RulelessRunner(ActionRunner):
    """Runs actions without the rules of the moment."""

    def _broken_rule(self, *_: ActionWish | GraphAction | Wanted) -> Rejection | None:
        return None


class RulelessHost(ModuleHost):
    """A host whose actions run so."""

    def __init__(self, *words: object, **options: object) -> None:
        super().__init__(*words, **options)  # type: ignore[arg-type]
        self._runner.__class__ = RulelessRunner


class LooseServer(NoteBoardServer):
    """A server that forbids pages nothing."""

    headers = {}  # noqa: RUF012 - in the place of one that is shared, too


def weakened(words: list[str]) -> int:
    """Runs it so."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", choices=WITHOUT, required=True)
    given, rest = parser.parse_known_args(words)
    if given.without in ("escaping", "both"):
        markup.seen = markup.Markup
    host_type = RulelessHost if given.without == "writes" else ModuleHost
    server_type = LooseServer if given.without in ("policy", "both") else NoteBoardServer
    return main(rest, host_type, server_type)


if __name__ == "__main__":
    sys.exit(weakened(sys.argv[1:]))
