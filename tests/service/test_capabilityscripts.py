"""How saved code becomes a script, and how its result is told apart from what it prints."""

import json
import os
import subprocess
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import UsageProblem
from consentry.enforce.native.snippets import MOST_RESULT
from consentry.enforce.native.streamends import Io
from consentry.service.capabilityscripts import FOLDER, plain_name, script_of
from consentry.service.resultline import ResultLine, result_apart, said_at_the_end
from tests.denos import deno_or_skip
from tests.service.capabilityplaces import JAVASCRIPT, TYPESCRIPT, Language

MARK = b"consentry-result-0123:"


def by_deno(code: str, language: Language = TYPESCRIPT, **arguments: Any) -> tuple[Any, Any, str]:
    """What the script gives back by Deno alone, what it raised, and what it printed."""
    deno = deno_or_skip()
    script = script_of("it", language, code, arguments)
    words = [
        word
        for name, value in arguments.items()
        for word in ("--arg", f"{name}={json.dumps(value)}")
    ]
    ending = "ts" if language is TYPESCRIPT else "js"
    with TemporaryDirectory() as cache:
        done = subprocess.run(
            [deno, "run", "--no-prompt", "--no-config", "--ext", ending, "-", *words],
            input=script.content,
            capture_output=True,
            check=False,
            env={"DENO_DIR": cache, "NO_COLOR": "1"},
        )
    line = ResultLine(script.mark)
    printed = line.pass_on(done.stdout, is_last=True)
    result, error = line.answer()
    return result, error, printed.decode()


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("return 1 + 1", 2),
        ("return await Promise.resolve([1, 'x', null])", [1, "x", None]),
        ("", None),
        ("return undefined // the end", None),
        ("if (true) { return { a: 1 } }\nreturn 2", {"a": 1}),
        ("#!/usr/bin/env deno\nreturn 1", 1),
        ("\ufeffreturn 1", 1),
        ("type A = { n: number };\nconst a: A = { n: 1 };\nreturn a as unknown", {"n": 1}),
        ("interface A { n: number }\nenum B { C = 4 }\nreturn B.C satisfies number", 4),
        ('import { join } from "node:path";\nreturn join("a", "b")', "a/b"),
        ('import {\n  join, // both\n  sep,\n} from "node:path";\nreturn join("a", sep)', "a/"),
        (
            'import * as path from "node:path"; import type { A } from "./a.ts"\nreturn path.sep',
            "/",
        ),
        ('const { sep } = await import("node:path"); return sep', "/"),
        ("export const n: number = 4;\nreturn n", 4),
        ("export default function four(): number { return 4 }\nreturn four()", 4),
        ("export class A { n = 4 }\nexport { A as B };\nreturn new A().n", 4),
        ('const text = "import x from y; export const z";\nreturn text.length', 31),
        ("return import.meta.main", True),
    ],
)
def test_what_code_gives_back(code: str, result: object) -> None:
    """It may return and await anywhere, import at the top, and be typed."""
    assert by_deno(code)[:2] == (result, None)


def test_arguments_are_constants() -> None:
    """Each is there by its name, as the JSON value it was given as; the code may shadow it."""
    values = {"n": 1.5, "words": ["a", {"b": "`${1}`\u2028"}], "$x": None}
    assert by_deno("return [n, words, $x]", **values)[0] == list(values.values())
    assert by_deno("const n = 2; return n", n=1)[0] == 2


@pytest.mark.parametrize("name", ["await", "not a name", "", "a-b", "Deno", "a){", "1a", "ä"])
def test_what_can_be_no_constant_is_refused(name: str) -> None:
    """Before anything runs."""
    with pytest.raises(UsageProblem):
        script_of("it", JAVASCRIPT, "return 1", [name])


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("throw new RangeError('too far')", "RangeError", "too far"),
        ("return nothing.at.all", "ReferenceError", "nothing is not defined"),
        ("throw 'a text'", "string", "a text"),
        ("setTimeout(() => { throw new TypeError('late') }, 1); return 1", "TypeError", "late"),
        ("Promise.reject(new TypeError('lost')); return 1", "TypeError", "lost"),
        ("return 10n", "ResultNotJson", "TypeError: Do not know how to serialize a BigInt"),
        ("const a = {}; a.a = a; return a", "ResultNotJson", None),
        ("Deno.exit(0)", "NoResult", None),
    ],
)
def test_what_code_raises(code: str, kind: str, message: str | None) -> None:
    """The name and the message of what was not caught."""
    result, error, _ = by_deno(code, JAVASCRIPT)
    assert result is None
    assert error.type == kind
    assert message is None or error.message == message


