"""What the tables answer: the longest name that fits, what is safe, what nobody knows."""

import pytest

from consentry.examine.atoms import connecting, starting
from consentry.examine.knowledge.effects import Effect, parse_effect
from consentry.examine.knowledge.reader import IDENTITY, Knowledge, knowledge
from consentry.examine.knowledge.tables import compile_tables
from consentry.examine.tabledigest import TABLES, tables_digest

TEXT = """
[[module]]
name = "net"
import = ["net"]
default = ["net:any"]
safe = ["PIPE", "*Error", "parse_*", "quiet"]
[module.members]
get = ["net@0/url"]
nothing = []
"Client" = ["net", "-> net.Client"]
"Client.send" = ["net@0/url"]
"Plain.close" = []
make = ["-> net.Client"]
[module.same]
Async = "Client"

[[module]]
name = "net.inner"
import = []

[[module]]
name = "net.tools"
import = ["proc"]

[[module]]
name = "_net"
twin = "net"

[[distribution]]
name = "Net_Tools"
modules = ["net.tools", "pure", "google.deep"]

[[attribute]]
name = "__code__"
effects = ["load=any"]
"""
TABLE = Knowledge(compile_tables({"t.toml": TEXT}))


def effects(*texts: str) -> tuple[Effect, ...]:
    """Effects from their words."""
    return tuple(map(parse_effect, texts))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("net.get", ("net@0/url",)),
        ("net.nothing", ()),
        ("net.unheard_of", ("net:any",)),
        ("net.PIPE", ()),
        ("net.SOME_CONSTANT", ()),
        ("net.SomeError", ()),
        ("net.parse_this", ()),
        ("net.quiet.deep", ()),
        ("net.Client.send", ("net@0/url",)),
        ("net.Async.send", ("net@0/url",)),
        ("net.Client.unheard_of", ("net", "-> net.Client")),
        ("_net.get", ("net@0/url",)),
        ("net.inner.x", ()),
        ("net", ()),
    ],
)
def test_members(name: str, expected: tuple[str, ...]) -> None:
    """GUARD §extract-1: listed, safe, below what is listed, or by default; twins are the same."""
    assert TABLE.member(name) == effects(*expected)


def test_what_no_row_speaks_of_is_none_and_not_nothing() -> None:
    """GUARD §extract-closed: whoever asks must not take it for harmless."""
    assert TABLE.member("strange.get") is None
    assert not TABLE.is_known("strange")
    assert TABLE.is_known("net.whatever")
    assert TABLE.distribution("strange") is None


def test_importing_counts_every_row_on_the_way_down() -> None:
    """Until one says that it gives nothing."""
    assert TABLE.imported("net.tools.x") == effects("proc", "net")
    assert TABLE.imported("net.inner") == ()
    assert TABLE.imported("_net") == effects("net")


def test_a_namespace_says_nothing_about_what_is_below() -> None:
    """Several distributions share it: one that nobody listed may be anything."""
    assert TABLE.is_known("google.deep.x")
    assert TABLE.is_known("google")
    assert not TABLE.is_known("google.other")


def test_the_class_of_what_a_call_gives() -> None:
    """What the row names; a class with methods gives itself."""
    assert TABLE.returned("net.make") == "net.Client"
    assert TABLE.returned("net.Plain") == "net.Plain"
    assert TABLE.returned("net.Async") == "net.Client"
    assert TABLE.returned("net.get") is None


def test_methods_that_are_not_listed_give_nothing() -> None:
    """Of an object whose class is known, that is."""
    assert TABLE.method("net.Client", "send") == effects("net@0/url")
    assert TABLE.method("net.Client", "other") == ()
    assert TABLE.listed("net.unheard_of") is None


def test_modules_and_their_powers() -> None:
    """A member is no module; members without effect are no powers."""
    assert TABLE.is_module("net.inner")
    assert not TABLE.is_module("net.get")
    assert "get" in TABLE.powers_of("_net")
    assert "nothing" not in TABLE.powers_of("net")
    assert TABLE.powers_of("strange") == ()


def test_distributions_by_any_spelling() -> None:
    """A dependency gives what importing its modules gives."""
    assert TABLE.modules_of("net.tools") == ("google.deep", "net.tools", "pure")
    assert TABLE.distribution("NET-TOOLS") == (starting(), connecting())


def test_attributes_count_on_any_object() -> None:
    """They stand first in the file."""
    assert TABLE.attributes == {"__code__": effects("load=any")}


@pytest.mark.parametrize("name", ["", ".", "net\t{}", "net\n", "ne", "nett", "\udc80", "a", "zzz"])
def test_names_that_are_no_rows(name: str) -> None:
    """Whatever a file calls its modules, no other row is found for it, and nothing raises."""
    assert not TABLE.is_module(name)
    assert TABLE.member(f"{name}.x" if name else name) is None


def test_every_row_of_the_shipped_file_is_found() -> None:
    """Halving finds each line there is, the first and the last among them."""
    shipped = knowledge()
    lines = shipped.content.decode().splitlines()
    modules = [line[2:].partition("\t")[0] for line in lines if line.startswith("m ")]
    assert len(modules) > 1000
    assert all(Knowledge.is_known(shipped, module) for module in modules)
    distributions = [line[2:].partition("\t")[0] for line in lines if line.startswith("d ")]
    assert all(shipped.modules_of(name) is not None for name in distributions)


def test_twins_that_lead_in_a_circle_end() -> None:
    """A slip in a table does not keep anybody waiting."""
    text = '[[module]]\nname = "a"\ntwin = "b"\n[[module]]\nname = "b"\ntwin = "a"\n'
    assert Knowledge(compile_tables({"t": text})).member("a.x") == ()


def test_the_digest_is_that_of_the_content() -> None:
    """GUARD §witness-form, CONTRACTS §7-verdict-keys: other tables, another witness."""
    other = Knowledge(compile_tables({"t.toml": TEXT.replace('"proc"', '"env"')}))
    assert TABLE.digest != other.digest
    assert Knowledge(TABLE.content).digest == TABLE.digest


def test_verdicts_name_all_tables_by_one_digest() -> None:
    """GUARD §witness-form: the compact file, and those of the other languages."""
    assert TABLES == IDENTITY == "canon://cap_surface/knowledge_v1"
    assert tables_digest() == tables_digest()
    assert tables_digest() != knowledge().digest
