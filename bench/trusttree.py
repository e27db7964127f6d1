"""How fast a plugin's tree is read and hashed, next to `find | xargs sha256sum` on the same tree.

The tree has 10,000 files of the sizes that source has (a log-normal spread around 3 KB) in 1,100 folders. The
yardstick only hashes: it checks no names or links, sees no change meanwhile, and makes no digest of its lines.
Both are in the page cache. Also measured: looking again at a tree that has not changed, through what is
remembered of it, next to hashing it.
"""

import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from bench.report import heading, interleaved, row
from consentry.base.clock import SystemClock
from consentry.examine.plugintree import read_tree
from consentry.service.plugincache import TreeCache

FILES, ROUNDS, SEED = 10_000, 15, 9
_MIDDLE, _SPREAD, _MOST = 8.0, 1.2, 200_000
AS_FAST, AGAIN = 1.0, 0.333


def run() -> bool:
    """Prints both comparisons; true when both targets are met."""
    heading("trust: the digest of a plugin with 10,000 files")
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder) / "plugin"
        _grow(top)
        state = Path(folder) / "state"
        state.mkdir()
        cache = TreeCache(state, SystemClock())
        _remember(cache, top)
        samples = interleaved(
            ROUNDS,
            yardstick=lambda: _summed(top),
            tree=lambda: read_tree(top, keep_contents=False),
            kept=lambda: read_tree(top, keep_contents=True),
            again=lambda: _again(cache, top),
        )
    row("find -type f | xargs sha256sum", samples["yardstick"])
    is_fast = row("read_tree", samples["tree"], samples["yardstick"], AS_FAST)
    row("read_tree, contents kept for loading", samples["kept"], samples["yardstick"])
    is_quick = row(
        "verify again, by stat, next to read_tree", samples["again"], samples["tree"], AGAIN
    )
    return is_fast and is_quick


def _grow(top: Path) -> None:
    chance = random.Random(SEED)  # noqa: S311 - the same tree each time
    for number in range(FILES):
        folder = top / f"{number % 100:02}" / str(number // 100 % 10)
        folder.mkdir(parents=True, exist_ok=True)
        size = min(_MOST, int(chance.lognormvariate(_MIDDLE, _SPREAD)))
        (folder / f"file{number}.py").write_bytes(chance.randbytes(size))


def _remember(cache: TreeCache, top: Path) -> None:
    """What has just been written is too young to be remembered."""
    time.sleep(2.5)
    cache.remember(top, read_tree(top, keep_contents=False), cache.now())
    _again(cache, top)


def _again(cache: TreeCache, top: Path) -> None:
    if cache.known(top) is None:
        raise RuntimeError("the tree was not remembered")


def _summed(top: Path) -> None:
    environ = {"PATH": os.environ.get("PATH", os.defpath)}
    line = "find . -type f -print0 | xargs -0 sha256sum > /dev/null"
    subprocess.run(["/bin/sh", "-c", line], cwd=top, env=environ, check=True)
