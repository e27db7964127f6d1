"""The two sizes of every proof, signals as a test expects them, and no terminal but a test's own.

`make test` runs the small size, `make prove` the full one.
"""

import fcntl
import os
import signal
import termios
from contextlib import suppress
from threading import current_thread, main_thread

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("small", max_examples=60, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("full", max_examples=1500, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("CONSENTRY_PROOF", "small"))

# A shell's background job and `nohup` ignore these, and so would every program that a test starts.
if current_thread() is main_thread():
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)

# A command that a test starts would ask whoever runs the tests; those that ask get a terminal of theirs.
if os.getsid(0) != os.getpid():
    with suppress(OSError), open("/dev/tty", "rb", buffering=0) as terminal:  # noqa: PTH123 - no file
        fcntl.ioctl(terminal, termios.TIOCNOTTY)
