"""Whatever a package holds, it is answered with one code and one path, in bounded time and memory."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consentry.declare.modulepackage import KEYS, MOST_BYTES, MOST_DEPTH
from tests.declare.modulesamples import package_bytes, package_document
from tests.declare.packageanswers import (
    MARK,
    Answer,
    Place,
    answer,
    answer_to,
    name_of,
    path_of,
    places,
    text_with,
    value_at,
    with_value,
    without,
)
from tests.declare.packagebombs import BOMBS

IS_FULL: Final = os.environ.get("CONSENTRY_PROOF") == "full"
BOMB_BYTES: Final = 7_900 << 10 if IS_FULL else 256 << 10
MEASURED: Final = list(BOMBS) if IS_FULL else ["arrays", "objects-with-a-key", "keys"]
MEASURED_BYTES: Final = 7_900 << 10 if IS_FULL else 1 << 20
SAMPLE: Final = package_document()
PLACES: Final = list(places(SAMPLE))
OBJECTS: Final = [p for p in ((), *PLACES) if isinstance(value_at(SAMPLE, p), dict)]
GARBAGE: Final = Answer("invalid-package-root", "package")
AT_EACH_PLACE: Final = pytest.mark.parametrize("place", PLACES, ids=name_of)

OPTIONAL: Final = {
    "description",
    "minAppVersion",
    "maxAppVersionExclusive",
    "label",
    "payload",
    "context",
    "expectedMutationScope",
    "capabilitiesRequested",
    "extensions",
}
OF_ROOT: Final = {
    "packageAbiVersion": "invalid-package-abi-version",
    "moduleId": "invalid-module-id",
    "moduleVersion": "invalid-module-version",
    "displayName": "invalid-display-name",
    "description": "invalid-package-key",
    "compatibility": "invalid-compatibility",
    "pluginManifest": "manifest-validation-error",
    "commandBindings": "invalid-command-binding",
    "capabilitiesRequested": "invalid-capability-shape",
    "extensions": "invalid-extension-key",
}
BY_KEY: Final = {
    "pluginId": "module-id-plugin-id-mismatch",
    "commandBindings": "invalid-command-bindings-array",
    "bindingId": "invalid-command-binding-id",
    "expectedMutationScope": "binding-mutation-scope-mismatch",
}


def is_free(place: Place) -> bool:
    """Whether any JSON may stand there."""
    inside = place[0] == "extensions" and len(place) > 1
    return inside or "payload" in place or "context" in place


def code_at(place: Place) -> str:
    """What is answered when the value at a place is missing or of another type."""
    return BY_KEY.get(str(place[-1])) or OF_ROOT[str(place[0])]


def bound_entry(binding: int) -> int:
    """The index of the entry that a binding is for."""
    ids = [each["id"] for each in SAMPLE["pluginManifest"]["ui"]]
    return ids.index(SAMPLE["commandBindings"][binding]["uiEntryId"])


def answer_without(place: Place) -> tuple[str, str | None]:
    """What the sample is answered without what stands at a place; of one that is taken, no path."""
    if is_free(place) or place[-1] in OPTIONAL or place[0] == "capabilitiesRequested":
        return "imported", None
    bindings = {bound_entry(index): index for index in range(len(SAMPLE["commandBindings"]))}
    match place:
        case ("pluginManifest", "ui", int(entry)) if entry not in bindings:
            return "imported", None
        case ("pluginManifest", "ui", int(entry)):
            path = f"package.commandBindings[{bindings[entry]}].uiEntryId"
            return "unknown-ui-entry-id", path
        case ("pluginManifest", "ui", int(entry), "action"):
            path = f"package.commandBindings[{bindings[entry]}].uiEntryId"
            return "invalid-command-binding", path
        case ("commandBindings", int(binding)):
            path = f"package.pluginManifest.ui[{bound_entry(binding)}].action"
            return "missing-binding-for-ui-action", path
    return code_at(place), path_of(place)


@AT_EACH_PLACE
def test_each_field_removed(place: Place) -> None:
    """CONTRACTS §1-order: optional ones may be missing, of all others the place is named."""
    found = answer_to(without(SAMPLE, place))
    code, path = answer_without(place)
    assert found.code == code
    assert path is None or found.path == path


OTHERS: Final[list[Any]] = [None, True, 7, "text", [], {}]


@AT_EACH_PLACE
def test_each_field_retyped(place: Place) -> None:
    """CONTRACTS §1-order: with every other type of JSON, at the place itself."""
    now = value_at(SAMPLE, place)
    kind = (int, float) if type(now) in (int, float) else type(now)
    for other in OTHERS:
        if isinstance(other, kind) and type(other) is not bool:
            continue
        found = answer_to(with_value(SAMPLE, place, other))
        if is_free(place) or (other is None and str(place[-1]).endswith(("Version", "Exclusive"))):
            assert (found.code == "imported") == (is_free(place) or place[-1] in OPTIONAL)
        else:
            assert (found.code, found.path) == (code_at(place), path_of(place))


DEEP: Final = {
    "arrays": ("[" * 10_000) + ("]" * 10_000),
    "objects": ('{"a":' * 10_000) + "1" + ("}" * 10_000),
    "both": ('[{"a":' * 5_000) + "1" + ("}]" * 5_000),
    "no-end": "[" * 10_000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_nested_10000_deep_at_each_place(kind: str) -> None:
    """CONTRACTS §12-import-garbage: wherever it is, the package is refused as a whole."""
    for place in ((), *PLACES):
        assert answer(text_with(SAMPLE, place, DEEP[kind])) == GARBAGE, place


@pytest.mark.parametrize("place", [("extensions", "x-deep"), ("commandBindings", 0, "payload")])
def test_64_deep_is_taken_and_65_is_not(place: Place) -> None:
    """CONTRACTS §12-import-garbage: objects and arrays inside each other, the root counted."""
    most = MOST_DEPTH - len(place)
    assert answer(text_with(SAMPLE, place, "[" * most + "]" * most)).code == "imported"
    assert answer(text_with(SAMPLE, place, "[" * most + "1" + "]" * most)).code == "imported"
    deeper = most + 1
    assert answer(text_with(SAMPLE, place, "[" * deeper + "]" * deeper)) == GARBAGE
    assert answer(text_with(SAMPLE, place, '{"a":' * deeper + "1" + "}" * deeper)) == GARBAGE


LARGE_PLACES: Final = PLACES if IS_FULL else PLACES[:: len(PLACES) // 4]


@pytest.mark.parametrize("place", LARGE_PLACES, ids=name_of)
def test_50_megabytes_at_a_place(place: Place) -> None:
    """CONTRACTS §12-import-garbage: refused before anything of it is read."""
    text = text_with(SAMPLE, place, '"' + "a" * 50_000_000 + '"')
    assert answer(text) == GARBAGE
    assert answer(text.encode()) == GARBAGE


def test_8_mebibytes_are_taken_and_one_byte_more_is_not() -> None:
    """CONTRACTS §12-import-garbage: counted in bytes, also of a text."""
    whole = package_bytes().ljust(MOST_BYTES)
    assert answer(whole).code == "imported"
    assert answer(whole + b" ") == GARBAGE
    assert answer(whole.decode() + " ") == GARBAGE
    wide = json.dumps(SAMPLE | {"description": "é" * 4_000_000}, ensure_ascii=False)
    assert answer(wide + " " * (MOST_BYTES - len(wide.encode()))).code == "imported"
    assert answer(wide + " " * (MOST_BYTES - len(wide.encode()) + 1)) == GARBAGE


@pytest.mark.parametrize("place", OBJECTS, ids=path_of)
def test_a_key_twice_at_each_level(place: Place) -> None:
    """CONTRACTS §12-import-garbage: with the same value, with another, known or not, escaped or not."""
    known = list(value_at(SAMPLE, place)) or ["new"]
    for key, value in ((known[0], 1), (known[-1], value_at(SAMPLE, place).get(known[-1]))):
        again = f"{json.dumps(key)}: {json.dumps(value)}, {json.dumps(key)}"
        text = json.dumps(with_value(SAMPLE, (*place, MARK), 1)).replace(f'"{MARK}"', again)
        assert answer(text) == GARBAGE
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in known[0])
    text = json.dumps(with_value(SAMPLE, (*place, MARK), 1))
    twice = f'{json.dumps(known[0])}: 1, "{escaped}"'
    assert answer(text.replace(f'"{MARK}"', twice)) == GARBAGE


IMPOSSIBLE: Final = {
    "NaN": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
    "too large for a double": "1e400",
    "whole, and too large for one": "1e20",
    "whole, and too small for one": "-9007199254740992.0",
    "too small below zero": "-1e400",
    "a whole number with gaps beside it": str(2**53),
    "the same below zero": str(-(2**53)),
    "a whole number of many digits": "9" * 5000,
    "the first half of a pair": '"\\ud800"',
    "the second half of a pair": '"a\\uDFFFb"',
    "halves in the wrong order": '"\\ude00\\ud83d"',
    "halves apart": '["\\ud83d", "\\ude00"]',
    "half of a pair in a key": '{"\\udabc": 1}',
    "half of a pair in a key that is there twice": '{"\\udabc": 1, "\\udabc": 1}',
    "a raw half of a pair": '"\ud800"',
    "a raw control character": '"a\nb"',
    "an escape that is none": '"\\x41"',
    "a number with a plus": "+1",
    "a number with a nought in front": "01",
    "a number in hexadecimal": "0x1",
    "a comment": "1 /* one */",
    "a comma too many": "[1,]",
    "single quotes": "'a'",
    "a word": "undefined",
    "nothing": "",
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_what_no_json_can_hold_at_each_place(kind: str) -> None:
    """CONTRACTS §12-import-garbage: wherever it is, the package is refused as a whole."""
    for place in ((), *PLACES):
        text = text_with(SAMPLE, place, IMPOSSIBLE[kind])
        assert answer(text) == GARBAGE, place
        assert answer(text.encode("utf-8", "surrogatepass")) == GARBAGE, place


@pytest.mark.parametrize("key", ["\\ud800", "a\\udfff"])
def test_half_of_a_pair_in_a_key_of_each_object(key: str) -> None:
    """CONTRACTS §12-import-garbage: before the key is unknown there."""
    for place in OBJECTS:
        text = json.dumps(with_value(SAMPLE, (*place, MARK), 1)).replace(MARK, key)
        assert answer(text) == GARBAGE, place


def test_what_json_can_hold() -> None:
    """The bounds from within: whole pairs, the largest whole numbers, doubles near both ends."""
    held = (
        f'["\\ud83d\\ude00", "😀", {2**53 - 1}, {-(2**53) + 1}, 1e308, 5e-324, 1e-400, -0.0, 1E2]'
    )
    text = text_with(SAMPLE, ("extensions", "x-held"), held)
    assert answer(text).code == "imported"


BYTES: Final = {
    "nothing": b"",
    "white space": b" \n",
    "a byte order mark": b"\xef\xbb\xbf" + package_bytes(),
    "UTF-16": package_bytes().decode().encode("utf-16"),
    "UTF-32": package_bytes().decode().encode("utf-32-le"),
    "a byte that is not UTF-8": package_bytes().replace(b"Note tools", b"Note\xfftools"),
    "an overlong form": package_bytes().replace(b"Note tools", b"Note\xc0\x80tools"),
    "a NUL behind": package_bytes() + b"\0",
    "two documents": package_bytes() * 2,
    "a form feed between": package_bytes().replace(b": ", b":\x0c", 1),
    "a no-break space between": package_bytes().replace(b": ", b":\xc2\xa0", 1),
    "half of it": package_bytes()[: len(package_bytes()) // 2],
    "YAML": b"packageAbiVersion: 1\nmoduleId: note-tools\n",
    "a ZIP": b"PK\x03\x04" + bytes(100),
    "a pickle": b"\x80\x04cos\nsystem\n.",
}


@pytest.mark.parametrize("kind", BYTES)
def test_bytes_that_are_no_json(kind: str) -> None:
    """CONTRACTS §12-import-garbage: one code and one path for all of them."""
    assert answer(BYTES[kind]) == GARBAGE


@pytest.mark.parametrize("text", ["[]", '"package"', "1", "1.5", "true", "null", "[{}]"])
def test_a_root_that_is_no_object(text: str) -> None:
    """CONTRACTS §1-root."""
    assert answer(text) == GARBAGE


def test_an_empty_object_lacks_the_first_key() -> None:
    """CONTRACTS §1-root, §1-abi: nothing is wrong with its keys."""
    assert answer("{}") == Answer("invalid-package-abi-version", "package.packageAbiVersion")


@pytest.mark.parametrize(
    "key", ["", " ", "moduleID", "a.b[0]", "a\nb", "\u202e", "__proto__", "😀"]
)
def test_an_unknown_key_is_in_the_path_as_it_is(key: str) -> None:
    """CONTRACTS §1-root, §12-import-path: it is escaped where it is shown, and not before."""
    assert answer_to(SAMPLE | {key: 1}) == Answer("invalid-package-key", f"package.{key}")


@pytest.mark.parametrize("name", BOMBS)
def test_a_large_package_is_answered(name: str) -> None:
    """Each in time that grows with its size only; `make prove` takes them as large as may be."""
    make, code = BOMBS[name]
    content = make(BOMB_BYTES)
    assert BOMB_BYTES * 3 // 4 < len(content.encode()) <= MOST_BYTES
    assert answer(content).code == code


@pytest.mark.parametrize("name", MEASURED)
def test_a_large_package_takes_bounded_memory(name: str) -> None:
    """At most 64 bytes for each byte of it, beside what the interpreter has."""
    child = [sys.executable, "-m", "tests.declare.packagebombs", name, str(MEASURED_BYTES)]
    root = Path(__file__).parents[2]
    ended = subprocess.run(child, cwd=root, capture_output=True, text=True, check=True)
    _, code, _, mebibytes = json.loads(ended.stdout)
    assert code == BOMBS[name][1]
    assert mebibytes <= 64 + (64 * MEASURED_BYTES >> 20)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_document_has_one_answer(document: object) -> None:
    """CONTRACTS §1-order: a package or a refusal, twice the same (`answer` compares)."""
    assert answer_to(document).code != "imported"


@given(st.sampled_from([(), *PLACES]), JSON)
@example(("capabilitiesRequested", 0), "\0")
def test_any_value_at_any_place_has_one_answer(place: Place, value: object) -> None:
    """CONTRACTS §1-order: whatever stands wherever; where anything may stand, JSON is taken."""
    text = text_with(SAMPLE, place, json.dumps(value))
    found = answer(text)
    if place and is_free(place) and found != GARBAGE:
        assert found.code == "imported"


@given(st.binary(max_size=40) | st.text(max_size=40))
def test_any_bytes_have_one_answer(content: bytes | str) -> None:
    """CONTRACTS §12-import-garbage: nothing so short is a package."""
    assert answer(content) == GARBAGE or answer(content).path.startswith("package.")


@given(st.integers(0, len(package_bytes()) - 1), st.integers(0, 255))
def test_any_byte_changed_has_one_answer(at: int, byte: int) -> None:
    """CONTRACTS §1-order: a package that is taken was taken as it is, with a digest of its own."""
    content = bytearray(package_bytes())
    content[at] = byte
    found = answer(bytes(content))
    unchanged = answer(package_bytes())
    if found == unchanged:
        assert json.loads(content) == SAMPLE
