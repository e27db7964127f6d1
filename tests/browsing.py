"""A real Chromium that tests drive: they open, click, type and look as a person would.

The browser is started with `--remote-debugging-pipe` and spoken to in its own protocol (DevTools): JSON
with a NUL behind each message, on two pipes. Nothing listens on a port, and nothing but the standard library
is needed. Clicks and letters are real input events at the place where an element is drawn; what is asserted is
read from the document as the browser has it.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

PROGRAM = shutil.which("chromium")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--force-device-scale-factor=1", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 40.0
_HIGH = 20


class BrowserProblem(AssertionError):
    """What the browser did not do, or did not show."""


class Pipes:
    """The two ends of a browser's pipes, and the messages on them."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._left = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **fields: object) -> dict[str, Any]:
        """One command, and what the browser answers; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": fields}
        if session is not None:
            message["sessionId"] = session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._message(until)
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif "error" in answer:
                raise BrowserProblem(f"{method}: {answer['error']}")
            else:
                return cast(dict[str, Any], answer["result"])

    def wait(self, method: str) -> dict[str, Any]:
        """The next event of this name, which may have come already."""
        until = time.monotonic() + PATIENCE
        while True:
            for at, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(at)
            self.events.append(self._message(until))

    def _message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._reading], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise BrowserProblem("the browser says nothing any more")
            read = os.read(self._reading, 1 << 20)
            if not read:
                raise BrowserProblem("the browser is gone")
            self._left += read
        message, _, self._left = self._left.partition(b"\0")
        return cast(dict[str, Any], json.loads(message))


class Tab:
    """One page of the browser."""

    def __init__(self, pipes: Pipes, session: str) -> None:
        self._pipes = pipes
        self._session = session
        for domain in ("Page", "DOM", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def open(self, address: str) -> None:
        """Goes there, and waits until it is drawn."""
        self._pipes.events.clear()
        self._call("Page.navigate", url=address)
        self._pipes.wait("Page.loadEventFired")

    def click(self, selector: str, *, leads: bool = True) -> None:
        """Presses the mouse on the one element; waits for the page that it leads to."""
        node = self._one(selector)
        self._call("DOM.scrollIntoViewIfNeeded", nodeId=node)
        [quad, *_] = self._call("DOM.getContentQuads", nodeId=node)["quads"]
        place = {"x": sum(quad[0::2]) / 4, "y": sum(quad[1::2]) / 4}
        self._pipes.events.clear()
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
        if leads:
            self._pipes.wait("Page.loadEventFired")

    def enter(self, selector: str) -> None:
        """Moves the focus to the one element, presses Enter, and waits for the page that it leads to."""
        self._call("DOM.focus", nodeId=self._one(selector))
        self._pipes.events.clear()
        key: dict[str, Any] = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        self._call("Input.dispatchKeyEvent", type="keyDown", text="\r", **key)
        self._call("Input.dispatchKeyEvent", type="keyUp", **key)
        self._pipes.wait("Page.loadEventFired")

    def type(self, selector: str, text: str) -> None:
        """Puts letters into a field."""
        self._call("DOM.focus", nodeId=self._one(selector))
        self._call("Input.insertText", text=text)

    def upload(self, selector: str, file: Path) -> None:
        """Chooses a file in a field for files."""
        self._call("DOM.setFileInputFiles", nodeId=self._one(selector), files=[str(file)])

    def texts(self, selector: str) -> list[str]:
        """What is to be read in each element that fits."""
        words = json.dumps(selector)
        found = self.value(f"Array.from(document.querySelectorAll({words}), e => e.innerText)")
        return cast(list[str], found)

    def text(self, selector: str = "body") -> str:
        """What is to be read in the one element that fits."""
        found = self.texts(selector)
        if len(found) != 1:
            raise BrowserProblem(f"{len(found)} elements fit {selector}")
        return found[0]

    def has(self, selector: str) -> bool:
        """Whether there is an element that fits."""
        return bool(self.texts(selector))

    def value(self, expression: str) -> Any:
        """What an expression is in the page; asked by the debugger, not by a script of the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserProblem(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def look(self, width: int, height: int, *, is_dark: bool = False) -> None:
        """How wide the window is, and whether the person likes it dark."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path) -> None:
        """Draws the whole page into a PNG."""
        drawn = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(drawn["data"]))

    def complaints(self) -> list[str]:
        """What the browser had to say about the page: refused scripts, missing files."""
        self.value("0")
        entries = [
            e["params"]["entry"] for e in self._pipes.events if e.get("method") == "Log.entryAdded"
        ]
        return [str(each["text"]) for each in entries]

    def _one(self, selector: str) -> int:
        root = self._call("DOM.getDocument")["root"]["nodeId"]
        found = self._call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]
        if len(found) != 1:
            raise BrowserProblem(f"{len(found)} elements fit {selector}\n{self.text()}")
        return int(found[0])

    def _call(self, method: str, **fields: object) -> dict[str, Any]:
        return self._pipes.call(method, self._session, **fields)


@contextmanager
def browser(environ: Mapping[str, str] | None = None) -> Iterator[Tab]:
    """A browser of its own, with nothing remembered, and one empty page in it."""
    if PROGRAM is None:
        raise BrowserProblem("chromium is not installed")
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as folder:
        theirs, ours = os.pipe(), os.pipe()
        # Above what the browser calls 3 and 4, so that giving them those names loses neither.
        reading = fcntl.fcntl(theirs[0], fcntl.F_DUPFD, _HIGH)
        writing = fcntl.fcntl(ours[1], fcntl.F_DUPFD, _HIGH)
        start = f'exec "$@" 3<&{reading} 4>&{writing}'
        process = subprocess.Popen(
            ["/bin/bash", "-c", start, "browser", PROGRAM, *FLAGS, f"--user-data-dir={folder}"],
            pass_fds=(reading, writing),
            env={"PATH": os.environ["PATH"], "HOME": folder, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in (theirs[0], ours[1], reading, writing):
            os.close(each)
        try:
            pipes = Pipes(ours[0], theirs[1])
            target = pipes.call("Target.createTarget", url="about:blank")["targetId"]
            attached = pipes.call("Target.attachToTarget", targetId=target, flatten=True)
            yield Tab(pipes, attached["sessionId"])
            pipes.call("Browser.close")
        finally:
            os.close(ours[0])
            os.close(theirs[1])
            process.terminate()
            process.wait(PATIENCE)
