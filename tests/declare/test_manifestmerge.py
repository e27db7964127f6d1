"""A manifest that is learned once more: what was written stays, and only what is new is added."""

import pytest

from consentry.base.errors import ConsentryError
from consentry.declare.manifestdraft import DraftCommand, DraftPattern, ManifestDraft
from consentry.declare.manifestmerge import merged
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.lattice import Surface

DRAFT = ManifestDraft(
    name="build",
    command="make",
    arguments=("all",),
    read=(DraftPattern("src/*.c", "12 files were read"), DraftPattern(".env", "it was read", "x")),
    write=(DraftPattern("out/app", "it was written"),),
    commands=(DraftCommand("cc", "it was started"),),
    hosts=("example.org:443",),
    environment=("LANG",),
    cpu_seconds=10,
    memory_megabytes=64,
)
BLOCK = """\
# our own remark
tool:
  name: build
  description: Builds it   # for real
  version: 1.0.0
  capabilities:
    fileRead:
      # the sources
      - pattern: "src/main.c"
        purpose: the start

      - {pattern: lib/, purpose: others}
    processExecution:
    - command: ld
      purpose: links
    networkAccess: false   # nothing goes out
  riskLevel: low

  sandboxRequirements: {limitCPU: 1s, limitMemory: 1GB}
"""
FLOW = """\
tool: {name: build, description: d, version: 1.0.0, riskLevel: low, capabilities: {fileRead: []}}
"""
EMPTY = """\
tool:
  name: build
  description: d
  version: 1.0.0
  riskLevel: low
  capabilities: {}"""
DEEP = """\
tool:
  name: build
  description: d
  version: 1.0.0
  riskLevel: low
  capabilities:
    networkAccess:
      - other.example
    environmentVariables:
      read:
        - HOME
    fileWrite:
    - pattern: a
      purpose: b
"""


def surface_of(text: str) -> Surface:
    """What a document asks for."""
    return manifest_surface(read_tool_manifest(text.encode(), "build.yaml"))


@pytest.mark.parametrize("text", [BLOCK, FLOW, EMPTY, DEEP], ids=["block", "flow", "empty", "deep"])
def test_it_asks_for_both(text: str) -> None:
    """For what it asked for before, what was seen, and nothing else."""
    result = merged(text.encode(), "build.yaml", DRAFT)
    before, seen = surface_of(text), surface_of(DRAFT.text())
    after = surface_of(result.text)
    without_entry = before | seen
    assert before <= after <= without_entry
    needed = Surface.of(
        read=["src/*.c", ".env"],
        write=["out/app"],
        run=["cc"],
        net=["example.org:443"],
        env=["LANG"],
    )
    assert needed <= after


@pytest.mark.parametrize("text", [BLOCK, FLOW, EMPTY, DEEP], ids=["block", "flow", "empty", "deep"])
def test_the_second_time_nothing_is_new(text: str) -> None:
    """The document stays as it is, byte for byte."""
    once = merged(text.encode(), "build.yaml", DRAFT)
    twice = merged(once.text.encode(), "build.yaml", DRAFT)
    assert once.added
    assert (twice.text, twice.added) == (once.text, ())


def test_what_was_written_stays() -> None:
    """Every line of it, but for those that had to change."""
    lines = merged(BLOCK.encode(), "build.yaml", DRAFT).text.splitlines()
    gone = [line for line in BLOCK.splitlines() if line not in lines]
    assert gone == [
        "    networkAccess: false   # nothing goes out",
        "  sandboxRequirements: {limitCPU: 1s, limitMemory: 1GB}",
    ]
    assert '    networkAccess: ["example.org:443"]   # nothing goes out' in lines
    assert "  sandboxRequirements: {limitCPU: 10s, limitMemory: 1GB}" in lines


def test_what_is_covered_is_not_added() -> None:
    """A wider pattern of a person's own is enough."""
    wide = BLOCK.replace('"src/main.c"', "src/")
    assert "reads src/*.c" not in merged(wide.encode(), "build.yaml", DRAFT).added
    assert "reads src/*.c" in merged(BLOCK.encode(), "build.yaml", DRAFT).added


def test_what_may_be_written_need_not_be_listed_as_read() -> None:
    """As in every manifest."""
    draft = ManifestDraft("build", "make", (), read=(DraftPattern("a", "it was read"),))
    assert merged(DEEP.encode(), "build.yaml", draft).added == ()


def test_any_host_is_enough() -> None:
    """A list would say less."""
    open_ = DEEP.replace("networkAccess:\n      - other.example", "networkAccess: true")
    assert not any("connects" in each for each in merged(open_.encode(), "b.yaml", DRAFT).added)


def test_a_document_that_is_none_is_refused() -> None:
    """With what is wrong with it, as anywhere."""
    with pytest.raises(ConsentryError, match="version"):
        merged(BLOCK.replace("1.0.0", "one").encode(), "build.yaml", DRAFT)
