"""GUARD §extract-dynamic: detours to a power count as much as the straight way."""

import pytest

from consentry.examine.javascript import extract_javascript
from tests.examine.extractionwords import words_of

DETOURS = [
    # the object, kept somewhere and taken out again
    ('const o = { cp: require("child_process") }; o.cp.exec("ls")', "proc:ls"),
    ('const o = {}; o["c" + "p"] = require("child_process"); o.cp.exec("ls")', "proc:ls"),
    ('class A { #cp = require("child_process"); go() { this.#cp.exec("ls") } }', "proc:ls"),
    ('class A { static cp = require("child_process") } A.cp.exec("ls")', "proc:ls"),
    ('[require("child_process")][0].exec("ls")', "proc:ls"),
    ('[require("child_process")].forEach(run)', "proc:*"),
    ('new Map([["a", require("child_process")]])', "proc:*"),
    ('Object.assign({}, require("child_process")).exec("ls")', "proc:*"),
    ('({ ...require("child_process") }).exec("ls")', "proc:*"),
    ('with (require("child_process")) exec("ls")', "proc:*"),
    ('Object.values(require("child_process"))[3]("ls")', "proc:*"),
    ('const cp = require("child_process"); export { cp }', "proc:*"),
    ('import * as cp from "child_process"; export { cp as default }', "proc:*"),
    ('import { exec } from "child_process"; export { exec as f }', "proc:*"),
    # through functions
    ('function get() { return require("child_process") } get().exec("ls")', "proc:ls"),
    ('const get = () => require("child_process"); get().exec("ls")', "proc:ls"),
    ('(m => m.exec("ls"))(require("child_process"))', "proc:ls"),
    ('(function (m) { m.exec("ls") }).call(this, require("child_process"))', "proc:ls"),
    ('function f({ exec }) { exec("ls") } f(require("child_process"))', "proc:ls"),
    ('function f(m = require("child_process")) { m.exec("ls") }', "proc:ls"),
    ('function f() { arguments[0].exec("ls") } f(require("child_process"))', "proc:*"),
    ('function f(...a) { a[0].exec("ls") } f(require("child_process"))', "proc:*"),
    ('Promise.resolve(require("child_process")).then(m => m.exec("ls"))', "proc:ls"),
    ('async function f() { (await import("child_process")).exec("ls") }', "proc:ls"),
    ('new Proxy(require("child_process"), {}).exec("ls")', "proc:ls"),
    # by assignment and choice
    ('let m; if (x) m = require("child_process"); m.exec("ls")', "proc:ls"),
    ('m = require("child_process"); m.exec("ls")', "proc:ls"),
    ('const m = x && require("child_process"); m.exec("ls")', "proc:ls"),
    ('const m = x ? {} : require("child_process"); m.exec("ls")', "proc:ls"),
    ('let m; (m = require("child_process")).exec("ls")', "proc:ls"),
    ('let f; ({ exec: f } = require("child_process")); f("ls")', "proc:ls"),
    ('let a, b; b = a; a = require("child_process"); function g() { b.exec("ls") }', "proc:ls"),
    ('var { ["ex" + "ec"]: f } = require("child_process"); f("ls")', "proc:ls"),
    (
        'const { promises: { readFile } } = require("fs"); readFile("/etc/passwd")',
        "read:/etc/passwd",
    ),
    ('require?.("child_process")?.exec?.("ls")', "proc:ls"),
    ('(0, require)("child_process").exec("ls")', "proc:ls"),
    ('require.call(null, "child_process").exec("ls")', "proc:ls"),
    ('require.apply(null, ["child_process"]).exec("ls")', "proc:ls"),
    ('Reflect.apply(require, null, ["child_process"]).exec("ls")', "proc:ls"),
    ('const r = require.bind(null); r("child_process").exec("ls")', "proc:ls"),
    ('exec.call(null, "x"); var exec = require("child_process").exec', "proc:x"),
    # the global object
    ('window["eval"]("x")', "load:ANY"),
    ("self.window.globalThis.eval(x)", "load:ANY"),
    ("(function () { return this })().eval(x)", "load:ANY"),
    ('(function () { return this })()["ev" + "al"](x)', "load:ANY"),
    ("const g = globalThis; g[k](x)", "load:ANY"),
    ('function f(o, k) { return o[k] } f(globalThis, "ev" + "al")(x)', "load:ANY"),
    ("var eval2 = this.eval; eval2(x)", "load:ANY"),
    ("const { eval: e } = window; e(x)", "load:ANY"),
    ("const { [k]: e } = globalThis; e(x)", "load:ANY"),
    ('document.defaultView["eval"](x)', "load:ANY"),
    ("var fetch; fetch(u)", "net:*"),
    ("fetch = fetch; fetch(u)", "net:*"),
    # the constructor of functions
    ("(async () => {}).constructor(x)()", "load:ANY"),
    ("(function* () {}).constructor(x)()", "load:ANY"),
    ("f.constructor(x)(); function f() {}", "load:ANY"),
    ("(class {}).constructor(x)()", "load:ANY"),
    ('"".constructor.constructor(x)()', "load:ANY"),
    ('({}).constructor["constr" + "uctor"](x)()', "load:ANY"),
    ("const C = (() => 0).constructor; C(x)", "load:ANY"),
    ("new (() => 0).constructor(x)", "load:ANY"),
    ("Math.max.constructor(x)()", "load:ANY"),
    ("(() => 0).__proto__.constructor(x)()", "load:ANY"),
    ("const { constructor: { constructor: F } } = {}; F(x)()", "load:ANY"),
    ('Reflect.get(() => 0, "constructor")(x)', "load:ANY"),
    ('Reflect.construct(Function, ["x"])()', "load:ANY"),
    ("o.constructor(code)()", "load:ANY"),
    ("const o = { a: { type: Function } }; o.a.type(x)()", "load:ANY"),
    ("const o = { type: Function }; o.type(x)()", "load:ANY"),
    ("class E extends Function {} new E(x)", "load:ANY"),
    # on objects that nothing is known about
    ('x.execSync("ls")', "proc:ls"),
    ('x.readFileSync("/etc/passwd")', "read:/etc/passwd"),
    ('x.mainModule.require("child_process").exec("ls")', "proc:ls"),
    ('x.require("child_process").exec("ls")', "proc:ls"),
    ('x.constructor._load("child_process").exec("ls")', "proc:ls"),
    ("x.runInThisContext(y)", "load:ANY"),
    ("x._linkedBinding(y)", "load:ANY"),
    # constants that are none
    ('const p = ["https://a.example.com/"]; p[0] = u; fetch(p[0])', "net:*"),
    ('const p = ["child"]; p.push("_process"); require(p.join(""))', "load:ANY"),
    ('const o = { host: "a.example.com" }; o.host = h; require("http").get(o)', "net:*"),
    ('const o = { host: "a.example.com" }; change(o); require("http").get(o)', "net:*"),
    ('let u = "https://a.example.com/"; u = v; fetch(u)', "net:*"),
    ('let u = "https://a.example.com/"; u += v; fetch(u)', "net:*"),
    ('function f(u) { fetch(u) } f("https://a.example.com/")', "net:*"),
    ('fetch("https://a.example.com@" + h + "/")', "net:*"),
    ('require("child_process").spawn(...words)', "proc:*"),
    ('"exXec".replace(/X/, x)', ""),
]


@pytest.mark.parametrize(("code", "expected"), DETOURS, ids=[case[0] for case in DETOURS])
def test_detour(code: str, expected: str) -> None:
    """GUARD T4: the power at the end of the detour is found."""
    words = words_of(extract_javascript(code.encode())).split()
    assert not expected or expected in words
