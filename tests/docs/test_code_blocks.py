"""What the pages show is what happens: their sessions are run, their commands are started."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import (
    Block,
    Step,
    blocks_of,
    failures_in_console,
    failures_in_python,
    files_of,
    page_name,
    pages,
    steps_of,
)


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_python_sessions_print_what_the_page_shows(page: Path) -> None:
    """Every `python` block of the page, in order, in one namespace."""
    said = failures_in_python(page.read_text(encoding="utf-8"), page_name(page))
    assert not said, said


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A fresh folder with a short name: a long one would be broken into rows where it is shown."""
    with tempfile.TemporaryDirectory(prefix="docs-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_commands_print_what_the_page_shows(page: Path, short_path: Path) -> None:
    """Every command line of the page that is run, in a fresh folder with a fresh home."""
    said = failures_in_console(page.read_text(encoding="utf-8"), page_name(page), short_path)
    assert not said, said


def test_there_are_pages_with_sessions_and_with_commands() -> None:
    """The two tests above look at something."""
    texts = [page.read_text(encoding="utf-8") for page in pages()]
    assert sum(1 for text in texts for _ in blocks_of(text, "python")) > 10
    commands = [
        s for text in texts for block in blocks_of(text, "console") for s in steps_of(block)
    ]
    assert len(commands) > 5


PAGE = """
```python
>>> total = 1 + 1
```

Text between the blocks.

```python
>>> total
2
```
"""


def test_a_session_goes_on_in_the_next_block() -> None:
    """One namespace for the whole page."""
    assert failures_in_python(PAGE, "page.md") == ""


def test_a_wrong_answer_is_found() -> None:
    """The line in the page, the expected and the real answer are named."""
    said = failures_in_python(PAGE.replace("\n2\n", "\n3\n"), "page.md")
    assert 'File "page.md", line 9' in said
    assert "Expected:\n    3\nGot:\n    2\n" in said


def test_an_error_in_a_block_without_prompts_is_found() -> None:
    """Such a block is run too, and may not print."""
    assert failures_in_python("```python\nx = 1\n```\n", "page.md") == ""
    assert "NameError" in failures_in_python("```python\nmissing\n```\n", "page.md")
    assert "unshown" in failures_in_python("```python\nprint(1)\n```\n", "page.md")


def test_a_wrong_command_line_is_found(tmp_path: Path) -> None:
    """With the right answer the same page passes."""
    right = "```console\n$ consentry --version\nconsentry ...\n```\n"
    assert failures_in_console(right, "page.md", tmp_path) == ""
    wrong = right.replace("consentry ...", "another ...")
    assert "page.md, line 2: $ consentry --version" in failures_in_console(
        wrong, "page.md", tmp_path
    )


def test_a_file_of_the_page_is_there_when_its_commands_run(tmp_path: Path) -> None:
    """It is not run by itself, and a block without a name is no file."""
    page = '```py say.py\nprint("said")\n```\n```py\nraise SystemExit\n```\n'
    run = "```console\n$ python3 say.py\nsaid\n```\n"
    assert failures_in_console(page + run, "page.md", tmp_path) == ""
    assert [file.name for file in files_of(page + run)] == ["say.py"]
    assert failures_in_python(page, "page.md") == ""


def test_only_our_own_command_is_run() -> None:
    """What a reader types to install is shown, not done."""
    text = "$ make setup\ndone\n$ consentry status\n$ NO_COLOR=1 consentry explain 2 | head\nx\n"
    steps = list(steps_of(Block("console", 10, text)))
    assert steps == [
        Step("consentry status", 12, ""),
        Step("NO_COLOR=1 consentry explain 2 | head", 13, "x\n"),
    ]


def test_a_block_inside_a_longer_fence_is_text() -> None:
    """A page about pages may show a fenced block without having it run."""
    text = "````text\n```python\n>>> 1\n2\n```\n````\n"
    assert list(blocks_of(text, "python")) == []
