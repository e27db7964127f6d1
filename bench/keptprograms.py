"""Sandboxes that are libraries of another interpreter, kept open as ours is: one line in, one out."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from bench.installing import Absent

# Runs commands with one set of rules; the folders that may be read are its arguments.
SANDLOCK = """
import json, sys
from sandlock import Sandbox
box = Sandbox(fs_readable=[*sys.argv[1:], "/dev/null", "/proc"], fs_writable=["/dev/null"])
print("ready", flush=True)
for line in sys.stdin:
    print(box.run(json.loads(line), timeout=60).exit_code, flush=True)
"""

SRT = """
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
const quoted = word => "'" + word.replaceAll("'", "'\\\\''") + "'"
await SandboxManager.initialize(JSON.parse(readFileSync(process.argv[2], 'utf8')))
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line).map(quoted).join(' ')
  const wrapped = await SandboxManager.wrapWithSandbox(command)
  const child = spawn(wrapped, { shell: true, stdio: 'ignore' })
  const status = await new Promise(done => child.on('exit', done))
  SandboxManager.cleanupAfterCommand()
  console.log(status)
}
await SandboxManager.reset()
"""

_SECONDS_TO_END = 10


class Kept:
    """One such program while it lives."""

    def __init__(self, words: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            words,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # an interrupt is ours to handle
        )

    def __enter__(self) -> Self:
        if self._heard() != "ready":
            raise Absent("does not start")
        return self

    def run(self, words: Sequence[str]) -> int:
        """The exit status of the command in its box."""
        if self._process.stdin is None:
            raise Absent("has no input")
        self._process.stdin.write(f"{json.dumps(list(words))}\n")
        self._process.stdin.flush()
        return int(self._heard())

    def _heard(self) -> str:
        if self._process.stdout is None:
            raise Absent("has no output")
        line = self._process.stdout.readline().strip()
        if line:
            return line
        self._process.kill()
        _, words = self._process.communicate()
        raise Absent((words.strip().splitlines() or ["ended without a word"])[-1])

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._process.communicate(timeout=_SECONDS_TO_END)
        except (subprocess.TimeoutExpired, ValueError):
            self._process.kill()
            self._process.wait()
