# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, textwrap

getattr(os, textwrap.dedent("  system"))("id")
