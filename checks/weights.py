"""Measures what each dependency weighs: `python -m checks.weights [--write]`.

For every requirement in pyproject.toml, in an environment made by `make setup LEVEL=all`: the
number of packages it brings (itself included), the kilobytes they take on disk with their bytecode,
and the milliseconds of processor time that an import of what we use from it adds to a bare start of
the same interpreter: the best of alternating runs of each, because other work on the machine only
ever adds. `--write` puts the figures into the rows of docs/dependencies.md.

Figures of one machine on one day, for comparing dependencies with each other; no check compares
them.
"""

import argparse
import importlib.metadata
import importlib.util
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from checks import markdown
from checks.declared import declared
from checks.dependencies import PAGE, ROW

RUNS = 21

# What is imported from a package where that is not a module of its own name.
_IMPORTS = {
    "cryptography": "cryptography.hazmat.primitives.asymmetric.ed25519",
    "hatchling": "hatchling.build",
    "import-linter": "importlinter.cli",
    "mypy": "mypy.main",
    "packaging": "packaging.requirements",
    "pydantic": "pydantic.type_adapter",
    "pytest-xdist": "xdist.plugin",
    "pyyaml": "yaml",
    "rich": "rich.console",
    "securesystemslib": "securesystemslib.dsse",
    "sigstore": "sigstore.verify",
    "starlette": "starlette.applications",
}
_NOTHING_TO_IMPORT = frozenset({"deno", "ruff", "types-pyyaml"})


@dataclass(frozen=True, slots=True)
class Weight:
    """What one dependency costs; no time where nothing of it is imported."""

    packages: int
    kilobytes: int
    milliseconds: float | None

    def cells(self) -> tuple[str, str, str]:
        """The three last cells of the dependency's row."""
        time_cell = "none" if self.milliseconds is None else f"{self.milliseconds:.0f}"
        return f"{self.packages}", f"{self.kilobytes:,}", time_cell


def weigh(requirement: Requirement) -> Weight:
    """Measures one requirement as it is installed here."""
    brought = _closure(requirement)
    size = sum(_size(name) for name in brought)
    name = canonicalize_name(requirement.name)
    module = _IMPORTS.get(name, name.replace("-", "_"))
    spent = None if name in _NOTHING_TO_IMPORT else _import_time(module)
    return Weight(len(brought), round(size / 1024), spent)


def _closure(requirement: Requirement) -> frozenset[NormalizedName]:
    """The package and all that it needs here, its extras followed."""
    found: set[NormalizedName] = set()
    seen: set[tuple[NormalizedName, str]] = set()
    waiting = [(canonicalize_name(requirement.name), extra) for extra in ("", *requirement.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        found.add(name)
        for text in importlib.metadata.requires(name) or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                key = canonicalize_name(needed.name)
                waiting += [(key, further) for further in ("", *needed.extras)]
    return frozenset(found)


def _size(name: str) -> int:
    total = 0
    for file in importlib.metadata.files(name) or ():
        path = Path(str(file.locate()))
        if path.is_file() and path.suffix != ".pyc":
            total += path.stat().st_size
        if path.suffix == ".py":
            compiled = Path(importlib.util.cache_from_source(str(path)))
            total += compiled.stat().st_size if compiled.is_file() else 0
    return total


def _import_time(module: str) -> float:
    bare: list[float] = []
    loaded: list[float] = []
    for _ in range(RUNS):
        bare.append(_processor_time("pass"))
        loaded.append(_processor_time(f"import {module}"))
    return (min(loaded) - min(bare)) * 1000


def _processor_time(program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-I", "-c", program], check=True)  # noqa: S603 # our own words
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _with_figures(page: str, weights: dict[NormalizedName, Weight]) -> str:
    lines = page.split("\n")
    for number, line in markdown.prose_lines(page):
        cells = markdown.cells(line)
        name = ROW.fullmatch(cells[0]) if cells else None
        weight = weights.get(canonicalize_name(name[1])) if name else None
        if cells and weight:
            lines[number - 1] = f"| {' | '.join((*cells[:-3], *weight.cells()))} |"
    return "\n".join(lines)


def main() -> int:
    """Measures all requirements and prints, or writes, the figures."""
    parser = argparse.ArgumentParser(prog="python -m checks.weights", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write them into {PAGE}")
    write: bool = parser.parse_args().write
    weights: dict[NormalizedName, Weight] = {}
    for requirement in declared(Path("pyproject.toml").read_text(encoding="utf-8")):
        weight = weigh(requirement.parsed)
        weights[canonicalize_name(requirement.parsed.name)] = weight
        print(f"{requirement.parsed.name:<24}" + "".join(f"{cell:>9}" for cell in weight.cells()))
    if write:
        page = Path(PAGE)
        page.write_text(_with_figures(page.read_text(encoding="utf-8"), weights), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
