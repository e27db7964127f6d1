"""What asking costs: where it was answered before, and the preview of a large workspace.

Calls that a remembered consent covers are measured by `bench.toolcalls`. The preview is all of it:
patterns met with the surface, one walk that counts what each of twenty patterns matches, the sizes of
what could be overwritten, and the value that is shown. Beside it `os.walk` goes through the same tree
and adds up how many files there are.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import toolcalls
from bench.report import heading, interleaved, row
from consentry.base.canonical import Digest
from consentry.decide.levels import LevelDecision
from consentry.decide.preview import Preview
from consentry.declare.consent import LevelRules
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.tool import ConsentLevel, Origin
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.programfiles import Started
from consentry.service.binding import BoundWish
from consentry.service.configuration import LoadedTool
from consentry.service.previewing import Background, make_preview
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots

FILES, FOLDERS, ROUNDS = 100_000, 2_000, 21
PREVIEW_TARGET = 1.5

_ENDINGS = ("py", "txt", "md", "tex", "json", "c", "h", "rs", "png", "log")
_READ = (
    "**/*.py", "**/*.txt", "**/*.md", "area1/**/*.tex", "area2/**/*.json", "area3/**/*.c",
    "**/*.h", "**/*.rs", "area5/", "area6/part1/", "**/test_*", "**/file_00?.png",
    "area7/*/file_001.txt", "Makefile", "docs/*.md",
)  # fmt: skip
_WRITE = ("area9/**/*.log", "out/**", "build/*.log", "**/conftest.py", "area8/part2/*")
_MANIFEST = """
tool:
  name: bench
  description: reads a lot
  version: "1.0.0"
  riskLevel: low
  capabilities:
    processExecution:
      - {{command: "true", arguments: [], purpose: nothing}}
    fileRead:
{read}
    fileWrite:
{write}
"""


@dataclass(frozen=True, slots=True)
class _Bound:
    """A tool as it is bound to a workspace."""

    tool: LoadedTool
    bound: BoundWish
    surface: Surface
    digest: Digest
    arguments: tuple[str, ...] = ()
    profile: str = "tool:bench"
    system_files: tuple[str, ...] = ()


def run() -> bool:
    """Prints the tables; returns whether every target is met."""
    met = toolcalls.run()
    return _previewed() and met


def _previewed() -> bool:
    heading(f"preview ({FILES} files in {FOLDERS} folders, 20 patterns, {ROUNDS} rounds, in turns)")
    with tempfile.TemporaryDirectory() as place:
        workspace = Path(place)
        _fill(workspace)
        bound = _bound(workspace)
        shown = _preview(bound)
        if _walked(workspace) != FILES or shown.read[0].found.files != FILES // len(_ENDINGS):
            raise RuntimeError("the bench counted something else")
        samples = interleaved(
            ROUNDS, walk=lambda: _walked(workspace), preview=lambda: _preview(bound)
        )
    row("os.walk of the workspace", samples["walk"])
    return row("its preview", samples["preview"], samples["walk"], PREVIEW_TARGET)


def _fill(workspace: Path) -> None:
    for number in range(FOLDERS):
        folder = workspace / f"area{number % 20}" / f"part{number // 20}"
        folder.mkdir(parents=True)
        for each in range(FILES // FOLDERS):
            (folder / f"file_{each:03}.{_ENDINGS[each % len(_ENDINGS)]}").touch()


def _walked(workspace: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(workspace))


def _bound(workspace: Path) -> _Bound:
    def listed(patterns: tuple[str, ...]) -> str:
        return "\n".join(f'      - {{pattern: "{each}", purpose: bench}}' for each in patterns)

    text = _MANIFEST.format(read=listed(_READ), write=listed(_WRITE))
    manifest = read_tool_manifest(text.encode(), "bench.yaml")
    surface = manifest_surface(manifest)
    program = Program(Path("/usr/bin/true"), ("true",), workspace)
    box = Confinement(surface, workspace, program, {})
    wish = BoundWish(box, Started(program.path, (), ()), "tool:bench", protected_roots())
    file = workspace / ".consentry/tools/bench.yaml"
    tool = LoadedTool(manifest, file, Origin.OWN, is_accepted=False, requires_consent=None)
    return _Bound(tool, wish, surface, manifest.digest)


def _preview(bound: _Bound) -> Preview:
    rules = LevelRules.usual(ConsentLevel.STRICT)
    return make_preview(bound, LevelDecision(ConsentLevel.STRICT, rules, ()), Background())
