# must-not: ALL
import atexit
import warnings

warnings.warn("old", DeprecationWarning, stacklevel=2)
atexit.register(print, "bye")
