"""Real repositories made by the real git, with nothing of whoever runs the tests in them."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from consentry.service.gitchange import GitChange, GitFileChange, GitSelection, read_change

GIT = "/usr/bin/git"
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
    "GIT_ALLOW_PROTOCOL": "file",
}


class Repo:
    """A repository and its working tree."""

    def __init__(self, path: Path, *words: str) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", *words)

    def git(
        self,
        *words: str,
        given: bytes | None = None,
        environment: Mapping[str, str] | None = None,
        ends_well: bool = True,
    ) -> str:
        """What git answers in there, as plain as anybody would call it."""
        done = subprocess.run(
            [GIT, *words],
            cwd=self.path,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            env={**_ENVIRONMENT, "HOME": str(self.path), **(environment or {})},
            capture_output=True,
            check=ends_well,
            timeout=30,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Mapping[str, bytes | str | None]) -> None:
        """Puts files into the working tree, or takes them out."""
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: Mapping[str, bytes | str | None], message: str = "x") -> str:
        """Writes the files and commits all there is; the commit's id."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def read(self, selection: str | GitSelection, *, search_path: str = "/usr/bin") -> GitChange:
        """The change, as Consentry reads it."""
        chosen = GitSelection.parse(selection) if isinstance(selection, str) else selection
        return read_change(self.path, chosen, search_path=search_path)

    def changes(self, selection: str | GitSelection) -> tuple[GitFileChange, ...]:
        """The changes alone."""
        with self.read(selection) as change:
            return change.changes

    def touched(
        self, selection: str | GitSelection
    ) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Contents on both sides by the path after, or before where there is none after."""
        return {
            each.path_after or each.path_before or "": (
                None if each.before is None else each.before.content,
                None if each.after is None else each.after.content,
            )
            for each in self.changes(selection)
        }
