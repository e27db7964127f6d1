"""GUARD §extract-1: what JavaScript may do is found however it is written, and nothing else is."""

import pytest

from consentry.examine.javascript import Dialect, extract_javascript
from tests.examine.extractionwords import as_expected, words_of

CASES = [
    # imports, in every spelling
    ('import "child_process"', "proc:"),
    ('import cp from "node:child_process"', "proc:"),
    ('import * as cp from "child_process"; cp.exec("ls")', "proc: proc:ls"),
    ('import { exec as run } from "child_process"; run("ls -l /")', "proc: proc:ls"),
    (
        'import cp, { spawn } from "child_process"; cp.default.execSync("a"); spawn("b")',
        "proc: proc:a proc:b",
    ),
    ('const cp = require("child_process"); cp.execFile("git", ["x"])', "proc: proc:git"),
    ('const { exec: run } = require("child_process"); run("ls")', "proc: proc:ls"),
    ('const { exec: run = x } = require("child_process"); run("ls")', "proc: proc:ls"),
    ('let { spawn } = require("node:child_process"); spawn(program)', "proc: proc:*"),
    ('require("child_process").spawnSync("make")', "proc: proc:make"),
    ('var a; a = require("child_process"); a.exec("x y")', "proc: proc:x"),
    ('import("child_process").then(m => m.exec("ls"))', "proc: proc:ls"),
    ('import("child_process").then(({ exec }) => exec("ls"))', "proc: proc:ls"),
    ('const m = await import("child_process"); m.exec("ls")', "proc: proc:ls"),
    ('const { default: cp } = await import("child_process"); cp.exec("ls")', "proc: proc:ls"),
    ('export { exec } from "child_process"', "proc: proc:*"),
    ('export * from "child_process"', "proc: proc:*"),
    ('export * from "./own.js"; export { a } from "../b"', ">./own.js >../b"),
    (
        'import x from "./x"; const y = require("../y.json"); import("./z.js")',
        ">./x >../y.json >./z.js",
    ),
    ('import _ from "lodash"; import get from "lodash/get"', ""),
    ('import x from "left-of-nowhere"', "?import-npm:left-of-nowhere"),
    ('import x from "@some/thing/deep/file"', "?import-npm:@some/thing"),
    ('require("left-of-nowhere/sub")', "?import-npm:left-of-nowhere"),
    ('import x from "npm:axios@1"', "net:"),
    ('import x from "jsr:@std/x"', "?import-jsr:@std/x"),
    (
        'import x from "https://deno.land/x/y.ts"',
        "net:deno.land:443 ?import-https://deno.land/x/y.ts",
    ),
    ('import("data:text/javascript,alert(1)")', "load:ANY"),
    ('require("/opt/x.js")', "read:/opt/x.js read:ABSOLUTE_PATH ?import-file:/opt/x.js"),
    ("import(name)", "load:ANY"),
    ("import(`./plugins/${name}.js`)", "load:ANY"),
    ("require(name)", "load:ANY"),
    ('require(flag ? "fs" : "child_process").exec("ls")', "proc: proc:ls"),
    ("const load = require; load(name)", "load:ANY"),
    ("collect(require)", "load:ANY"),
    (
        'import { createRequire } from "module"; const r = createRequire(import.meta.url); r("child_process").exec("ls")',
        "proc: proc:ls",
    ),
    ('require("module")._load("child_process").exec("ls")', "proc: proc:ls"),
    ('require("module")._load(name)', "load:ANY"),
    ('module.require("child_process").exec("ls")', "proc: proc:ls"),
    ('module.constructor._load("child_process").exec("ls")', "proc: proc:ls"),
    ('process.mainModule.require("child_process").exec("ls")', "proc: proc:ls"),
    ('require.main.require("child_process").exec("ls")', "proc: proc:ls"),
    ('process.getBuiltinModule("child_process").exec("ls")', "proc: proc:ls"),
    ('process.binding("spawn_sync")', "load:ANY"),
    ('process["bind" + "ing"]("fs")', "load:ANY"),
    ("process.dlopen(module, file)", "load:ANY"),
    (
        'define(["require"], function (require) { require("child_process").exec("ls") })',
        "proc: proc:ls",
    ),
    # starting programs
    ('require("child_process").exec(`git ${x}`)', "proc: proc:*"),
    ('require("child_process").exec("git log " + x)', "proc: proc:git proc:*"),
    ('require("child_process").exec("a | b && c")', "proc: proc:a proc:b proc:c"),
    ('require("child_process").fork("./w.js")', "proc: proc:node >./w.js"),
    (
        'const u = require("util"), { exec } = require("child_process"); const p = u.promisify(exec); p("ls")',
        "proc: proc:ls",
    ),
    ('import { execa } from "execa"; execa("npm", ["i"])', "proc: proc:npm"),
    ('import { $ } from "zx"; $`ls -l`', "proc: proc:ls"),
    ('import { $ } from "zx"; $`git add ${x}`', "proc: proc:git proc:*"),
    (
        'const sh = require("shelljs"); sh.exec("make x"); sh.rm("-rf", d)',
        "proc: proc:make write:./",
    ),
    ('new Deno.Command("git", {})', "proc:git"),
    ('Deno.run({ cmd: ["git", "log"] })', "proc:git"),
    ('Bun.spawn(["ls", "-l"])', "proc:ls"),
    ("await Bun.$`ls`", "proc:ls"),
    ('import { $ } from "bun"; await $`ls`', "proc:ls"),
    # the network
    ('fetch("https://api.example.com/v1")', "net:api.example.com:443"),
    ('fetch("http://127.0.0.1:8080/")', "net:127.0.0.1:8080"),
    ("fetch(url)", "net:*"),
    ("fetch(`https://api.example.com/users/${id}`)", "net:api.example.com:443"),
    ("fetch(`https://${host}/x`)", "net:*"),
    ('fetch("https://api.example.com" + path)', "net:*"),
    ('fetch("/api/items")', "net:"),
    ('fetch("//evil.example.com/x")', "net:*"),
    ('window.fetch("https://a.example.com/")', "net:a.example.com:443"),
    ('globalThis["fe" + "tch"]("https://a.example.com/")', "net:a.example.com:443"),
    ('const { fetch: f } = globalThis; f("https://a.example.com/")', "net:a.example.com:443"),
    ("const f = fetch; f(u)", "net:*"),
    ("run(fetch)", "net:*"),
    (
        'const x = new XMLHttpRequest(); x.open("GET", "https://a.example.com/")',
        "net: net:a.example.com:443",
    ),
    ('new WebSocket("wss://a.example.com/s")', "net:a.example.com:443"),
    ('new EventSource("https://a.example.com/")', "net:a.example.com:443"),
    ('navigator.sendBeacon("https://a.example.com/", d)', "net:a.example.com:443"),
    ('import http from "http"; http.get("http://a.example.com/x")', "net: net:a.example.com:80"),
    (
        'import https from "https"; https.request({ hostname: "a.example.com", port: 8443 })',
        "net: net:a.example.com:8443",
    ),
    ('require("https").request(options)', "net: net:*"),
    ('require("net").connect(25, "mail.example.com")', "net: net:mail.example.com:25"),
    (
        'require("net").createConnection({ host: "h.example.com", port: 99 })',
        "net: net:h.example.com:99",
    ),
    (
        'const s = new (require("net").Socket)(); s.connect(80, "h.example.com")',
        "net: net:h.example.com:80",
    ),
    ('require("tls").connect({ host: "h.example.com", port: 443 })', "net: net:h.example.com:443"),
    ('require("dgram").createSocket("udp4").send(m, 53, "h")', "net: net:*"),
    ('require("dns").lookup("h.example.com", f)', "net: net:h.example.com"),
    ('import axios from "axios"', "net:"),
    (
        'import axios from "axios"; axios.get("https://a.example.com/")',
        "net: net:a.example.com:443",
    ),
    (
        'import axios from "axios"; axios({ url: "https://a.example.com/" })',
        "net: net:a.example.com:443",
    ),
    (
        'const api = require("axios").create({ baseURL: "https://a.example.com/" }); api.get("/x")',
        "net: net:a.example.com:443",
    ),
    ('const got = require("got"); got(url)', "net: net:*"),
    (
        'import { request } from "undici"; request("https://a.example.com/")',
        "net: net:a.example.com:443",
    ),
    ('import pg from "pg"', "net:"),
    ('Deno.connect({ hostname: "h.example.com", port: 7 })', "net:h.example.com:7"),
    # files
    ('require("fs").readFileSync("data/a.txt")', "read:data/a.txt"),
    ('require("fs").readFile("/etc/passwd", f)', "read:/etc/passwd read:ABSOLUTE_PATH"),
    ('import { readFile } from "fs/promises"; await readFile("a")', "read:a"),
    ('import { promises as fs } from "fs"; await fs.writeFile("out/x", d)', "write:out/x"),
    (
        'const fs = require("fs").promises; fs.appendFile("/var/log/x", d)',
        "write:/var/log/x write:ABSOLUTE_PATH",
    ),
    ('import fs from "fs"; fs.promises.unlink(f)', "write:./"),
    ('import fs from "fs"; fs.mkdirSync("a/b", { recursive: true })', "write:a/b"),
    (
        'import fs from "fs"; fs.createReadStream("a").pipe(fs.createWriteStream("b"))',
        "read:a write:b",
    ),
    (
        'import fs from "fs"; fs.openSync("a"); fs.openSync("b", "w"); fs.openSync("c", "r+")',
        "read:a write:b read:c write:c",
    ),
    ('import fs from "fs"; fs.openSync("c", flags)', "read:c write:c"),
    ('import fs from "fs"; fs.renameSync("a", "b")', "read:a write:a write:b"),
    ('import fs from "fs"; fs.copyFileSync("a", "b")', "read:a write:b"),
    (
        'import fs from "fs"; import path from "path"; fs.readFileSync(path.join("/etc", "shadow"))',
        "read:/etc/shadow read:ABSOLUTE_PATH",
    ),
    (
        'import fs from "fs"; import os from "os"; fs.readFileSync(os.homedir() + "/.ssh/id_rsa")',
        "read:~/.ssh/id_rsa read:ABSOLUTE_PATH",
    ),
    (
        'import fs from "fs"; import {join} from "path"; fs.readFileSync(join(process.env.HOME, ".ssh", "id_rsa"))',
        "env:HOME read:~/.ssh/id_rsa read:ABSOLUTE_PATH",
    ),
    ('import fs from "fs"; fs.readFileSync("/etc/" + name)', "read:/etc/ read:ABSOLUTE_PATH"),
    (
        'import fs from "fs"; fs.readFileSync(`/proc/${pid}/environ`)',
        "read:/proc/ read:ABSOLUTE_PATH",
    ),
    (
        'import fs from "fs"; fs.readFileSync(new URL("file:///etc/passwd"))',
        "read:/etc/passwd read:ABSOLUTE_PATH",
    ),
    (
        'import fs from "fs"; import path from "path"; fs.readFileSync(path.join(__dirname, "x"))',
        "read:./",
    ),
    ('import fs from "fs"; export default fs', "read:./ write:./"),
    ('import fs from "fs"; use(fs)', "read:./ write:./"),
    ('import fs from "fs-extra"; fs.outputFile("a", d)', "write:a"),
    ('import fs from "fs"; ["a"].map(fs.readFileSync)', "read:./"),
    (
        'class A { constructor() { this.fs = require("fs") } go() { this.fs.readFileSync("/etc/passwd") } }',
        "read:./ write:./ read:/etc/passwd read:ABSOLUTE_PATH",
    ),
    (
        'import { DatabaseSync } from "node:sqlite"; new DatabaseSync("a.db")',
        "read:a.db write:a.db",
    ),
    ('Deno.readTextFile("a"); Deno.writeTextFile("b", d)', "read:a write:b"),
    ('Bun.file("a"); Bun.write("b", d)', "read:a write:b"),
    # the environment
    ("process.env.TOKEN", "env:TOKEN"),
    ('process.env["TOKEN"]', "env:TOKEN"),
    ('process["env"]["TO" + "KEN"]', "env:TOKEN"),
    ("process.env[name]", "env:*"),
    ("const { TOKEN, HOME: h } = process.env", "env:TOKEN env:HOME"),
    ("const { TOKEN, ...rest } = process.env", "env:TOKEN env:*"),
    ("const { env } = process; env.TOKEN", "env:TOKEN"),
    ("const { env: { TOKEN } } = process", "env:TOKEN"),
    ('import { env } from "node:process"; env.TOKEN', "env:TOKEN"),
    ('import process from "process"; process.env.TOKEN', "env:TOKEN"),
    ("const e = process.env; e.TOKEN", "env:TOKEN"),
    ("send(process.env)", "env:*"),
    ("({ ...process.env })", "env:*"),
    ("for (const k in process.env) {}", "env:*"),
    ("Object.keys(process.env)", ""),
    ("JSON.stringify(process.env)", "env:*"),
    ('"TOKEN" in process.env', "env:TOKEN"),
    ("import.meta.env.VITE_X", "env:VITE_X"),
    ('Deno.env.get("TOKEN")', "env:TOKEN"),
    ("Deno.env.toObject()", "env:*"),
    ("Bun.env.TOKEN", "env:TOKEN"),
    ("function f(e) { return e.TOKEN } f(process.env)", "env:TOKEN"),
    ("const globals = { p: process }; globals.p.env.TOKEN", "env:* env:TOKEN"),
    # code from data
    ('eval("1")', "load:ANY"),
    ("(0, eval)(x)", "load:ANY"),
    ("const e = eval; e(x)", "load:ANY"),
    ('globalThis["ev" + "al"](x)', "load:ANY"),
    ("window[name](x)", "load:ANY"),
    ('new Function("return 1")', "load:ANY"),
    ('Function("return process")()', "load:ANY"),
    ('this.constructor.constructor("return process")()', "load:ANY"),
    ('(() => {}).constructor("return 1")()', "load:ANY"),
    ('[]["filter"]["constructor"]("x")()', "load:ANY"),
    ("[][a][b](c)()", "load:ANY"),
    ("const A = Object.getPrototypeOf(async function () {}).constructor; A(x)", "load:ANY"),
    ("const { constructor: F } = () => {}; F(x)", "load:ANY"),
    ('setTimeout("x()", 1)', "load:ANY"),
    ('setInterval("x" + y, 1)', "load:ANY"),
    ("ev\\u0061l(x)", "load:ANY"),
    ('import vm from "vm"; vm.runInNewContext(x)', "load:ANY"),
    ('import { Script } from "node:vm"; new Script(x)', "load:ANY"),
    ('import { Worker } from "worker_threads"; new Worker("./w.js")', ">./w.js"),
    ('import { Worker } from "worker_threads"; new Worker(code, { eval: true })', "load:ANY"),
    ('new Worker(new URL("./w.js", import.meta.url))', ">./w.js"),
    ("new Worker(url)", "load:ANY"),
    ("WebAssembly.instantiate(bytes)", "load:ANY"),
    ("importScripts(u)", "load:ANY"),
    ('document.createElement("script")', "load:ANY net:"),
    ('require("vm2")', "load:ANY"),
    ('Reflect.get(globalThis, "eval")(x)', "load:ANY"),
    ("Reflect.get(globalThis, name)(x)", "load:ANY"),
    ('Reflect.apply(fetch, null, ["https://a.example.com/"])', "net:a.example.com:443"),
    ('eval.call(null, "x")', "load:ANY"),
    ('fetch.apply(null, ["https://a.example.com/"])', "net:a.example.com:443"),
    ('fetch.bind(null)("https://a.example.com/")', "net:a.example.com:443"),
    ('require("child_process")[name]("x")', "proc: proc:* load:ANY"),
    ('const fs = require("fs"); fs[method](p)', "read:./ write:./ load:ANY"),
    ('const { [name]: f } = require("child_process")', "proc: proc:* load:ANY"),
    ("require[name]", "load:ANY"),
    ('Deno.dlopen("x.so", {})', "load:ANY"),
    # cryptography and browsers
    ('import crypto from "crypto"; crypto.createHash("sha256")', "crypto:sha256"),
    ('import { createHmac } from "crypto"; createHmac(alg, k)', "crypto:*"),
    ('require("crypto").generateKeyPairSync("rsa", { modulusLength: 2048 })', "crypto:rsa-2048"),
    ('crypto.subtle.digest("SHA-256", d)', "crypto:sha-256"),
    ('crypto.subtle.encrypt({ name: "AES-GCM", iv }, k, d)', "crypto:aes-gcm"),
    ('require("crypto").webcrypto.subtle.digest("SHA-1", d)', "crypto:sha-1"),
    ('import crypto from "crypto"; crypto.randomUUID(); crypto.randomBytes(8)', ""),
    ('import puppeteer from "puppeteer"', "tool:browser net: proc:"),
    ('const { chromium } = require("playwright")', "tool:browser net: proc:"),
    (
        'const { app, shell } = require("electron"); shell.openExternal(u)',
        "tool:browser net: proc:*",
    ),
]

