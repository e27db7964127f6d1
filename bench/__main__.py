"""`python -m bench [--quick] [--write] [name ...]`: runs all benches or the named ones.

Exits with 1 if a target is missed. `--quick` takes few rounds, to see that it works; `--write` puts
the tables of the sandbox and of the guard into the documentation.
"""

import argparse
import os
import platform
import signal
import sys
from pathlib import Path

from bench import (
    commit,
    consent,
    containers,
    covers,
    deno,
    engines,
    escalation,
    guard,
    held,
    ledger,
    ledgersize,
    modules,
    observer,
    reach,
    sandbox,
    startup,
    transactions,
    trust,
)

PAGE = Path("docs/explanation/how-fast.md")
BENCHES = {
    "startup": startup.run,
    "covers": covers.run,
    "ledger": ledger.run,
    "ledgersize": ledgersize.run,
    "observer": observer.run,
    "reach": reach.run,
    "commit": commit.run,
    "consent": consent.run,
    "deno": deno.run,
    "containers": containers.run,
    "engines": engines.run,
    "escalation": escalation.run,
    "held": held.run,
    "modules": modules.run,
    "transactions": transactions.run,
    "trust": trust.run,
}
SANDBOX = "sandbox"
GUARD = "guard"
GUARD_PAGE = Path("docs/explanation/how-well-the-guard-reads.md")


def main() -> int:
    """Runs them in order."""
    written = (SANDBOX, GUARD)
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join([*BENCHES, *written]))
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it works")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE} and {GUARD_PAGE}")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in (*BENCHES, *written)]
    if unknown:
        parser.error(f"no bench named {', '.join(unknown)}")
    # So that what a bench has started is ended as it is on an interrupt.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    machine = _machine()
    print(machine)
    missed = [name for name in asked.names or BENCHES if name in BENCHES and not BENCHES[name]()]
    if not asked.names or SANDBOX in asked.names:
        sheet = sandbox.measured(sandbox.SMALL if asked.quick else sandbox.Size())
        if asked.write:
            sheet.write(PAGE, machine, "python -m bench sandbox --write")
        if sheet.missed:
            missed.append(SANDBOX)
    if not asked.names or GUARD in asked.names:
        page = guard.measured(guard.SMALL if asked.quick else guard.Size())
        if asked.write:
            page.write(GUARD_PAGE, machine, "python -m bench guard --write")
        if page.missed:
            missed.append(GUARD)
    print(f"\n{'targets not met: ' + ', '.join(missed) if missed else 'every target met'}")
    return 1 if missed else 0


def _machine() -> str:
    release = platform.release().partition("-")[0]
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    load = f"load average {os.getloadavg()[0]:.1f}"
    return (
        f"Python {platform.python_version()}, kernel {release}, {os.cpu_count()} cores"
        f"{_processor()}, as {who}, {load} at the start"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f" ({line.partition(':')[2].strip()})"
    return ""


if __name__ == "__main__":
    sys.exit(main())
