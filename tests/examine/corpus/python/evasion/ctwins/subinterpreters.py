# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import _xxsubinterpreters as interpreters

interpreters.run_string(interpreters.create(), "import os")
