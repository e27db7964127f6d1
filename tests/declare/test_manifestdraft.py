"""The text of a learned manifest: one that our own reader takes, whatever a run has put into it."""

from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.manifestdraft import (
    TO_FILL_IN,
    DraftCommand,
    DraftPattern,
    ManifestDraft,
    as_remark,
    quoted,
)
from consentry.declare.narrowest import literal
from consentry.declare.tool import RiskLevel
from consentry.declare.toolmanifest import read_tool_manifest

_NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1)


def test_it_is_a_manifest() -> None:
    """Every key is one that the reader knows, and every purpose is still to be stated."""
    draft = ManifestDraft(
        "build",
        "./build.sh",
        ("--fast",),
        read=(DraftPattern("src/*.c", "12 files were read"),),
        write=(DraftPattern("out/app", "it was written", "look"),),
        commands=(DraftCommand("cc", "it was started 3 times"),),
        hosts=("example.org:443",),
        environment=("LANG",),
        cpu_seconds=10,
        memory_megabytes=64,
        refused=("read /etc/shadow: never given",),
    )
    tool = read_tool_manifest(draft.text().encode(), "build.yaml")
    assert tool.entrypoint is not None
    assert (tool.entrypoint.command, tool.entrypoint.arguments) == ("./build.sh", ("--fast",))
    asked = tool.capabilities
    needs = (*asked.file_read, *asked.file_write, *asked.commands)
    assert all(need.purpose.startswith(TO_FILL_IN) for need in needs)
    assert "# look at this: look\n" in draft.text()
    assert tool.risk is RiskLevel.HIGH


def test_what_asks_for_nothing_is_a_manifest_too() -> None:
    """With empty lists."""
    tool = read_tool_manifest(ManifestDraft("x", "true", ()).text().encode(), "x.yaml")
    assert tool.risk is RiskLevel.LOW
    assert tool.capabilities.file_read == ()


@given(_NAMES, _NAMES)
def test_no_name_breaks_out(name: str, word: str) -> None:
    """Of its quotation or of a remark: the reader finds the very same."""
    pattern = literal(name).text if name not in (".", "..") else "x"
    draft = ManifestDraft(
        "x",
        "true",
        (word,),
        read=(DraftPattern(pattern, word, remark=name),),
        refused=(name, word),
    )
    tool = read_tool_manifest(draft.text().encode(), "x.yaml")
    assert [need.entry.pattern.text for need in tool.capabilities.file_read] == [pattern]
    assert tool.entrypoint is not None
    assert tool.entrypoint.arguments == (word,)
    assert len(as_remark(name).splitlines()) <= 1


def test_odd_letters_are_spelled() -> None:
    """By their numbers, so that nothing acts on a terminal or turns the line around."""
    assert quoted('a"\\\n\u202e\U000e0041') == r'"a\"\\\x0a\u202e\U000e0041"'