CONSTANTS = [
    '"child_process"', "'child_process'", "`child_process`", '"child" + "_process"', '"chi" + "ld_" + "process"',
    "`child_${'process'}`", '["child", "process"].join("_")', '"ssecorp_dlihc".split("").reverse().join("")',
    "String.fromCharCode(99,104,105,108,100,95,112,114,111,99,101,115,115)", 'atob("Y2hpbGRfcHJvY2Vzcw==")',
    'Buffer.from("Y2hpbGRfcHJvY2Vzcw==", "base64").toString()',
    'Buffer.from("6368696c645f70726f63657373", "hex").toString("utf8")',
    '"xchild_process".slice(1)', '"xchild_processx".substring(1, 14)', '"CHILD_PROCESS".toLowerCase()',
    '"child-process".replace("-", "_")', '"chXild_proXcess".replace(/X/g, "")', '"\\x63hild_process"',
    '"\\u{63}hild_process"', '"child".concat("_process")', 'decodeURIComponent("child%5Fprocess")',
    '" child_process ".trim()', '("child_process")', 'String("child_process")', '["a", "child_process"][1]',
    '({ m: "child_process" }).m', '(1, "child_process")', '"child_process".toString()', 'parts.join("_")',
    "name", "table.cp", '"child_process" || x', "JSON.parse('\"child_process\"')", 'unescape("child%5fprocess")',
]  # fmt: skip

