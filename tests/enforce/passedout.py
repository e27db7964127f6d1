"""A program in a box hands a file of its layer to a process outside, over its own standard input.

`python -m tests.enforce.passedout WORKSPACE STATE` says `passed`, `held` when the layer is not said to
be nobody's, and `free` when a run that passes nothing out has one that is.
"""

import os
import socket
import sys
from contextlib import closing
from pathlib import Path

from consentry.enforce.confinement import Confinement
from consentry.enforce.diskparts import note_of
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.native.disklayer import let_go_of
from consentry.surface.lattice import Surface
from consentry.surface.modes import LayerPlace
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of

_CODE = """
import os, sys, _socket
f = os.open('made', os.O_RDWR | os.O_CREAT)
os.write(f, b'looked at')
s = _socket.socket(fileno=0)
if sys.argv[1] == 'pass':
    s.sendmsg([b'x'], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, f.to_bytes(4, 'little'))])
"""


def main() -> None:
    """Once with a descriptor passed out, once without."""
    workspace, state = map(Path, sys.argv[1:])
    with closing(NativeEngine(None, protected_roots())) as engine:
        for word in ("pass", "none"):
            mine, its = socket.socketpair()
            program = program_of([PYTHON, "-I", "-S", "-c", _CODE, word], workspace)
            surface = Surface.of(read=["./"], write=["./"])
            wanted = Confinement(surface, workspace, program, ENVIRONMENT, layer=LayerPlace.DISK)
            io = Io(stdin=its.detach(), keeps=True)
            done = engine._held_run(engine.compile(wanted), (), io, state=state)
            assert done.exit_code == 0, done.stderr
            assert done.layer is not None
            note = note_of(done.layer)
            assert note is not None
            if word == "pass":
                _, [held], _, _ = socket.recv_fds(mine, 1, 1)
                os.pwrite(held, b"rewritten", 0)
                made = Path(f"/proc/self/fd/{done.layer}/upper0/made")
                assert made.read_bytes() == b"rewritten"
                sys.stdout.write("passed\n")
                os.close(held)
            sys.stdout.write("free\n" if note.is_alone else "held\n")
            let_go_of(done.layer)
            mine.close()


if __name__ == "__main__":
    main()
