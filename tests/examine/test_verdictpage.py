"""The page of a verdict: all of it is there, nothing of it is markup, and nothing is loaded."""

import os
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import consentry
from consentry.declare.wishfile import read_wish
from consentry.examine.guard import Flags
from consentry.examine.verdictpage import policy, style, verdict_page
from tests.service.patches import bundle_of

LINES = "import requests\nrequests.get('https://api.example.org/')\nopen('/etc/passwd')\neval(input())\n"
NAME = "<script>document.title='gone'</script>\u202e'\"&.py"
TARGET = "</td><img src=x onerror=document.title='gone'>"
FORBIDDEN = {"script", "img", "iframe", "object", "link"}
CHROMIUM = shutil.which("chromium") or ""


class Parsed(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps it."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keeps it."""
        self.texts.append(data)


def page_of(files: dict[str, str], wish: bytes | None = None, **more: Any) -> str:
    """The page of a change that adds these files."""
    value = None if wish is None else read_wish(wish, "wish.yaml")
    verdict = consentry.check_patch(bundle_of({}, files), value, **more)
    return verdict_page(verdict, "a change <b>", value, Flags(**more))


def test_everything_of_the_verdict_is_on_it() -> None:
    """Status, rule, powers with their places, the block, both surfaces, witnesses and rungs."""
    text = " ".join(Parsed(page_of({"app.py": LINES, "b.py": "import nobody_knows_it\n"})).texts)
    for said in (
        "BLOCKED",
        "a change <b>",
        "Rule 3 of 7: a protected root is reached that no wish names",
        "read `/etc/passwd`",
        "app.py:3",
        "connect to `api.example.org:443`",
        "import nobody_knows_it: in no table, and not in this tree",
        "turn data into code at run time",
        'net_access: ["api.example.org:443"]',
        "compute://cap_surface/extract_v1#sha256:",
        "canon://policy/protected_roots_v1#sha256:",
        "surface_extracted",
        "Judged by no wish; strict.",
    ):
        assert said in text, said
    assert text.count("ALLOWLIST") >= 1


def test_a_wish_is_named_and_what_it_allows_is_told_apart() -> None:
    """With the flags that counted."""
    wish = (
        b"wish_ir_version: '1'\nid: wish-net\nscope: []\nnon_goals: []\n"
        b"allowed_capabilities: {net_access: ANY, tool_classes: [python, web]}\n"
    )
    text = " ".join(Parsed(page_of({"app.py": "import requests\n"}, wish, strict=False)).texts)
    assert "PASS" in text
    assert "Gained, as the wish allows (3)" in text
    assert "Gained, and not allowed" not in text
    assert "wish-net" in text
    assert "not strict" in text


def test_nothing_that_a_change_says_becomes_markup() -> None:
    """Names, targets and reasons of a stranger are text, and odd letters are shown."""
    page = page_of(
        {"a.py": f"open('/srv/{TARGET}')\n".replace("document.title='gone'", "x"), "b.py": LINES}
    )
    tags = {tag for tag, _ in Parsed(page).elements}
    assert not tags & FORBIDDEN
    assert not any(name.startswith("on") for _, attrs in Parsed(page).elements for name in attrs)


def test_the_page_may_do_nothing_but_be_drawn() -> None:
    """No script, no frame, no address; the policy allows the one style, and there is just that."""
    page = page_of({"app.py": LINES})
    parsed = Parsed(page)
    [meta] = [a for tag, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert meta["content"] == policy()
    assert "default-src 'none'" in policy()
    assert "unsafe" not in policy()
    assert page.count("<style>") == 1
    assert f"<style>{style()}</style>" in page
    assert not any({"src", "href", "style"} & attrs.keys() for _, attrs in parsed.elements)


@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
def test_a_browser_draws_it_and_runs_nothing(tmp_path: Path) -> None:
    """A hostile file name is what the page shows, and not what it does."""
    raw = NAME.encode()
    quoted = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in raw)
    body = LINES.rstrip("\n").replace("\n", "\n+")
    diff = f'--- /dev/null\n+++ "b/{quoted}"\n@@ -0,0 +1,4 @@\n+{body}\n'
    # A path has folders between its slashes.
    bundle = {"patch.diff": diff, "touched_paths": [NAME], "after": {NAME: LINES}}
    verdict = consentry.check_patch(bundle)
    assert verdict["status"] == "BLOCKED"
    file = tmp_path / "page.html"
    file.write_text(verdict_page(verdict, NAME, None, Flags()), encoding="utf-8")
    words = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--hide-scrollbars",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1100,1400",
        "--dump-dom",
    ]
    done = subprocess.run(
        [CHROMIUM, *words, f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
        timeout=55,
    )
    drawn = done.stdout.decode()
    assert "<title>BLOCKED: powers of a change</title>" in drawn
    assert "<script" not in drawn
    assert "&lt;script&gt;document.title='gone'" in drawn