def test_errors_say_the_line_of_the_code() -> None:
    """What stands around it takes no line of its own."""
    code = 'import { join } from "node:path";\n\nthrow new Error(join("a", "b"))'
    _, error, _ = by_deno(code)
    assert ":3:" in error.traceback.splitlines()[1]


def test_what_is_printed_stays() -> None:
    """With and without an end of line before the result."""
    assert by_deno("console.log('a'); return 1") == (1, None, "a\n")
    code = "Deno.stdout.writeSync(new TextEncoder().encode('no end')); return 1"
    assert by_deno(code) == (1, None, "no end")


def test_the_mark_is_of_one_run() -> None:
    """Two scripts of the same code have two."""
    first, second = (script_of("it", TYPESCRIPT, "return 1", ()) for _ in range(2))
    assert first.mark != second.mark
    assert first.path == FOLDER / "it.ts"


@pytest.mark.parametrize(
    ("name", "plain"),
    [("word-count", "word-count"), ("../x", "_x"), ("..", "code"), ("a b/ä", "a_b_")],
)
def test_a_name_is_a_files_name(name: str, plain: str) -> None:
    """Ids of tasks are anybody's words."""
    assert plain_name(name) == plain


@given(
    parts=st.lists(st.binary(max_size=40)),
    sizes=st.lists(st.integers(min_value=1, max_value=30), min_size=1),
    has_end=st.booleans(),
)
def test_the_result_is_cut_out_wherever_the_stream_is_cut(
    parts: list[bytes], sizes: list[int], *, has_end: bool
) -> None:
    """Property: everything else passes, byte for byte, and the result is found."""
    printed = b"".join(parts)
    told = MARK + b'{"ok": true, "result": [1]}' + (b"\n" if has_end else b"")
    behind = b"behind" if has_end else b""
    stream, line, passed = printed + told + behind, ResultLine(MARK), b""
    at = turn = 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        passed += line.pass_on(stream[at : at + size])
        at, turn = at + size, turn + 1
    passed += line.pass_on(b"", is_last=True)
    assert passed == printed + behind
    assert line.answer() == ([1], None)


@given(st.binary())
def test_a_forged_result_is_at_most_an_error(content: bytes) -> None:
    """Property: nothing that is printed behind the mark raises here."""
    line = ResultLine(MARK)
    line.pass_on(MARK + content, is_last=True)
    line.answer()


def test_a_result_has_a_largest_size() -> None:
    """What is beyond it is not kept in memory either."""
    line = ResultLine(MARK)
    line.pass_on(MARK)
    for _ in range(10):
        line.pass_on(b"x" * (MOST_RESULT // 5))
    line.pass_on(b"\n")
    _, error = line.answer()
    assert error is not None
    assert error.type == "ResultTooLarge"


@pytest.mark.parametrize("number", [b"NaN", b"-Infinity", b"1e999"])
def test_a_number_that_no_json_has_is_no_result(number: bytes) -> None:
    """Code that finds the mark may say anything; what cannot be told on is not taken for a result."""
    line = ResultLine(MARK)
    line.pass_on(MARK + b'{"ok":true,"result":[' + number + b"]}\n", is_last=True)
    result, error = line.answer()
    assert result is None
    assert error is not None
    assert error.type == "NoResult"


def test_the_last_words_of_deno() -> None:
    """For what never came to say anything: a mistake of spelling."""
    said = b"\x1b[31merror\x1b[0m: SyntaxError: Expression expected\n  at x\n"
    error = said_at_the_end(said)
    assert error is not None
    assert (error.type, error.message) == ("SyntaxError", "Expression expected")
    assert said_at_the_end(b"error of mine") is None


def test_what_cannot_be_loaded_is_told_in_the_words_of_deno() -> None:
    """An import that leads nowhere ends code before it begins; its own words are no such error."""
    said = b'\x1b[31merror\x1b[0m: Module not found "file:///x.ts".\n    at file:///capability/a.ts:1:19\n'
    error = said_at_the_end(said)
    assert error is not None
    assert (error.type, error.message) == ("ModuleError", 'Module not found "file:///x.ts".')
    assert said_at_the_end(b"error: of mine\nat home") is None


def test_what_is_printed_is_handed_on_while_it_comes() -> None:
    """Where output leads somewhere, it arrives without the result, before the end."""
    reader, writer = os.pipe()
    io = Io(stdout=writer)
    with result_apart(MARK, io) as relay:
        assert io.stdout is not None
        os.write(io.stdout, b"first\n")
        assert os.read(reader, 100) == b"first\n"
        os.write(io.stdout, MARK + b'{"ok":true,"result":3}\nlast')
        assert relay.answer(b"") == (3, None)
    assert io.stdout == writer
    os.close(writer)
    assert os.read(reader, 100) == b"last"
    os.close(reader)
