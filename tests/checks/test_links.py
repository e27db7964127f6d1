"""Relative links lead to files and headings that exist."""

import pytest

from checks import links

TREE = {
    "docs/b.md": '# Top\n\n## What it is, and isn\'t\n\n## Again\n\n## Again\n\n## `code` here\n<a id="pin"></a>\n',
    "docs/a file.md": "x",
    "src/x.py": "",
}


def problems(plant, text):
    """The findings for a page that lies beside `docs/b.md`."""
    return list(links.check(plant({**TREE, "docs/a.md": text})))


@pytest.mark.parametrize(
    "target",
    [
        "c.md",
        "../b.md",
        "b.md#nothing",
        "#nowhere",
        "../../outside.md",
        "/docs/b.md",
        "b.md#again-2",
    ],
)
@pytest.mark.parametrize("form", ["see [x]({})", "![x]({})", '[x]({} "title")', "[x]: {}"])
def test_a_link_that_leads_nowhere_is_found(plant, target, form):
    """Missing file, missing anchor, absolute path and path out of the repository are faults."""
    [finding] = problems(plant, "# A\n\n" + form.format(target))
    assert (finding.path, finding.line) == ("docs/a.md", 3)
    assert target in finding.message


@pytest.mark.parametrize(
    "target",
    [
        "b.md",
        "./b.md",
        "../src/x.py",
        "../src",
        "b.md#top",
        "b.md#what-it-is-and-isnt",
        "b.md#again-1",
        "b.md#code-here",
        "b.md#pin",
        "#a",
        "a%20file.md",
        "https://example.com/nothing",
        "mailto:someone@example.com",
    ],
)
def test_a_link_that_leads_somewhere_passes(plant, target):
    """Files, folders, headings, repeated headings and HTML anchors; other sites are not followed."""
    assert not problems(plant, f"# A\n\nsee [x]({target})")


@pytest.mark.parametrize(
    "text", ["`[x](gone.md)`", "```\n[x](gone.md)\n```", "~~~~\n[x](gone.md)\n~~~\n~~~~"]
)
def test_links_in_code_are_not_links(plant, text):
    """What is shown as typed leads nowhere by design."""
    assert not problems(plant, text)


def test_a_link_after_a_code_block_counts(plant):
    """A closed block does not swallow what follows it."""
    assert len(problems(plant, "```\nx\n```\n[x](gone.md)")) == 1
