"""The preview of a bound tool: its rows are the surface, counted over a real workspace."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from consentry.base.canonical import Digest, canonical_json
from consentry.base.secretfilter import HIDDEN
from consentry.base.units import Duration, Size
from consentry.decide.levels import LevelDecision
from consentry.decide.preview import Preview
from consentry.decide.previewfiles import Extent
from consentry.decide.previewparts import CommandPart, Estimate, LastConsent
from consentry.declare.consent import LevelRules
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.tool import ConsentLevel, Origin, ToolManifest
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.egress.secrets import Secret
from consentry.enforce.egress.secrets import Source as SecretSource
from consentry.enforce.programfiles import Started
from consentry.service.binding import BoundWish
from consentry.service.configuration import LoadedTool
from consentry.service.previewing import Background, make_preview
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import protected_roots
from tests.declare.documents import read_manifest

DIGEST = Digest("sha256:" + "d" * 64)
MANIFEST = """\
tool:
  name: build-latex
  displayName: Build LaTeX
  description: Compile LaTeX document to PDF
  version: "1.0.0"
  riskLevel: medium
  capabilities:
    fileRead:
      - {pattern: latex/main.tex, purpose: the document}
      - {pattern: "latex/sections/*.tex", purpose: its sections}
      - {pattern: notes, purpose: what is noted}
    fileWrite:
      - {pattern: output-final/pdf/main.pdf, purpose: the result}
      - {pattern: "latex/*.aux", purpose: build artifacts}
    processExecution:
      - {command: pdflatex, arguments: [main.tex], purpose: LaTeX compilation}
    environmentVariables: {read: [PATH], write: [PDF]}
