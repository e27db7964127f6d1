"""Code as people save it, with what the contract says about it: the band, and the set.

Written from the table of permission sets and the list of bands, not from what inference answers.
"""

from enum import StrEnum
from typing import NamedTuple

from consentry.examine.inference import Language
from consentry.surface.permission_sets import PermissionSet

MINIMAL = PermissionSet.MINIMAL
READONLY = PermissionSet.READONLY
FILESYSTEM = PermissionSet.FILESYSTEM
NETWORK_API = PermissionSet.NETWORK_API
MCP_STANDARD = PermissionSet.MCP_STANDARD


class Band(StrEnum):
    """The bands of CONTRACTS §5, and two of ours.

    A computed path is less sure than a constant, and what no set opens stays below the threshold,
    so that the code runs as `minimal`.
    """

    NO_IO = "no-io"
    ONE = "one"
    SEVERAL = "several"
    MIXED = "mixed"
    COMPUTED_PATH = "computed-path"
    UNKNOWN = "unknown"
    UNCOVERED = "uncovered"
    UNPARSABLE = "unparsable"


CONFIDENCE = {
    Band.NO_IO: (0.95, 0.95),
    Band.ONE: (0.90, 0.95),
    Band.SEVERAL: (0.95, 0.95),
    Band.MIXED: (0.70, 0.80),
    Band.COMPUTED_PATH: (0.70, 0.89),
    Band.UNKNOWN: (0.50, 0.50),
    Band.UNCOVERED: (0.51, 0.69),
    Band.UNPARSABLE: (0.0, 0.0),
}
"""The least and the most of each."""


class Sample(NamedTuple):
    """One piece of code, and what is expected of it."""

    band: Band
    permission_set: PermissionSet
    code: str
    patterns: tuple[str, ...] = ()
    """Some that must be among those detected."""


