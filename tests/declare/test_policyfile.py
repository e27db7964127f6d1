"""`policy.yaml`: what an entry must name, and every way to be wrong."""

import pytest

from consentry.base.clock import Instant
from consentry.base.errors import BadDocument
from consentry.declare.policy import CommitRule, Policy, PolicyEntry
from consentry.declare.policyfile import read_policy

DIGEST = "sha256:" + "0f" * 32
LEAST = f'{{tool: t, version: "1.0.0", digest: "{DIGEST}"}}'


def read(text: str) -> Policy:
    """The policy in a text."""
    return read_policy(text.encode(), "p.yaml")


def with_entry(more: str = "") -> str:
    """A policy with one entry, in line 3, and these keys behind the ones that must be there."""
    return f'policyVersion: "1"\nentries:\n  - {LEAST[:-1]}{more and ", "}{more}}}\n'


def problems(text: str) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read(text)
    return [str(each).removeprefix("p.yaml:") for each in caught.value.problems]


def test_the_least_entry() -> None:
    """Any arguments, this machine, no end, and the second yes is asked for."""
    assert read(with_entry()).entries == (PolicyEntry("t", "1.0.0", DIGEST),)  # type: ignore[arg-type]


def test_every_key() -> None:
    """CONTRACTS §12-policy-file: all seven, as values."""
    machine = "machine-" + "a1" * 16
    text = with_entry(
        f"arguments: [--draft, ''], machines: [{machine}, 'label:build-farm'], "
        "expires: 2027-01-31T00:00:00Z, commit: auto"
    )
    [entry] = read(text).entries
    assert entry.arguments == ("--draft", "")
    assert entry.machines == (machine, "label:build-farm")
    assert entry.expires == Instant.parse("2027-01-31T00:00:00.000Z")
    assert entry.commit is CommitRule.AUTO
    assert str(entry.where) == "p.yaml:3:5 `entries[0]`"


def test_no_arguments_at_all_is_something_else_than_any() -> None:
    """An empty list binds; a key that is left out does not."""
    assert read(with_entry("arguments: []")).entries[0].arguments == ()
    assert read(with_entry()).entries[0].arguments is None


def test_an_empty_policy_allows_nothing() -> None:
    """And has to say so."""
    assert read('policyVersion: "1"\nentries: []') == Policy()
    assert problems('policyVersion: "1"') == ["1:1: entries: this key is missing; add `entries:`"]


@pytest.mark.parametrize("version", ["2", "1.0", "0", "1.0.0"])
def test_an_unknown_version_is_refused(version: str) -> None:
    """CONTRACTS §12-policy-file: it may mean anything by the same keys."""
    assert problems(f'policyVersion: "{version}"\nentries: []') == [
        (
            f"1:16: policyVersion: version {version} of this document is not known, only 1; "
            'write "1" if it follows that, or install a release that knows it'
        )
    ]


def test_what_an_entry_must_name() -> None:
    """CONSENT §base-4: one tool at one version and digest; two bad entries are not called the same."""
    text = 'policyVersion: "1"\nentries:\n  - {}\n  - {}\n'
    assert problems(text) == [
        f"{line}:5: entries[{line - 3}].{key}: this key is missing; add `{key}:`"
        for line in (3, 4)
        for key in ("tool", "version", "digest")
    ]


@pytest.mark.parametrize("wildcard", ["'*'", "build-*", "Build", "a/b", "''"])
def test_no_tool_is_named_by_a_wildcard(wildcard: str) -> None:
    """CONSENT §base-4: there are named tools only."""
    [said] = problems(with_entry().replace("tool: t", f"tool: {wildcard}"))
    assert said.startswith("3:12: entries[0].tool: ")


@pytest.mark.parametrize(
    "digest", ["sha256:0f", "'*'", "sha256:" + "0F" * 32, "sha512:" + "0f" * 64, "0f" * 32]
)
def test_a_digest_is_whole(digest: str) -> None:
    """Nothing shorter, nothing else."""
    [said] = problems(with_entry().replace(f'"{DIGEST}"', digest))
    assert said.startswith("3:41: entries[0].digest: `")
    assert said.endswith("copy it whole from `consentry tool show NAME`, with `sha256:`")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("argument: []", "`argument` is not a key that is known here; did you mean `arguments`?"),
        ("arguments: --draft", "`--draft` is text, and a list is meant; write a list; `[]` is an empty one"),
        ("machines: []", "an entry for no machine never holds; name one, or leave the key out"),
        ("machines: [laptop]", "`laptop` is not a machine; write its id as `consentry status` shows it, or `label:` and the label of a fleet"),
        ("machines: ['label:a', 'label:a']", "this is already in line 3; keep one of the two"),
        ("expires: 2027-01-31", "`2027-01-31` is not a time in ISO-8601, UTC, with a final Z; write a time such as 2026-01-31T09:30:00.000Z"),
        ("expires: 30d", "`30d` is not a time in ISO-8601, UTC, with a final Z; write a time such as 2026-01-31T09:30:00.000Z"),
        ("commit: always", "`always` is not one of ask, auto; write one of ask, auto"),
        ("commit: true", '`true` is true or false, and text is meant; put it in quotes: "true"'),
    ],
)  # fmt: skip
def test_wrong_key(more: str, said: str) -> None:
    """What is wrong, what to write."""
    [found] = problems(with_entry(more))
    assert found.endswith(f": {said}")


def test_two_entries_for_the_same_are_refused() -> None:
    """They could only contradict each other; other arguments are something else."""
    text = f'policyVersion: "1"\nentries:\n  - {LEAST}\n  - {LEAST[:-1]}, commit: auto}}\n'
    assert problems(text) == ["4:5: entries[1]: this is already in line 3; keep one of the two"]
    assert len(read(text.replace("commit: auto", "arguments: [a]")).entries) == 2
