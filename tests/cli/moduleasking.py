"""A host application at a terminal: calls an action of its module, asks there, and prints what came of it.

python moduleasking.py ACTION [ACTION...]
"""

import json
import os
import sys
from pathlib import Path

from consentry.base.clock import SystemClock
from consentry.cli.prompt import TerminalPrompt
from tests.cli.conftest import CommandLine
from tests.cli.moduleplaces import host_at

if __name__ == "__main__":
    with host_at(CommandLine(Path.cwd(), dict(os.environ))) as application:
        asker = TerminalPrompt(application.user, SystemClock())
        for action in sys.argv[1:]:
            outcome = application.invoke("note-tools", action, asker=asker)
            sys.stdout.write(json.dumps(outcome.to_json()) + "\n")
            sys.stdout.flush()