PYTHON = (
    Sample(Band.NO_IO, MINIMAL, "result = 1 + 2"),
    Sample(Band.NO_IO, MINIMAL, ""),
    Sample(Band.NO_IO, MINIMAL, "total = sum(item['price'] for item in items)\nreturn total"),
    Sample(Band.NO_IO, MINIMAL, "import json, math, re\nre.findall(r'\\d+', text.strip())"),
    Sample(
        Band.NO_IO, MINIMAL, "import hashlib\nresult = hashlib.sha256(text.encode()).hexdigest()"
    ),
    Sample(Band.NO_IO, MINIMAL, "print('a line for whoever watches')"),
    Sample(Band.NO_IO, MINIMAL, "from urllib.parse import quote\nresult = quote(text)"),
    Sample(Band.NO_IO, MINIMAL, "rows.append({'a': 1})\nrows.sort(key=len)\nresult = rows"),
    Sample(Band.NO_IO, MINIMAL, "match value:\n    case {'kind': k, **rest}:\n        result = k"),
    Sample(
        Band.ONE, READONLY, "result = open('./data/a.csv').read()", ("open", "read:./data/a.csv")
    ),
    Sample(Band.ONE, READONLY, "from pathlib import Path\nreturn Path('data/a.txt').read_text()"),
    Sample(Band.ONE, READONLY, "import pandas as pd\nresult = len(pd.read_csv('data/a.csv'))"),
    Sample(Band.ONE, READONLY, "import os\nresult = os.listdir('data')", ("read:./data",)),
    Sample(Band.ONE, READONLY, "open('/tmp/kept.txt').read()", ("read:/tmp/kept.txt",)),
    Sample(Band.ONE, FILESYSTEM, "result = open('README.md').read()", ("read:./README.md",)),
    Sample(Band.ONE, FILESYSTEM, "open('data/../notes.txt').read()", ("read:./notes.txt",)),
    Sample(Band.ONE, FILESYSTEM, "with open('/tmp/out.txt', 'w') as out:\n    out.write('a')"),
    Sample(Band.ONE, FILESYSTEM, "import tempfile\ntempfile.NamedTemporaryFile()"),
    Sample(
        Band.ONE,
        NETWORK_API,
        "import urllib.request as web\nweb.urlopen('https://api.example.com/v1').read()",
        ("net:api.example.com:443", "urllib.request.urlopen"),
    ),
    Sample(Band.ONE, NETWORK_API, "import requests\nresult = requests.get(url).json()", ("net:*",)),
    Sample(
        Band.ONE, MCP_STANDARD, "open('output/report.txt', 'w')", ("write:./output/report.txt",)
    ),
    Sample(Band.ONE, MCP_STANDARD, "import os\nresult = os.environ['HOME']", ("env:HOME",)),
    Sample(Band.SEVERAL, READONLY, "open('data/a.csv'), open('data/b.csv')"),
    Sample(Band.SEVERAL, FILESYSTEM, "import shutil\nshutil.copy('data/a.csv', '/tmp/a.csv')"),
    Sample(
        Band.SEVERAL,
        NETWORK_API,
        "import requests\nrequests.get('https://a.example')\nrequests.post('https://b.example')",
        ("net:a.example:443", "net:b.example:443"),
    ),
    Sample(Band.SEVERAL, MCP_STANDARD, "import os\nos.getenv('HOME'), os.getenv('PATH')"),
    Sample(Band.MIXED, MCP_STANDARD, "import requests\nrequests.get(open('data/url.txt').read())"),
    Sample(
        Band.MIXED,
        MCP_STANDARD,
        "import os, requests\nrequests.get('https://a.example', headers={'x': os.getenv('HOME')})",
    ),
    Sample(
        Band.MIXED,
        MCP_STANDARD,
        "import os, requests\nopen('data/' + name)\nos.getenv('HOME')\nrequests.get('https://a.example')",
    ),
    Sample(Band.COMPUTED_PATH, FILESYSTEM, "result = open(name).read()", ("read:./",)),
    Sample(Band.COMPUTED_PATH, FILESYSTEM, "open('data/' + name).read()"),
    Sample(Band.UNKNOWN, MCP_STANDARD, "mcp.server.tool(query='a')", ("tool:mcp.server.tool",)),
    Sample(Band.UNKNOWN, MCP_STANDARD, "result = call_tool('search')", ("tool:call_tool",)),
    Sample(Band.UNKNOWN, MCP_STANDARD, "async def f(session):\n    await session.call_tool('x')"),
    Sample(Band.UNKNOWN, MCP_STANDARD, "tools['search']('a')"),
    Sample(Band.UNKNOWN, MCP_STANDARD, "import ourthing\nourthing.go()", ("import:ourthing",)),
    Sample(Band.UNKNOWN, MCP_STANDARD, "result = eval(text)", ("eval", "load:*")),
    Sample(Band.UNKNOWN, MCP_STANDARD, "from .sibling import work\nwork()"),
    Sample(Band.UNCOVERED, MINIMAL, "import subprocess\nsubprocess.run(['ls'])", ("run:ls",)),
    Sample(Band.UNCOVERED, MINIMAL, "import os\nos.system('make all')", ("run:make",)),
    Sample(Band.UNCOVERED, MINIMAL, "import ctypes\nctypes.CDLL('libc.so.6')", ("ffi",)),
    Sample(Band.UNCOVERED, MINIMAL, "open('/etc/passwd').read()", ("read:/etc/passwd",)),
    Sample(Band.UNCOVERED, MINIMAL, "open('../elsewhere').read()"),
    Sample(Band.UNCOVERED, MINIMAL, "open('notes.txt', 'w').write('a')", ("write:./notes.txt",)),
    Sample(Band.UNCOVERED, MINIMAL, "import os\nos.environ['API_KEY']", ("env:API_KEY",)),
    Sample(
        Band.UNCOVERED,
        NETWORK_API,
        "import os, requests\nrequests.get('https://a.example', auth=os.getenv('API_KEY'))",
        ("env:API_KEY", "net:a.example:443"),
    ),
    Sample(Band.UNCOVERED, READONLY, "import os\nos.remove('a')\nopen('data/a').read()"),
    Sample(Band.UNPARSABLE, MINIMAL, "def f(:\n"),
    Sample(Band.UNPARSABLE, MINIMAL, "const x = await fetch(url);"),
    Sample(Band.UNPARSABLE, MINIMAL, "x = 1\0"),
    Sample(Band.UNPARSABLE, MINIMAL, "x = '\ud800'"),
)

