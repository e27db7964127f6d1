"""`consentry wish`: the real command writes a wish from today's code, and says what one allows."""

import json

import pytest

from consentry.base.codes import Code
from consentry.declare.wishfile import read_wish
from tests.cli.conftest import CommandLine, assert_error
from tests.service.codesamples import COUNTS, FETCHES, STARTS, write_tree


def test_a_wish_is_printed_and_can_be_read(consentry: CommandLine) -> None:
    """Without a file it goes to standard output, for this folder unless another is named."""
    write_tree(consentry.cwd, {"app.py": FETCHES})
    ended = consentry("wish", "init")
    assert (ended.status, ended.err) == (0, "")
    wish = read_wish(ended.out.encode(), "wish.yaml")
    assert (wish.id, len(wish.scope), len(wish.non_goals)) == ("wish-project", 1, 1)
    assert wish.allowed is not None
    assert wish.allowed.allowlists["net_access"] == ("feeds.example.org:443",)
    assert '- "feeds.example.org:443"  # app.py:5: requests.get()' in ended.out
    other = write_tree(consentry.cwd / "Other Code", {"run.py": STARTS})
    named = read_wish(consentry("wish", "init", str(other)).out.encode(), "wish.yaml")
    assert named.id == "wish-other-code"


def test_a_file_is_written_and_never_overwritten(consentry: CommandLine) -> None:
    """The same text as on standard output; what is there stays."""
    write_tree(consentry.cwd, {"app.py": STARTS})
    printed = consentry("wish", "init", "app.py", "--id", "my wish").out
    ended = consentry("wish", "init", "app.py", "--id", "my wish", "--out", "wish.yaml")
    assert (ended.status, ended.out) == (0, "wrote wish.yaml; fill in scope and non_goals\n")
    assert (consentry.cwd / "wish.yaml").read_text() == printed
    again = consentry("wish", "init", "app.py", "--out", "wish.yaml")
    assert_error(again, Code.FILE_UNUSABLE)
    assert (consentry.cwd / "wish.yaml").read_text() == printed


def test_what_it_leaves_out_is_said(consentry: CommandLine) -> None:
    """A person should read the remarks."""
    write_tree(consentry.cwd, {"app.py": "open('/etc/passwd')\nimport nowhere_z\n"})
    ended = consentry("wish", "init", "--out", "wish.yaml")
    assert "it does not allow all of it: 2 in remarks, read them" in ended.out
    document = json.loads(consentry("wish", "init", "--json").out)
    assert (document["kind"], document["left_out"], document["file"]) == ("wish-init", 2, None)
    assert document["text"] == (consentry.cwd / "wish.yaml").read_text()


@pytest.mark.parametrize("identity", ["", " x", "x" * 201, "a\nb"])
def test_ids_that_are_none(identity: str, consentry: CommandLine) -> None:
    """A wish is called something that can be seen."""
    assert_error(consentry("wish", "init", "--id", identity), Code.USAGE)


def test_a_wish_in_words(consentry: CommandLine) -> None:
    """What it is for, what it allows, and what a reader might not expect."""
    wish = (
        'wish_ir_version: "1"\nid: wish-feed\nscope: [fetch the feed]\nnon_goals: [start programs]\n'
        "allowed_capabilities:\n  fs_read_roots: [feeds]\n  net_access: ANY\n  dynamic_code_load: ANY\n"
    )
    write_tree(consentry.cwd, {"wish.yaml": wish})
    ended = consentry("wish", "check", "wish.yaml", COLUMNS="100")
    assert (ended.status, ended.err) == (0, "")
    said = ended.out.replace("\n           | ", " ")
    assert "wish       wish-feed\nscope      fetch the feed\nnon-goals  start programs\n" in said
    assert "allows     may read `feeds" in said
    assert "may connect to any host" in said
    assert "says nothing of fs_write_roots, proc_exec, env_read" in said
    assert "`dynamic_code_load: ANY` allows nothing" in said
    document = json.loads(consentry("wish", "check", "wish.yaml", "--json").out)
    assert (document["kind"], document["id"]) == ("wish-check", "wish-feed")
    assert document["allowed"]["net_access"] == "ANY"
    assert len(document["notes"]) == 3


def test_a_wish_without_a_block_allows_nothing(consentry: CommandLine) -> None:
    """GUARD §decide-no-block: that is something else than an empty block, and said."""
    write_tree(
        consentry.cwd, {"wish.yaml": 'wish_ir_version: "1"\nid: w\nscope: []\nnon_goals: []\n'}
    )
    ended = consentry("wish", "check", "wish.yaml")
    assert "allows     nothing" in ended.out
    assert "there is no `allowed_capabilities`" in ended.out
    assert json.loads(consentry("wish", "check", "wish.yaml", "--json").out)["allowed"] is None


def test_a_wish_that_is_malformed(consentry: CommandLine) -> None:
    """Exit status 3 with every problem; a file that is not there is wrong usage."""
    write_tree(consentry.cwd, {"bad.yaml": 'wish_ir_version: "2"\nid: w\nscope: x\n'})
    ended = consentry("wish", "check", "bad.yaml")
    assert (ended.status, ended.out) == (3, "")
    assert "error[document-invalid]" in ended.err
    assert "bad.yaml:1:" in ended.err
    assert_error(consentry("wish", "check", "nowhere.yaml"), Code.FILE_UNUSABLE)
    assert_error(consentry("wish", "check"), Code.USAGE)


def test_what_was_written_is_in_order(consentry: CommandLine) -> None:
    """`init`, then `check`."""
    write_tree(consentry.cwd, {"app.py": FETCHES + STARTS, "pure.py": COUNTS})
    assert consentry("wish", "init", "--out", "wish.yaml").status == 0
    ended = consentry("wish", "check", "wish.yaml", "-q")
    assert ended.status == 0
    assert "may start `git`" in ended.out
