"""GUARD §extract-dynamic: a constant is what JavaScript makes of it, or it counts as computed."""

import pytest

from consentry.examine.javascript import extract_javascript
from tests.examine.extractionwords import words_of

NAMES = [
    # which function of `fs` it is
    "String.fromCharCode(65536 + 119) + 'riteFileSync'",
    "'writeFileSync,x'.split(',', 1).join('')",
    "'\uff57riteFileSync'.normalize('NFKC')",
    "Buffer.from('770072006900740065004600690' + '06c0065005300790' + '06e006300', 'hex').toString('utf-16le')",
    "Buffer.from([247,242,233,244,229,198,233,236,229,211,249,238,227]).toString('ascii')",
    "Buffer.from('xwriteFileSync').toString('utf8', 1)",
    "Buffer.from('xwriteFileSync').toString(process.argv[2], 1)",
    "Buffer.from('wri\u0174eFileSync', 'no-such')",
    "String.fromCharCode(parseInt('119_9')) + 'riteFileSync'",
    "String.fromCharCode(parseInt('119 ')) + 'riteFileSync'",
    "['write', null, 'FileSync'].join('')",
    "'xwriteFileSync'.slice(...[], 1)",
    "'w\U0001f600riteFileSync'.slice(0, 1) + 'riteFileSync'",
    "' writeFileSync'.trimEnd().slice(1)",
    "'\u212a'.toLowerCase() + 'x'",
    "unescape('%77riteFileSync')",
    "JSON.parse('\"readFileSync\"', () => 'writeFileSync')",
    "['a', 'b'].concat(x, 'readFileSync')[2]",
    "'abwriteFileSync'.substr(2, process.argv.length)",
    "{1: 'readFileSync', 0x1: 'writeFileSync'}[1]",
    "tag`readFileSync`",
    "(f => f)`readFileSync`[0]",
]

PATHS = [
    ("1 + 2 + 'x'", "read:3x"),
    ("'x' + 1 + 2", "read:x12"),
    ("true + 1 + 'x'", "read:./"),
    ("[, 'src/s', 'data/a'][1]", "read:src/s"),
    ("['data/a', /* , */ 'src/s'][1]", "read:src/s"),
    ("[...[], 'data/a', 'src/s'][1]", "read:./"),
    ("{a: 'data/a', ...{a: 'src/s'}}.a", "read:./"),
    ("{...{a: 'src/s'}, a: 'data/a'}.a", "read:data/a"),
    ("{a: 'data/a', get a() { return 'src/s' }}.a", "read:./"),
    ("{a: 'data/a', [process.argv[2]]: 'src/s'}.a", "read:./"),
    ("path.normalize('src/s', '../data')", "read:src/s"),
    ("Array.of(...[], 'data/a', 'src/s')[1]", "read:./"),
    ("decodeURI('data%2fa')", "read:./"),
    ("String.raw`data\\x2fa`", "read:./"),
    ("String.raw`data/a`", "read:data/a"),
    ("(f => f)('data/a')", "read:./"),
]

PROGRAMS = [
    ("const [, p] = ['git', 'sh'];", "proc:*"),
    ("const [, p] = [...[], 'git', 'sh'];", "proc:*"),
    ("const { a: p } = { a: 'git', ...{ a: 'sh' } };", "proc:*"),
    ("const dec = s => 'sh'; let f = dec; if (x) f = atob; const p = f('Z2l0');", "proc:*"),
    ("const f = x ? atob : s => 'sh'; const p = f('Z2l0');", "proc:*"),
    ("const p = atob('Z2l0');", "proc:git"),
    ("const a = ['git']; a.forEach((e, i, l) => { l[0] = 'sh' }); const p = a[0];", "proc:*"),
    ("const a = ['git']; a.map(function () { arguments[2][0] = 'sh' }); const p = a[0];", "proc:*"),
    ("const a = ['git']; a.some((...l) => { l[2][0] = 'sh' }); const p = a[0];", "proc:*"),
    ("const a = ['git']; a.forEach(e => use(e)); const p = a[0];", "proc:git"),
    ("const a = ['git']; a.forEach((e, i) => use(e)); const p = a[0];", "proc:git"),
    ("const [p] = [[...'sh'].join(''), 'git'];", "proc:*"),
]

HOSTS = [
    ("new URL('\\\\\\\\evil.example/x', 'https://good.example')", "net:*"),
    ("new URL('https:\\\\\\\\evil.example/x', 'https://good.example')", "net:*"),
    ("new URL('http:evil.example/x', 'https://good.example')", "net:*"),
    ("new URL('\\t//evil.example/x', 'https://good.example')", "net:*"),
    ("new URL('/\\t/evil.example/x', 'https://good.example')", "net:*"),
    ("new URL('/' + x, 'https://good.example')", "net:*"),
    ("new URL('/v1/x?y=1', 'https://good.example')", "net:good.example:443"),
    ("new URL(`/v1/${x}`, 'https://good.example')", "net:good.example:443"),
    ("'https://evil.example\\\\@good.example/'", "net:*"),
    ("`https://evil.example\\\\@good.example/${x}`", "net:*"),
    ("' https://good.example/'", "net:*"),
    ("'/\\t/evil.example/'", "net:*"),
]


@pytest.mark.parametrize("name", NAMES)
def test_function_by_name(name: str) -> None:
    """A member of `fs` whose name is not certain may be the one that writes."""
    content = f"const fs = require('fs'); fs[({name})]('src/x', '')"
    assert "write:" in words_of(extract_javascript(content.encode()))


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_path(path: str, expected: str) -> None:
    """A path is the one that is opened, or any."""
    content = f"const fs = require('fs'), path = require('path'); fs.readFileSync(({path}))"
    assert expected in words_of(extract_javascript(content.encode())).split()


@pytest.mark.parametrize(("code", "expected"), PROGRAMS)
def test_program(code: str, expected: str) -> None:
    """A name is worth what its place in a pattern or the function that made it gives."""
    content = f"{code} require('child_process').spawn(p)"
    assert expected in words_of(extract_javascript(content.encode())).split()


@pytest.mark.parametrize(("address", "expected"), HOSTS)
def test_host(address: str, expected: str) -> None:
    """GUARD §extract-net: an address that readers take apart differently names any host."""
    assert words_of(extract_javascript(f"fetch({address})".encode())) == expected


def test_options_that_are_open() -> None:
    """A host that a spread, a getter or a computed key may replace is any host."""
    for after in ("...o", "get host() { return x }", "[k]: x", "__proto__: o"):
        content = (
            f"require('http').get({{ {'' if '__' in after else 'host: `a.example`,'} {after} }})"
        )
        assert "net:*" in words_of(extract_javascript(content.encode())).split(), after
