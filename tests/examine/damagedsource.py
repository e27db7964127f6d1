"""Source that nobody wrote: real samples damaged, fragments in any order, and Python's word on them."""

import ast
import warnings
from functools import cache

from hypothesis import strategies as st

from tests.examine.corpus.reader import samples

SOURCES = tuple(sample.content for sample in samples())
FRAGMENTS = st.sampled_from(
    [
        b"(", b")", b"[", b"]", b"{", b"}", b":", b"\n", b"\n    ", b"\t", b"\\\n", b'"""', b"'''", b"f'{", b"}'",
        b"lambda: ", b"not ", b"await ", b"yield ", b"*", b"**", b"@", b"->", b":=", b"...", b";", b"#", b"\0",
        b"\xff", b"\xef\xbb\xbf", b"\x0c", b"\r", b"\xe2\x80\xae", b"# coding: utf-7\n", b"# coding: utf-16\n",
        b"# -*- coding: rot13 -*-\n", b"# coding: \xff\n", b"import os\n", b"from . import *\n", b"del os\n",
        b"global x\n", b"nonlocal x\n", b"class A(A): pass\n", b"def f(f=f): return f\n", b"x = x\n", b"a = b; b = a\n",
        b"match x:\n case {'a': 1, **r}: pass\n", b"try: pass\nexcept* E: pass\n", b"with a as (b, *c): pass\n",
        b"for os in os: os\n", b"getattr(a, b)(c)", b"'%s' % ", b"'{}'.format(", b"'a'*999999999", b"[0]*999999999",
        b"10**999999999", b"1<<999999999", b"'x'.join(", b"chr(-1)", b"bytes([300])", b"__import__(", b"exec('exec(1)')",
        b"eval(eval(", b"if 1:\n ", b"#!/bin/sh\n", b"x[::0]", b"'%(' % {}", b"'{0.__class__}'", b"'{:999999999}'",
        b"f'{x!r:>{y}}'", b"1e999", b"0x" + b"f" * 5000, b"'\\ud800'", b"b'\\xff'.decode()", b"'\\N{BULLET}'",
    ]
)  # fmt: skip
REPEATED = (
    (b"(", b")"), (b"[", b"]"), (b"{1:", b"}"), (b"a.", b""), (b"a(", b")"), (b"not ", b""), (b"-", b""),
    (b"a+", b""), (b"a if b else ", b""), (b"lambda: ", b""), (b"lambda a=", b": a"), (b"a = ", b""),
    (b"a, ", b""), (b"a[", b"]"), (b"'a'+", b""), (b"'a'%", b""), (b"a and ", b""), (b"f(a=", b")"),
    (b"import a\n", b""), (b"def f():\n x\n", b""), (b"class A:\n x=1\n", b""), (b"x = x + x\n", b""),
    (b"a = a.b\n", b""), (b"@a\n", b""), (b"a = [a, a]\n", b""), (b"a = a or a\n", b""), (b"a = a(a)\n", b""),
    (b"a = getattr(a, a)\n", b""), (b"a = 'a' + a\n", b""), (b"a = a % a\n", b""), (b"a += 'a'\n", b""),
    (b"a = a.format(a)\n", b""), (b"from a import b as a\n", b""), (b"[a for a in ", b"]"), (b"a: ", b""),
    (b"a = {**a, **a}\n", b""), (b"a = (a, *a)\n", b""), (b"a = a[a]\n", b""), (b"a = f'{a}{a}'\n", b""),
    (b"exec('''", b"''')"), (b"try: a\nexcept a: a\n", b""), (b"def f(a=f): return f\nf = f(f)\n", b""),
    (b"a = a if a else a\n", b""), (b"a, b = b, a\n", b""), (b"a = a.a = a\n", b""), (b"a = partial(a, a)\n", b""),
)  # fmt: skip


@cache
def tree_of(content: bytes) -> ast.Module | None:
    """What Python's parser makes of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError, OverflowError):
            return None


@st.composite
def damaged(draw: st.DrawFn, contents: tuple[bytes, ...] = SOURCES) -> bytes:
    """A real one with bytes changed, dropped, moved, put in, or cut off."""
    content = bytearray(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(content)))
        match draw(st.integers(0, 5)):
            case 0:
                content[at : at + 1] = draw(st.binary(min_size=1, max_size=2))
            case 1:
                del content[at : at + draw(st.integers(1, 40))]
            case 2:
                there = draw(st.integers(0, len(content)))
                content[there:there] = content[at : at + draw(st.integers(1, 80))]
            case 3:
                content[at:at] = draw(FRAGMENTS)
            case 4:
                content[at:at] = draw(st.sampled_from(contents))[: draw(st.integers(1, 200))]
            case _:
                del content[at:]
    return bytes(content)


SOURCE = st.one_of(
    damaged(),
    st.binary(max_size=300),
    st.lists(FRAGMENTS, max_size=20).map(b"".join),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
)
