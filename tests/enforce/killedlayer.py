"""Runs a program with a layer on the disk that never ends, for a test that kills this process.

`python -m tests.enforce.killedlayer WORKSPACE STATE` says `written` when the program has written.
"""

import sys
from pathlib import Path
from threading import Thread
from time import sleep

from consentry.enforce.confinement import Confinement
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.surface.lattice import Surface
from consentry.surface.modes import LayerPlace
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of

_CODE = "import time; open('made', 'w').write('x'); time.sleep(1000)"


def main() -> None:
    """Until it is killed."""
    workspace, state = map(Path, sys.argv[1:])
    program = program_of([PYTHON, "-I", "-S", "-c", _CODE], workspace)
    surface = Surface.of(read=["./"], write=["./"])
    wanted = Confinement(surface, workspace, program, ENVIRONMENT, layer=LayerPlace.DISK)
    Thread(target=_tell, args=(state,), daemon=True).start()
    engine = NativeEngine(None, protected_roots())
    engine._held_run(engine.compile(wanted), (), Io(keeps=True), state=state)


def _tell(state: Path) -> None:
    while not list(state.glob("layers/*/upper0/made")):
        sleep(0.01)
    sys.stdout.write("written\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