# What JavaScript and TypeScript share; read as both.
SCRIPT = (
    Sample(Band.NO_IO, MINIMAL, "const x = 1 + 2;\nreturn x;"),
    Sample(Band.NO_IO, MINIMAL, ""),
    Sample(
        Band.NO_IO, MINIMAL, "return items.map((item) => item.price).reduce((a, b) => a + b, 0);"
    ),
    Sample(Band.NO_IO, MINIMAL, "console.log('a line');\nawait Promise.resolve(JSON.parse(text));"),
    Sample(Band.NO_IO, MINIMAL, "return user.name.trim().toUpperCase();"),
    Sample(Band.NO_IO, MINIMAL, "import { z } from 'npm:zod';\nreturn z.string().parse(text);"),
    Sample(
        Band.ONE,
        NETWORK_API,
        "const response = await fetch('https://api.example.com/data');\nreturn await response.json();",
        ("fetch", "net:api.example.com:443"),
    ),
    Sample(Band.ONE, NETWORK_API, "return (await fetch(url)).status;", ("fetch", "net:*")),
    Sample(Band.ONE, NETWORK_API, "new WebSocket('wss://live.example/feed');"),
    Sample(
        Band.ONE,
        READONLY,
        "return await Deno.readTextFile('./data/a.csv');",
        ("Deno.readTextFile", "read:./data/a.csv"),
    ),
    Sample(
        Band.ONE, READONLY, "for await (const each of Deno.readDir('./data/')) names.push(each);"
    ),
    Sample(Band.ONE, FILESYSTEM, "return await Deno.readTextFile('README.md');"),
    Sample(Band.ONE, FILESYSTEM, "import fs from 'node:fs';\nreturn fs.readFileSync('a.txt');"),
    Sample(Band.ONE, FILESYSTEM, "await Deno.writeTextFile('/tmp/a.txt', 'a');"),
    Sample(Band.ONE, FILESYSTEM, "const place = await Deno.makeTempFile();"),
    Sample(Band.ONE, MCP_STANDARD, "await Deno.writeTextFile('./output/a.txt', text);"),
    Sample(Band.ONE, MCP_STANDARD, "return Deno.env.get('HOME');", ("Deno.env.get", "env:HOME")),
    Sample(
        Band.SEVERAL,
        NETWORK_API,
        "await Promise.all([fetch('https://a.example'), fetch('https://b.example')]);",
    ),
    Sample(
        Band.SEVERAL,
        READONLY,
        "const { readTextFile } = Deno;\nreadTextFile('data/a'); readTextFile('data/b');",
    ),
    Sample(
        Band.MIXED,
        MCP_STANDARD,
        "const url = await Deno.readTextFile('data/url');\nawait fetch('https://a.example', { url });",
    ),
    Sample(
        Band.MIXED,
        MCP_STANDARD,
        "await fetch('https://a.example', { body: Deno.env.get('HOME') + Deno.readTextFileSync(f) });",
    ),
    Sample(Band.COMPUTED_PATH, FILESYSTEM, "return await Deno.readTextFile(path);"),
    Sample(Band.COMPUTED_PATH, READONLY, "return await Deno.readTextFile(`./data/${name}.csv`);"),
    Sample(
        Band.UNKNOWN,
        MCP_STANDARD,
        "return await mcp.server.tool({ query: 'a' });",
        ("tool:mcp.server.tool",),
    ),
    Sample(Band.UNKNOWN, MCP_STANDARD, "return await callTool('search');", ("tool:callTool",)),
    Sample(Band.UNKNOWN, MCP_STANDARD, "return await mcp['files'].read_file({ path });"),
    Sample(Band.UNKNOWN, MCP_STANDARD, "import { go } from 'npm:our-own-thing';\ngo();"),
    Sample(Band.UNKNOWN, MCP_STANDARD, "import { go } from './other.js';\ngo();"),
    Sample(Band.UNKNOWN, MCP_STANDARD, "return eval(text);"),
    Sample(Band.UNKNOWN, MCP_STANDARD, "return new Function('return 1')();"),
    Sample(Band.UNCOVERED, MINIMAL, "await new Deno.Command('ls').output();", ("run:ls",)),
    Sample(Band.UNCOVERED, MINIMAL, "Deno.dlopen('libc.so.6', {});", ("ffi",)),
    Sample(Band.UNCOVERED, MINIMAL, "await Deno.readTextFile('/etc/passwd');"),
    Sample(Band.UNCOVERED, MINIMAL, "await Deno.writeTextFile('notes.txt', 'a');"),
    Sample(Band.UNCOVERED, MINIMAL, "return Deno.env.get('API_KEY');", ("env:API_KEY",)),
    Sample(Band.UNCOVERED, MINIMAL, "return Deno.hostname();", ("sys:hostname",)),
    Sample(
        Band.UNCOVERED,
        NETWORK_API,
        "await fetch('https://a.example');\nnew Deno.Command('ls').spawn();",
        ("fetch", "net:a.example:443", "run:ls"),
    ),
    Sample(Band.UNPARSABLE, MINIMAL, "const = ;"),
    Sample(Band.UNPARSABLE, MINIMAL, "def f():\n    return 1\n"),
    Sample(Band.UNPARSABLE, MINIMAL, "return '\ud800';"),
)

# What only TypeScript has.
TYPED = (
    Sample(
        Band.NO_IO, MINIMAL, "interface A { a: number }\nconst a: A = { a: 1 };\nreturn a as A;"
    ),
    Sample(Band.NO_IO, MINIMAL, "enum E { A, B }\nfunction same<T>(a: T): T { return a }"),
    Sample(Band.ONE, NETWORK_API, "const r: Response = await fetch('https://a.example');"),
    Sample(Band.ONE, READONLY, "const t: string = await Deno.readTextFile('data/a')!;"),
    Sample(Band.UNKNOWN, MCP_STANDARD, "declare function search(q: string): string;\nsearch('a');"),
    Sample(Band.UNPARSABLE, MINIMAL, "const a: = 1;"),
)

ALL: tuple[tuple[Language, Sample], ...] = (
    *((Language.PYTHON, sample) for sample in PYTHON),
    *((Language.JAVASCRIPT, sample) for sample in SCRIPT),
    *((Language.TYPESCRIPT, sample) for sample in (*SCRIPT, *TYPED)),
)
