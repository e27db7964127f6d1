"""`settings.yaml`: deadlines and the passphrase, and every way to be wrong."""

import pytest

from consentry.base.errors import BadDocument
from consentry.base.units import Duration
from consentry.declare.preferences import ApprovalSettings, OwnSettings
from consentry.declare.settingsfile import read_settings


def read(text: str) -> OwnSettings:
    """The settings in a text."""
    return read_settings(text.encode(), "s.yaml")


def problems(text: str) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read(text)
    return [str(each).removeprefix("s.yaml:") for each in caught.value.problems]


@pytest.mark.parametrize("text", ["{}", "approvals: {}", "approvals: {deadlines: {}}"])
def test_nothing_must_be_there(text: str) -> None:
    """The usual deadlines: five minutes, a quarter of an hour, a day; no passphrase."""
    assert read(text) == OwnSettings()
    assert read(text).approvals == ApprovalSettings(
        passphrase=False,
        escalation_deadline=Duration.parse("5min"),
        prompt_deadline=Duration.parse("15min"),
        parked_deadline=Duration.parse("24h"),
    )


@pytest.mark.parametrize("name", ["escalation", "prompt", "parked"])
def test_each_deadline_by_itself(name: str) -> None:
    """The others stay as they are."""
    found = read(f"approvals: {{deadlines: {{{name}: 90s}}}}").approvals
    usual = ApprovalSettings()
    for each in ("escalation", "prompt", "parked"):
        key = f"{each}_deadline"
        assert getattr(found, key) == (Duration(90_000) if each == name else getattr(usual, key))


def test_a_passphrase_can_be_wanted() -> None:
    """CONTRACTS §12-files: `approvals.passphrase`."""
    assert read("approvals: {passphrase: true}").approvals == ApprovalSettings(passphrase=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("approval: {}", "1:1: approval: `approval` is not a key that is known here; did you mean `approvals`?"),
        ("approvals: true", "1:12: approvals: `true` is true or false, and a mapping is meant; write `key: value` lines; `{}` has none"),
        ("approvals: {passphrase: hunter2}", "1:25: approvals.passphrase: `hunter2` is text, and true or false is meant; write true or false"),
        ("approvals: {pasphrase: true}", "1:13: approvals.pasphrase: `pasphrase` is not a key that is known here; did you mean `passphrase`?"),
        ("approvals: {deadlines: {promt: 1h}}", "1:25: approvals.deadlines.promt: `promt` is not a key that is known here; did you mean `prompt`?"),
        ("approvals: {deadlines: {prompt: 15}}", "1:33: approvals.deadlines.prompt: this time has no unit; write a unit behind it, such as 60s"),
        ("approvals: {deadlines: {prompt: 0s}}", "1:33: approvals.deadlines.prompt: `0s` is no limit; write a time above 0 and up to 1000000000s"),
        ("approvals: {deadlines: {parked: never}}", "1:33: approvals.deadlines.parked: `never` is not a duration; write a duration such as 60s, 30d, 1hour or 1day"),
    ],
)  # fmt: skip
def test_wrong_settings(text: str, said: str) -> None:
    """The exact place, what is wrong, what to write."""
    assert problems(text) == [said]
