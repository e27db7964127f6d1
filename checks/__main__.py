"""`python -m checks [NAME …]`: runs the checks, prints what they found, exits 1 when one failed."""

import argparse
import sys
from pathlib import Path

from checks.finding import Weight
from checks.registry import CHECKS
from checks.tree import Tree


def main(arguments: list[str] | None = None) -> int:
    """Runs the named checks, or all of them, over one tree."""
    parser = argparse.ArgumentParser(prog="python -m checks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CHECKS)}")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the tree; default: here")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in CHECKS]
    if unknown:
        parser.error(f"no check named `{unknown[0]}`; there are {', '.join(CHECKS)}")
    tree = Tree(chosen.root.resolve())
    failures = 0
    for name in chosen.names or CHECKS:
        findings = sorted(CHECKS[name](tree))
        failed = sum(finding.weight is Weight.FAILURE for finding in findings)
        failures += failed
        print(f"{name}: {f'{failed} found' if failed else 'ok'}")
        for finding in findings:
            print(f"  {finding}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
