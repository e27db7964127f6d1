"""A manifest without what was not used: smaller, and otherwise to the letter as it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.declare.manifestnarrow import MOST_FOR_ONE, Observed, narrowed
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.toolmanifest import read_tool_manifest

MANIFEST = """\
# Ours since spring.
tool:
  name: build-latex   # as everybody calls it
  description: Compile LaTeX document to PDF
  version: "1.0.0"
  capabilities:
    fileRead:   # what it reads
      - pattern: "latex/**/*.tex"
        purpose: "Read sources"  # all of them
      # the bibliography
      - pattern: 'latex/**/*.bib'
        purpose: "Read bibliography"
      - {pattern: "fonts/", purpose: "Fonts"}
    fileWrite:
      - pattern: "out/*.pdf"
        purpose: "The result"
    processExecution:
      - command: bibtex
        arguments: ["main"]
        purpose: "Bibliography"
      - command: pdflatex
        arguments: []
        purpose: "Compile"
    networkAccess: ["example.org:443", "*.example.net:443"]
    environmentVariables:
      read: ["PATH", "TEXINPUTS"]
      write: []
  riskLevel: medium
  entrypoint: {command: sh, arguments: ["-c", "true"]}
  # the end
"""
ALL = Observed(
    frozenset({f"latex/{name}.{kind}" for name in "abcdefghi" for kind in ("tex", "bib")}),
    frozenset({"out/a.pdf"}),
    frozenset({"bibtex", "pdflatex", "sh"}),
    frozenset({"example.org:443", "a.example.net:443"}),
    frozenset({"PATH", "TEXINPUTS"}),
)


def result(observed: Observed, text: str = MANIFEST) -> tuple[str, tuple[str, ...]]:
    """The new text, and what is gone."""
    found = narrowed(text.encode(), "tool.yaml", observed)
    return found.text, found.removed


def test_what_was_not_used_goes_and_the_rest_stays() -> None:
    """Remarks, quotes, order and purposes; each kind of power in the style it is written in."""
    seen = Observed(
        frozenset({"latex/main.tex", "latex/sections/one.tex"}),
        frozenset({"out/a.pdf"}),
        frozenset({"pdflatex", "/usr/bin/pdftex", "sh"}),
        frozenset({"a.example.net:443"}),
        frozenset({"PATH"}),
    )
    text, removed = result(seen)
    expected = MANIFEST
    for old, new in (
        (
            '      - pattern: "latex/**/*.tex"\n        purpose: "Read sources"  # all of them\n',
            "".join(
                f'      - pattern: "latex/{name}.tex"\n        purpose: "Read sources"  # all of them\n'
                for name in ("main", "sections/one")
            ),
        ),
        ("      - pattern: 'latex/**/*.bib'\n        purpose: \"Read bibliography\"\n", ""),
        ('      - {pattern: "fonts/", purpose: "Fonts"}\n', ""),
        ('pattern: "out/*.pdf"', 'pattern: "out/a.pdf"'),
        (
            '      - command: bibtex\n        arguments: ["main"]\n        purpose: "Bibliography"\n',
            "",
        ),
        ('["example.org:443", "*.example.net:443"]', '["*.example.net:443"]'),
        ('["PATH", "TEXINPUTS"]', '["PATH"]'),
    ):
        assert old in expected
        expected = expected.replace(old, new)
    assert text == expected
    assert removed == (
        "reads latex/**/*.tex; only latex/main.tex, latex/sections/one.tex",
        "reads latex/**/*.bib",
        "reads fonts/",
        "writes out/*.pdf; only out/a.pdf",
        "starts bibtex",
        "connects to example.org:443",
        "sees $TEXINPUTS",
    )


def test_without_any_use_the_lists_are_empty() -> None:
    """In block style as well; remarks between items stay."""
    text, _ = result(Observed())
    assert (
        "    fileRead: []   # what it reads\n      # the bibliography\n    fileWrite: []\n" in text
    )
    assert "    processExecution: []\n    networkAccess: false\n" in text
    assert "      read: []\n      write: []\n" in text
    assert text.endswith("  # the end\n")


def test_many_files_of_a_kind_stay_a_pattern() -> None:
    """As `learn` would write it: the folder that was used, and not all below."""
    text, removed = result(ALL)
    assert 'pattern: "latex/*.tex"' in text
    assert removed[0] == "reads latex/**/*.tex; only latex/*.tex"


def test_what_was_used_to_the_full_is_left_alone() -> None:
    """Nothing is gone, and not a letter is another."""
    tight, _ = result(ALL)
    assert result(ALL, tight) == (tight, ())


def test_commands_of_a_tool_without_entry_point_are_what_it_runs() -> None:
    """They are started in order, whether or not they were seen; taking one out would change the tool."""
    text = MANIFEST.replace('  entrypoint: {command: sh, arguments: ["-c", "true"]}\n', "")
    assert "command: bibtex" in result(Observed(), text)[0]


def test_a_folder_by_its_plain_name_is_narrowed_to_what_was_used_in_it() -> None:
    """A name without wildcards is a folder where it is one; as a file it stays."""
    text = MANIFEST.replace("latex/**/*.tex", "latex")
    seen = Observed(read=frozenset({"latex/main.tex"}))
    assert 'pattern: "latex/main.tex"' in result(seen, text)[0]
    assert 'pattern: "latex"' in result(Observed(read=frozenset({"latex"})), text)[0]


def test_what_is_read_back_keeps_its_place_to_be_written() -> None:
    """What may be written may be read: a file that only such an entry covers needs it."""
    seen = Observed(read=frozenset({"out/old.pdf"}))
    assert 'pattern: "out/old.pdf"' in result(seen)[0]


def test_a_pattern_that_would_become_a_long_list_stays() -> None:
    """A list of single files says less to a person than the pattern."""
    seen = Observed(read=frozenset(f"latex/{n}/{n}.tex" for n in range(MOST_FOR_ONE + 1)))
    kept = Observed(read=frozenset(f"latex/{n}/x{n}" for n in range(MOST_FOR_ONE + 1)))
    assert 'pattern: "latex/**/*.tex"' in result(seen)[0]
    text = MANIFEST.replace("latex/**/*.tex", "latex/*/x*")
    assert 'pattern: "latex/*/x*"' in result(kept, text)[0]


@pytest.mark.parametrize(("hosts", "left"), [(["a.org:443"], '["a.org:443"]'), ([], "false")])
def test_any_network_becomes_the_hosts_that_were_reached(hosts: list[str], left: str) -> None:
    """Or none."""
    text = MANIFEST.replace('["example.org:443", "*.example.net:443"]', "true")
    assert f"networkAccess: {left}\n" in result(Observed(hosts=frozenset(hosts)), text)[0]


def test_a_document_in_json_is_narrowed_too() -> None:
    """It is the same document."""
    files = [{"pattern": each, "purpose": "p"} for each in ("a", "b", "c")]
    tool: dict[str, Any] = {"name": "x", "description": "d", "version": "1.0.0"}
    tool |= {"capabilities": {"fileRead": files}, "riskLevel": "low"}
    text, removed = result(Observed(read=frozenset({"b"})), json.dumps({"tool": tool}, indent=1))
    left = json.loads(text)["tool"]["capabilities"]["fileRead"]
    assert left == [{"pattern": "b", "purpose": "p"}]
    assert removed == ("reads a", "reads c")


def test_what_is_no_manifest_is_refused() -> None:
    """As the reader does it."""
    with pytest.raises(BadInput):
        result(Observed(), "tool: {}")


FILES = st.sampled_from(["b.tex", "c.bib", "main.tex", "#x", "o'ne", 'q"', "x y", "ü", "*.tex"])
FOLDERS = st.lists(st.sampled_from(["a", "~", "-", "x: y", "?"]), max_size=2)
PATHS = st.builds(lambda folders, file: "/".join(["latex", *folders, file]), FOLDERS, FILES)
SEEN = st.builds(
    Observed,
    st.frozensets(PATHS, max_size=12),
    st.frozensets(PATHS.map(lambda path: path.replace("latex", "out", 1)), max_size=12),
    st.frozensets(st.sampled_from(["bibtex", "pdflatex", "ls"])),
    st.frozensets(st.sampled_from(["example.org:443", "b.example.net:443"])),
    st.frozensets(st.sampled_from(["PATH", "HOME"])),
)


@given(SEEN)
def test_it_never_asks_for_more_and_is_stable(seen: Observed) -> None:
    """Whatever was seen: the surface is covered by the one before, and a second time nothing changes."""
    text, _ = result(seen)
    before = read_tool_manifest(MANIFEST.encode(), "t")
    after = read_tool_manifest(text.encode(), "t")
    assert manifest_surface(after) <= manifest_surface(before, bind=lambda entry: entry.root)
    assert result(seen, text) == (text, ())
    for remark in ("# Ours since spring.", "# as everybody calls it", "# the end"):
        assert remark in text
