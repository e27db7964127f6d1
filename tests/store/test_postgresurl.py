"""URLs of a shared database: what is taken from them, and what is never shown."""

from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from consentry.base.errors import UsageProblem
from consentry.store.postgresurl import read_url

SECRET = "correct-horse"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of libpq's variables is set."""
    for name in ("PGHOST", "PGHOSTADDR", "PGSSLMODE", "PGSERVICE", "PGPASSWORD"):
        monkeypatch.delenv(name, raising=False)


def settings(url: str) -> dict[str, object]:
    """What libpq is told."""
    return dict(conninfo_to_dict(read_url(url).conninfo))


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_all_parts_reach_libpq_and_the_password_is_not_shown(scheme: str) -> None:
    """Database, host, port and user are named in messages; nothing else is."""
    place = read_url(f"{scheme}://ann:{SECRET}@db.example:5433/audit?passfile={SECRET}.txt")
    assert str(place) == "PostgreSQL database `audit` at `db.example` port `5433` as `ann`"
    assert SECRET not in repr(place)
    told = conninfo_to_dict(place.conninfo)
    assert (told["user"], told["password"], told["dbname"]) == ("ann", SECRET, "audit")


def test_an_escaped_password_arrives_as_it_is() -> None:
    """Every character that means something in a URL can be written."""
    assert settings("postgresql://ann:p%40%2F%3A%25%20'\\x@db.example/a")["password"] == (
        "p@/:% '\\x"
    )


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://ann:{SECRET}@db.example/audit",
        f"dbname=audit password={SECRET}",
        f"postgresql:ann:{SECRET}@db.example/audit",
        f"postgresql://ann:x@{SECRET}@db.example/audit",
        f"postgresql://ann:x/{SECRET}@db.example/audit",
        f"postgresql://ann:{SECRET}%zz@db.example/audit",
        f"postgresql://ann:{SECRET}/audit",
        f"postgresql://ann:{SECRET}@db.example/audit?{SECRET}=1",
        f"postgresql://ann:x?/{SECRET}@db.example/audit",
        f"postgresql://ann:{SECRET}@[::1/audit",
        f"postgresql://ann:{SECRET}\0@db.example/audit",
        f"postgresql://ann:{SECRET}\udc80@db.example/audit",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_repeating_it(url: str) -> None:
    """Also where libpq would take a piece of the password for a host, port or database."""
    with pytest.raises(UsageProblem) as caught:
        read_url(url)
    assert caught.value.code == "setting-value"
    assert SECRET not in f"{caught.value} {caught.value.help_line}"
    # Nor is it in what a traceback would print beneath it.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    "host", ["db.example", "192.0.2.7", "[2001:db8::1]", "localhost,db.example", "10.0.0.1"]
)
def test_a_remote_host_is_spoken_to_with_tls(host: str) -> None:
    """Unless the URL says otherwise, which it may in both directions."""
    assert settings(f"postgresql://{host}/audit")["sslmode"] == "require"
    assert settings(f"postgresql://{host}/audit?sslmode=disable")["sslmode"] == "disable"
    strict = settings(f"postgresql://{host}/audit?sslmode=verify-full")
    assert strict["sslmode"] == "verify-full"


@pytest.mark.parametrize("host", ["", "localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql"])
def test_what_stays_on_this_machine_needs_no_tls(host: str) -> None:
    """A socket, or the loopback."""
    assert "sslmode" not in settings(f"postgresql://{host}/audit")


@pytest.mark.parametrize(
    ("name", "value", "mode"),
    [
        ("PGHOST", "db.example", "require"),
        ("PGHOSTADDR", "192.0.2.7", "require"),
        ("PGHOST", "/run/postgresql", None),
    ],
)
def test_a_host_named_by_the_environment_counts(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, mode: str | None
) -> None:
    """As libpq has it, for a URL that names none."""
    monkeypatch.setenv(name, value)
    assert settings("postgresql:///audit").get("sslmode") == mode


@pytest.mark.parametrize(
    ("service", "mode"),
    [
        ("host=db.example", "require"),
        ("host=/run/postgresql", None),
        ("host=db.example\nsslmode=verify-full", None),
        ("host=db.example\nsslmode=disable", None),
    ],
)
def test_a_service_file_keeps_the_mode_it_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, service: str, mode: str | None
) -> None:
    """A stricter one must not be weakened; one that the URL names is not looked into."""
    (tmp_path / "services").write_text(f"[audit]\n{service}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    assert "sslmode" not in settings("postgresql:///audit?service=audit")
    monkeypatch.setenv("PGSERVICE", "audit")
    assert settings("postgresql:///audit").get("sslmode") == mode


def test_the_environment_may_choose_the_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """As libpq has it: what is set there is not overridden."""
    monkeypatch.setenv("PGSSLMODE", "verify-ca")
    assert "sslmode" not in settings("postgresql://db.example/audit")


def test_waiting_has_limits_unless_the_url_names_others() -> None:
    """For connecting, and for a connection whose other end is gone."""
    usual = settings("postgresql://db.example/audit")
    assert (usual["connect_timeout"], usual["tcp_user_timeout"]) == ("10", "30000")
    assert settings("postgresql://db.example/audit?connect_timeout=3")["connect_timeout"] == "3"


def test_a_password_that_became_part_of_the_user_is_not_shown() -> None:
    """An escaped colon joins the two, and messages show the user."""
    with pytest.raises(UsageProblem) as caught:
        read_url("postgresql://bob%3Asecret@db.example/a")
    assert "secret" not in str(caught.value)