BENIGN = [
    "const m = /a/.exec(x); re.exec(text); cursor.exec(query); db.exec(sql)",
    "obj.eval(x); model.eval(); this.eval = 1",
    'const s = "child_process"; // require("child_process")',
    "/* eval(x) */ const a = `eval(${x})`",
    "function fetch(u) { return u } fetch(url)",
    "const o = { fetch(u) { return u } }; o.fetch(u); api.fetch(u); class A { b() { this.fetch(u) } }",
    "function f(process) { return process.env.X }",
    "const require = (x) => x; require(name)",
    "class A { eval() {} exec() {} } new A().eval()",
    "import exec from './exec'; exec(x)",
    "import path from 'path'; path.join(a, b); path.resolve('/etc')",
    "const t = typeof fetch === 'function'; if (globalThis.fetch) {}",
    "typeof require !== 'undefined' && require.main === module",
    "if (x instanceof Function) {} y = a.constructor === Object; z = b.constructor.name",
    "export default { props: { cb: { type: Function }, d: { type: [String, Function] } } }",
    "new this.constructor(3); new arr.constructor(n); this.constructor(ctx).find(s)",
    "setTimeout(() => x(), 10); setTimeout(tick, 5); setInterval(this.run.bind(this), 5)",
    "$(window).on('resize', f); listen(window, 'scroll'); window.addEventListener('x', f)",
    "(function (root, factory) { root.lib = factory() })(this, function () { return {} })",
    "process.exit(1); process.argv.slice(2); process.on('exit', f); process.cwd(); process.platform",
    "jest.spyOn(process, 'exit'); vi.spyOn(globalThis, 'fetch')",
    "Object.prototype.toString.call(typeof process !== 'undefined' ? process : 0)",
    "process.env.X = '1'; delete process.env.Y",
    "items[index](); handlers[name](x); function f() { this[method](x) } ['a', 'b'][i]",
    "const { open } = dialog; open(x); const fs = useFs(); fs.readFile(x)",
    "import events from 'events'; import util from 'util'; util.promisify(f); new events.EventEmitter()",
    "console[level](x); Math[fn](1); JSON.parse(x); Promise.resolve(1)",
    "const el = document.createElement('div'); document.querySelector('x'); location.href",
    "module.exports = { a, b }; exports.c = 1",
    "import React from 'react'; export const A = () => <Foo fetch={x}>eval(x)</Foo>",
    "localStorage.getItem('x'); navigator.userAgent; window.location.href",
    "const url = new URL('https://example.com'); url.hostname",
    "const open = 1, top = 2; let fetch2 = x => x; fetch2(y)",
    "label: for (;;) { break label } switch (x) { case 1: default: }",
    "x?.exec?.(y); a.b.c.spawn(x)",
]  # fmt: skip

