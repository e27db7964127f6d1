"""The words of the tables: every form of an effect, and what has none."""

import pytest

from consentry.examine.knowledge.effects import (
    Argument,
    Condition,
    Effect,
    Power,
    parse_effect,
)


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("read", Effect(Power.READ)),
        ("write@0/path", Effect(Power.WRITE, arguments=(Argument(0, "path"),))),
        ("read=/etc/passwd", Effect(Power.READ, "/etc/passwd")),
        ("read@self", Effect(Power.READ, arguments=(Argument(None, None, is_self=True),))),
        (
            "open@0/file,1/mode",
            Effect(Power.OPEN, arguments=(Argument(0, "file"), Argument(1, "mode"))),
        ),
        ("net", Effect(Power.NET)),
        ("net:any", Effect(Power.NET, is_any=True)),
        ("net=api.example.com:443", Effect(Power.NET, "api.example.com:443")),
        ("proc@/args", Effect(Power.PROC, arguments=(Argument(None, "args"),))),
        ("env@2", Effect(Power.ENV, arguments=(Argument(2, None),))),
        ("load=any", Effect(Power.LOAD, "any")),
        (
            "crypto=rsa@1/key_size",
            Effect(Power.CRYPTO, "rsa", arguments=(Argument(1, "key_size"),)),
        ),
        ("tool=browser", Effect(Power.TOOL, "browser")),
        ("-> socket.socket", Effect(Power.RETURNS, "socket.socket")),
        ("-> module@0/name", Effect(Power.RETURNS, "module", arguments=(Argument(0, "name"),))),
    ],
)
def test_forms(text: str, effect: Effect) -> None:
    """GUARD §extract-1: each form of docs/reference/guard-tables.md has one meaning."""
    assert parse_effect(text) == effect


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (
            "load=any ?/allow_pickle=True",
            Condition(Argument(None, "allow_pickle"), ("True",), negated=False),
        ),
        (
            "load=any ?1/Loader!=SafeLoader|CSafeLoader",
            Condition(Argument(1, "Loader"), ("SafeLoader", "CSafeLoader"), negated=True),
        ),
        ("write ?/filename=*", Condition(Argument(None, "filename"), ("*",), negated=False)),
    ],
)
def test_conditions(text: str, condition: Condition) -> None:
    """An effect may hold only for some arguments."""
    assert parse_effect(text).condition == condition


@pytest.mark.parametrize(
    "text", ["", "reads", "net@", "net@x", "read @0", "load=", "->", "-> ", "net ?", "proc@0,"]
)
def test_what_has_not_the_form_is_refused(text: str) -> None:
    """A slip in a table must not read as an effect that gives nothing."""
    with pytest.raises(ValueError, match="is not an effect"):
        parse_effect(text)
