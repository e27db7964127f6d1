"""What a manifest asks for, as one surface (CONSENT §manifest-5)."""

from pathlib import Path

from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.pathentries import PathEntry
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.dimensions import Level
from consentry.surface.lattice import NOTHING, Surface

REFERENCE = Path(__file__).parent / "consent" / "build-latex.yaml"


def surface_of(capabilities: str, more: str = "") -> Surface:
    """The surface of a manifest with these capabilities."""
    head = "name: t, description: d, version: 1.0.0, riskLevel: low"
    text = f"tool: {{{head}, capabilities: {{{capabilities}}}{more}}}"
    return manifest_surface(read_tool_manifest(text.encode(), "t.yaml"))


def files(key: str, *patterns: str) -> str:
    """A list of patterns with a purpose."""
    listed = ", ".join(f"{{pattern: '{each}', purpose: p}}" for each in patterns)
    return f"{key}: [{listed}]"


def test_the_reference_tool() -> None:
    """Files, programs and variables; what it writes it may read back."""
    written = ["output-final/pdf/*.pdf", "latex/*.aux", "latex/*.log"]
    expected = Surface.of(
        read=["latex/**/*.tex", "latex/**/*.bib", "latex/**/*.sty", *written],
        write=written,
        run=["pdflatex", "bibtex"],
        env=["PATH", "HOME", "TEXINPUTS"],
    )
    assert manifest_surface(read_tool_manifest(REFERENCE.read_bytes(), "t.yaml")) == expected


def test_nothing_asked_for_is_nothing() -> None:
    """Also where the lists are there and empty."""
    assert surface_of("") == NOTHING
    empty = (
        "fileRead: [], processExecution: [], environmentVariables: {read: []}, networkAccess: []"
    )
    assert surface_of(empty) == NOTHING


def test_network() -> None:
    """Closed, a list, or open."""
    assert surface_of("networkAccess: [a.example:443]") == Surface.of(net=["a.example:443"])
    assert surface_of("networkAccess: true") == Surface.of(net=Level.ANY)


def test_the_entry_point_is_a_program_too() -> None:
    """It may be started, and so may what the manifest lists."""
    more = ", entrypoint: {command: ./run.sh}"
    listed = "processExecution: [{command: make, purpose: p}]"
    assert surface_of(listed, more) == Surface.of(run=["./run.sh", "make"])
    assert surface_of("", more) == Surface.of(run=["./run.sh"])


def test_names_to_hand_on_are_no_power() -> None:
    """CONTRACTS §12-env-write is about later tasks."""
    assert surface_of("environmentVariables: {write: [X]}") == NOTHING


def test_allowed_paths_narrow_the_workspace_and_nothing_else() -> None:
    """CONTRACTS §7-profile: the meet for workspace paths; absolute ones stand."""
    more = ", sandboxRequirements: {allowedPaths: [latex, out/]}"
    asked = files("fileRead", "**/*.tex", "out/x", "/opt/data/")
    assert surface_of(asked, more) == Surface.of(
        read=["latex/**/*.tex", "out/**/*.tex", "out/x", "/opt/data/"]
    )


def test_a_plain_name_means_all_below_where_it_is_bound_to_a_folder() -> None:
    """CONTRACTS §9-patterns: only who looks at the disk knows, and says so."""
    head = "name: t, description: d, version: 1.0.0, riskLevel: low"
    text = f"tool: {{{head}, capabilities: {{{files('fileRead', 'data', 'notes')}}}}}"
    manifest = read_tool_manifest(text.encode(), "t.yaml")

    def folders(entry: PathEntry) -> object:
        return entry.tree if entry.written == "data" else entry.pattern

    assert manifest_surface(manifest) == Surface.of(read=["data", "notes"])
    bound = manifest_surface(manifest, bind=folders)  # type: ignore[arg-type]
    assert bound == Surface.of(read=["data/", "notes"])
