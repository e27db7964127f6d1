"""The trust primitives: jailed paths, the plugin lock, the capability fence, each next to its yardstick."""

from importlib import import_module
from importlib.util import find_spec

PARTS = ("bench.trustpaths", "bench.trusttree", "bench.trustfence")


def run() -> bool:
    """Runs every part that there is, also after one has missed its target."""
    results = [import_module(name).run() for name in PARTS if find_spec(name) is not None]
    return all(results)
