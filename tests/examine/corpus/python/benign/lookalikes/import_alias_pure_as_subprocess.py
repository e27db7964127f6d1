# must-not: ALL
import textwrap as subprocess

subprocess.dedent("  a")