"""
ENTRY = """\
  entrypoint:
    command: ./build.sh
    arguments: [--fast]
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Seven sections, a document, and a result of an earlier run."""
    for name in ("latex/main.tex", *(f"latex/sections/{number}.tex" for number in range(7))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    (tmp_path / "output-final/pdf").mkdir(parents=True)
    (tmp_path / "output-final/pdf/main.pdf").write_bytes(b"x" * 2048)
    return tmp_path


@dataclass(frozen=True)
class Here:
    """A tool as it is bound, without looking for programs, which the preview does not need."""

    tool: LoadedTool
    bound: BoundWish
    surface: Surface
    arguments: tuple[str, ...] = ()
    digest: Digest = DIGEST
    profile: str = "tool:build-latex"
    system_files: tuple[str, ...] = field(default=())


def bound(workspace: Path, text: str = MANIFEST, **changes: object) -> Here:
    """The tool of a manifest, with changes to its box."""
    manifest: ToolManifest = read_manifest(text)
    surface = manifest_surface(manifest)
    program = Program(Path("/usr/bin/true"), ("true",), workspace)
    box = Confinement(surface, workspace, program, {}, **changes)  # type: ignore[arg-type]
    wish = BoundWish(box, Started(program.path, (), ()), "tool:build-latex", protected_roots())
    file = workspace / ".consentry/tools/build-latex.yaml"
    loaded = LoadedTool(manifest, file, Origin.WORKSPACE, is_accepted=False, requires_consent=None)
    return Here(loaded, wish, surface)


def preview(
    here: Here, level: ConsentLevel = ConsentLevel.EXPLICIT, background: Background | None = None
) -> Preview:
    """What would be shown of it."""
    decision = LevelDecision(level, LevelRules.usual(level), ("because",))
    return make_preview(here, decision, background or Background())


def test_patterns_are_counted_with_their_purposes(workspace: Path) -> None:
    """CONSENT §prompt-2: seven sections are seven files, and a literal name is itself."""
    shown = preview(bound(workspace))
    assert [(use.pattern, use.purpose, use.found.files) for use in shown.read] == [
        ("latex/main.tex", "the document", 1),
        ("latex/sections/*.tex", "its sections", 7),
        ("notes", "what is noted", 0),
    ]
    assert [(use.pattern, use.found.files, use.found.bytes) for use in shown.write] == [
        ("output-final/pdf/main.pdf", 1, 2048),
        ("latex/*.aux", 0, 0),
    ]
    assert {use.found.extent for use in (*shown.read, *shown.write)} == {Extent.WHOLE}


def test_rows_are_what_the_surface_opens(workspace: Path) -> None:
    """A need that is only partly open shows that part; what is open beyond the needs has a row."""
    here = bound(workspace)
    narrowed = PatternScope.parse(["latex/sections/", "data/*.csv", "/opt/data/"])
    opened = replace(here.surface, fs_read_roots=narrowed)
    shown = preview(replace(here, surface=opened))
    assert [(use.pattern, use.purpose, use.found.extent) for use in shown.read] == [
        ("latex/sections/*.tex", "its sections", Extent.WHOLE),
        ("/opt/data/", None, Extent.NOT_COUNTED),
        ("data/*.csv", None, Extent.WHOLE),
        ("latex/sections/", None, Extent.WHOLE),
    ]


def test_rows_together_cover_the_surface(workspace: Path) -> None:
    """Nothing that the run may read or write is missing from the preview."""
    here = bound(workspace)
    wider = here.surface | Surface.of(read=["more/**/*.txt", "/srv/x"], write=["made/"])
    shown = preview(replace(here, surface=wider, system_files=("/srv/x",)))
    written = PatternScope.parse(use.pattern for use in shown.write)
    read = PatternScope.parse(use.pattern for use in shown.read)
    assert wider.fs_write_roots <= written
    assert wider.fs_read_roots <= read | written | PatternScope.parse(["/srv/x/"])
    assert shown.system_files == ("/srv/x",)
    assert "/srv/x" not in [use.pattern for use in shown.read]


def test_what_is_closed_is_not_counted(workspace: Path) -> None:
    """What no grant opens is in no number, and is listed as closed."""
    here = bound(workspace, denied=(Pattern.parse("latex/sections/3.tex"),))
    shown = preview(here)
    assert [use.found.files for use in shown.read] == [1, 6, 0]
    assert shown.closed == ("latex/sections/3.tex",)


def test_commands_are_shown_with_their_arguments(workspace: Path) -> None:
    """CONSENT §prompt-3: what is started in order, and with an entry point what it may start."""
    [command] = preview(bound(workspace)).commands
    assert (command.program, command.arguments) == ("pdflatex", ("main.tex",))
    assert command.part is CommandPart.STARTED
    here = replace(bound(workspace, MANIFEST + ENTRY), arguments=("--draft", "x y"))
    first, second = preview(here).commands
    assert (first.program, first.arguments) == ("./build.sh", ("--fast", "--draft", "x y"))
    assert (first.part, second.part) == (CommandPart.STARTED, CommandPart.ALLOWED)


def test_programs_that_only_the_surface_names_are_shown(workspace: Path) -> None:
    """A preview never shows fewer programs than could be started."""
    here = bound(workspace)
    wider = replace(here, surface=here.surface | Surface.of(run=["sh"]))
    assert [each.program for each in preview(wider).commands] == ["pdflatex", "sh"]


def test_only_secret_values_are_masked(workspace: Path) -> None:
    """The value of a secret option is hidden; program, path and host are not, whatever they are named."""
    words = (
        "--token=ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "https://evil.example/x",
        "/etc/passwd",
    )
    here = replace(bound(workspace, MANIFEST + ENTRY), arguments=words)
    shown = preview(here).commands[0]
    assert shown.program == "./build.sh"
    assert shown.arguments == ("--fast", f"--token={HIDDEN}", *words[1:])
    assert b"ghp_" not in canonical_json(preview(here).to_json())


def test_secrets_are_named_by_field_and_host(workspace: Path) -> None:
    """What the proxy would add is said, its value never."""
    secret = Secret("api.example.com", 443, "Authorization", SecretSource.FILE, "Bearer abcdefghij")
    shown = preview(bound(workspace, secrets=(secret,)))
    assert shown.secrets == ("Authorization for api.example.com:443",)
    assert b"abcdefghij" not in canonical_json(shown.to_json())


def test_limits_are_those_of_the_box(workspace: Path) -> None:
    """In the units of documents."""
    limits = Limits(60, 512 << 20, 50, 100 << 20, 1 << 30, wall_seconds=90.5)
    shown = preview(bound(workspace, limits=limits)).limits
    assert (shown.cpu, shown.memory) == (Duration(60_000), Size(512 << 20))
    assert (shown.processes, shown.file_size) == (50, Size(100 << 20))
    assert (shown.written, shown.timeout) == (Size(1 << 30), Duration(90_500))


def test_impact_is_analysed_where_the_level_asks(workspace: Path) -> None:
    """CONSENT §level-strict: what could be lost, and what could be taken back."""
    background = Background(kept_for=Duration(1000))
    assert preview(bound(workspace), background=background).impact is None
    impact = preview(bound(workspace), ConsentLevel.STRICT, background).impact
    assert impact is not None
    assert (impact.files, impact.bytes, impact.kept_for) == (1, 2048, Duration(1000))
    assert [each.path for each in impact.largest] == ["output-final/pdf/main.pdf"]
    at_once = bound(workspace, writes=Writes.DIRECT)
    direct = preview(at_once, ConsentLevel.STRICT, background).impact
    assert direct is not None
    assert direct.kept_for is None


def test_what_was_known_before_is_part_of_it(workspace: Path) -> None:
    """The estimate, why it is asked again, and what was agreed to."""
    here = bound(workspace)
    background = Background(
        asked_because=("the tool has changed",),
        last_consent=LastConsent("0.9.0", DIGEST, Surface.of(read=["latex/"])),
        estimate=Estimate(Duration(30_000), Duration(60_000), 20),
    )
    shown = preview(here, background=background)
    assert shown.asked_because == ("the tool has changed",)
    assert shown.estimate == background.estimate
    assert shown.gains
    assert shown.source.file == ".consentry/tools/build-latex.yaml"
    assert shown.level_reasons == ("because",)


def test_the_same_workspace_has_the_same_preview(workspace: Path) -> None:
    """Byte for byte, and it comes back from the store as it was."""
    (workspace / "latex/sections" / b"odd-\xff.tex".decode(errors="surrogateescape")).touch()
    first, second = (preview(bound(workspace), ConsentLevel.STRICT) for _ in range(2))
    assert canonical_json(first.to_json()) == canonical_json(second.to_json())
    assert "latex/sections/odd-\\xff.tex" in first.read[1].found.examples
    assert Preview.from_json(first.to_json()) == first
