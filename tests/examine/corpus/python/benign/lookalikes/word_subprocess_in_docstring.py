# must-not: ALL
def run_all():
    """Runs all, as subprocess.run(["ls"]) would.

    >>> import os
    >>> os.system("ls")
    """
    return []
