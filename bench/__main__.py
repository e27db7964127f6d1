"""`python -m bench [name ...]`: runs all benches or the named ones; exits 1 if a target is missed."""

import os
import platform
import sys

from bench import covers, ledger, ledgersize, observer, sandbox, startup

BENCHES = {
    "startup": startup.run,
    "covers": covers.run,
    "ledger": ledger.run,
    "ledgersize": ledgersize.run,
    "observer": observer.run,
    "sandbox": sandbox.run,
}


def main(names: list[str]) -> int:
    """Runs them in order."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no bench named {', '.join(unknown)}; there are {', '.join(BENCHES)}")
        return 2
    release = platform.release().partition("-")[0]
    print(f"Python {platform.python_version()}, kernel {release}, {os.cpu_count()} cores")
    missed = [name for name in names or BENCHES if not BENCHES[name]()]
    print(f"\n{'targets not met: ' + ', '.join(missed) if missed else 'every target met'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
