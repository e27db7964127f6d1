"""The second half of the third-party tables: the ranking to its end, and side doors beyond it (GUARD §extract-1).

The rows are held against the ranking and against the compiled form, through which extraction asks
them; that the first half of the ranking is there, and that rows have their form, is stated elsewhere.
"""

import re
import tomllib
from collections import Counter
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, Final

import pytest

from consentry.examine.knowledge.effects import Power
from consentry.examine.knowledge.reader import Knowledge
from consentry.examine.knowledge.tables import compile_tables

KNOWLEDGE: Final = files("consentry.examine.knowledge")
FIRST: Final = 330
WITH_MEMBERS: Final = 300
BEYOND: Final = 150
MOST_LINES: Final = 500

EFFECT: Final = re.compile(
    r"(?:(?:read|write|open|net|proc|env|load|crypto|tool)"
    r"(?::any|=[^\s@?]+)?(?:@(?:self|\d+(?:/\w+)?|/\w+)(?:,(?:\d+(?:/\w+)?|/\w+))?)?"
    r"(?: \?(?:\d+(?:/\w+)?|/\w+)!?=\S+)?"
    r"|-> [\w.]+(?:@\d+/\w+)?)"
)


@cache
def texts() -> dict[str, str]:
    """The third-party tables by their file names."""
    return {
        entry.name: entry.read_text("utf-8")
        for entry in sorted(KNOWLEDGE.iterdir(), key=lambda entry: entry.name)
        if re.fullmatch(r"thirdparty_\w+\.toml", entry.name)
    }


@cache
def rows(kind: str) -> list[dict[str, Any]]:
    """All rows of a kind."""
    return list(chain.from_iterable(tomllib.loads(text).get(kind, ()) for text in texts().values()))


@cache
def knowledge() -> Knowledge:
    """The tables as extraction asks them."""
    return Knowledge(compile_tables(texts()))