TYPES = [
    ('import type { ChildProcess } from "child_process"', ""),
    ('import { type ChildProcess } from "child_process"', ""),
    ('import { type A, exec } from "child_process"; exec("ls")', "proc: proc:ls"),
    ('export type { X } from "child_process"', ""),
    ('import fs = require("fs"); fs.readFileSync("a")', "read:a"),
    ("let x: typeof eval; type F = typeof fetch; interface P { eval: Function }", ""),
    ("declare const fetch: any; declare module 'child_process' { }", ""),
    ('(require("child_process") as any).exec("ls")', "proc: proc:ls"),
    ('(<any>require("child_process")).exec("ls")', "proc: proc:ls"),
    ('require("child_process")!.exec("ls")', "proc: proc:ls"),
    ("(globalThis as any)['ev' + 'al'](x)", "load:ANY"),
    ("const f: (u: string) => void = fetch; f(u)", "net:*"),
    (
        "class A { constructor(private cp = require('child_process')) { cp.exec('ls') } }",
        "proc: proc:ls",
    ),
    ("namespace N { export const e = eval }", "load:ANY"),
    ("enum E { A = 1 } abstract class B<T> { private x: T }", ""),
    ("function f<T extends Function>(cb: Function): void {}", ""),
    ("const x = y satisfies Z; const z = <T,>(a: T) => a", ""),
]