def ranked() -> list[str]:
    """The names of the ranking, most used first."""
    lines = KNOWLEDGE.joinpath("ranking.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def normalised(name: str) -> str:
    """The name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def given(qualified: str) -> set[str]:
    """The powers of a member, by the words that effects begin with; what it returns is none."""
    found = knowledge().member(qualified)
    assert found is not None, f"no row speaks of {qualified}"
    return {effect.power.value for effect in found} - {Power.RETURNS.value}


def test_the_rest_of_the_ranking_has_a_row() -> None:
    """GUARD §extract-1: a dependency on one of the ranks 331 to 700 is never unclassified."""
    known = {normalised(row["name"]) for row in rows("distribution")}
    assert [name for name in ranked()[FIRST:] if name not in known] == []


def test_the_side_doors_beyond_the_ranking_are_known_too() -> None:
    """A library nobody ranks highly starts a program as well as one that everybody uses."""
    names = {normalised(row["name"]) for row in rows("distribution")}
    assert len(names - set(ranked())) >= BEYOND


def test_at_least_three_hundred_distributions_have_members() -> None:
    """GUARD §extract-1: each with the functions that open, connect, start or load."""
    with_members = {row["name"] for row in rows("module") if any(row.get("members", {}).values())}
    known = [
        row["name"]
        for row in rows("distribution")
        if any(
            name == module or name.startswith(f"{module}.")
            for module in row["modules"]
            for name in with_members
        )
    ]
    assert len(known) >= WITH_MEMBERS


@pytest.mark.parametrize("kind", ["module", "distribution"])
def test_nothing_stands_twice(kind: str) -> None:
    """GUARD §deterministic: one row speaks for a name, whatever the order of files."""
    counts = Counter(
        normalised(row["name"]) if kind == "distribution" else row["name"] for row in rows(kind)
    )
    assert [name for name, count in counts.items() if count > 1] == []


def test_effects_are_words_of_the_grammar() -> None:
    """A word that no reader knows would be a power that nobody sees."""
    bad = [
        (row["name"], effect)
        for row in rows("module")
        for effect in chain(
            row.get("import", ()), row.get("default", ()), *row.get("members", {}).values()
        )
        if EFFECT.fullmatch(effect) is None
    ]
    assert bad == []


def test_no_file_of_the_tables_is_too_long_to_read() -> None:
    """Split by theme, each below the limit of the house."""
    lengths = {name: text.count("\n") for name, text in texts().items() if "_b_" in name}
    assert {name: length for name, length in lengths.items() if length >= MOST_LINES} == {}


def test_a_name_without_a_star_is_a_member() -> None:
    """Only `safe` has patterns: a member with a star in it would never be found."""
    assert [
        (row["name"], member)
        for row in rows("module")
        for member in row.get("members", {})
        if re.fullmatch(r"[\w.]+", member) is None
    ] == []


def test_what_a_member_returns_has_methods_or_is_named_somewhere() -> None:
    """`->` leads to a class that a row of the same tables knows."""
    lost = [
        (row["name"], effect)
        for row in rows("module")
        if row["name"] in _modules_of_b()
        for effect in chain(*row.get("members", {}).values())
        if effect.startswith("-> ") and knowledge().member(effect[3:]) is None
    ]
    assert lost == []


@cache
def _modules_of_b() -> frozenset[str]:
    return frozenset(
        row["name"]
        for name, text in texts().items()
        if "_b_" in name
        for row in tomllib.loads(text).get("module", ())
    )


@pytest.mark.parametrize(
    ("qualified", "powers"),
    [
        ("asyncssh.connect", {"net"}),
        ("fabric.Connection.run", {"proc", "net"}),
        ("ldap3.Server", {"net"}),
        ("psycopg.connect", {"net"}),
        ("pika.URLParameters", {"net"}),
        ("twilio.rest.Client", {"net", "env"}),
        ("google.cloud.kms_v1.KeyManagementServiceClient", {"net"}),
    ],
)
def test_network_clients_connect(qualified: str, powers: set[str]) -> None:
    """GUARD §extract-net: a floor, not the whole table."""
    assert given(qualified) == powers


@pytest.mark.parametrize(
    "qualified",
    [
        "sh.anything",
        "plumbum.cmd",
        "invoke.run",
        "sarge.run",
        "delegator.run",
        "dominate.util.system",
        "nox.Session.run",
        "langchain_community.tools.ShellTool",
        "win32api.ShellExecute",
        "trio.run_process",
        "gevent.subprocess.Popen",
        "django.core.management.utils.popen_wrapper",
    ],
)
def test_what_starts_programs_does_so_under_every_name(qualified: str) -> None:
    """GUARD §extract-proc: shells in Python, green threads, tools of agents."""
    assert "proc" in given(qualified)


@pytest.mark.parametrize(
    "qualified",
    [
        "jsonpickle.decode",
        "asteval.Interpreter.eval",
        "simpleeval.simple_eval",
        "js2py.eval_js",
        "lupa.LuaRuntime",
        "rpyc.classic.connect",
        "past.builtins.execfile",
        "hydra.utils.instantiate",
        "sqlitedict.SqliteDict",
        "diskcache.Cache",
        "patsy.dmatrix",
        "keras.models.load_model",
        "mlflow.pyfunc.load_model",
        "smolagents.CodeAgent",
        "langchain_experimental.utilities.PythonREPL",
        "llvmlite.binding.create_mcjit_compiler",
    ],
)
def test_what_loads_code_does_so_under_every_name(qualified: str) -> None:
    """GUARD §extract-dynamic: evaluators, pickles in stores and models, other languages."""
    assert "load" in given(qualified)


@pytest.mark.parametrize(
    ("qualified", "power"),
    [
        ("environs.Env.str", "env"),
        ("decouple.config", "env"),
        ("h5py.File", "open"),
        ("xlsxwriter.Workbook", "write"),
        ("pypdf.PdfReader", "read"),
        ("send2trash.send2trash", "write"),
        ("Cryptodome.Cipher.AES.new", "crypto"),
        ("passlib.hash.bcrypt", "crypto"),
        ("selenium.webdriver.Chrome", "tool"),
        ("playwright.sync_api.sync_playwright", "tool"),
    ],
)
def test_files_variables_ciphers_and_browsers_are_seen(qualified: str, power: str) -> None:
    """GUARD §vector-1: every dimension has its doors in libraries."""
    assert power in given(qualified)


@pytest.mark.parametrize(
    "qualified",
    [
        "psycopg.rows.dict_row",
        "django.db.models.Model",
        "celery.shared_task",
        "polars.col",
        "structlog.get_logger",
        "toolz.curry",
        "sqlglot.parse_one",
        "plotly.graph_objects.Scatter",
        "numba.prange",
        "shapely.Point",
        "loguru.logger.info",
    ],
)
def test_what_has_no_power_is_not_accused(qualified: str) -> None:
    """Benign look-alikes: rows, models, expressions and plots reach nothing by themselves."""
    assert given(qualified) == set()


def test_a_dependency_gives_what_importing_gives() -> None:
    """GUARD §extract-1: a new dependency is a declared power; one without power is none."""
    found = {
        name: {atom.operation.value for atom in knowledge().distribution(name) or ()}
        for name in ("asyncpg", "sh", "pycryptodomex", "frozendict")
    }
    assert found == {
        "asyncpg": {"connect"},
        "sh": {"start"},
        "pycryptodomex": {"encrypt"},
        "frozendict": set(),
    }