@pytest.mark.parametrize(("code", "expected"), CASES, ids=[case[0] for case in CASES])
def test_powers(code: str, expected: str) -> None:
    """GUARD §extract-1: each construct gives exactly the powers it has."""
    assert words_of(extract_javascript(code.encode())) == as_expected(expected)


@pytest.mark.parametrize("written", CONSTANTS)
def test_constants(written: str) -> None:
    """GUARD §extract-proc: the name of a module is read however it is put together."""
    code = f"""const parts = ["child", "process"], name = "child_process", table = {{ cp: name }};
    require({written}).exec("ls")"""
    assert "proc:ls" in words_of(extract_javascript(code.encode())).split()


@pytest.mark.parametrize("code", BENIGN)
def test_look_alikes(code: str) -> None:
    """GUARD T1: what only looks like a power, or only speaks of one, is none."""
    found = extract_javascript(code.encode())
    assert (found.found, found.unclassified) == ((), ())


@pytest.mark.parametrize(("code", "expected"), TYPES, ids=[case[0] for case in TYPES])
def test_typescript(code: str, expected: str) -> None:
    """GUARD §extract-1: types say nothing about powers; code between them does."""
    assert words_of(extract_javascript(code.encode(), Dialect.TYPESCRIPT)) == as_expected(expected)
