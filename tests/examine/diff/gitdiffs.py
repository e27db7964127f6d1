"""Diffs that git itself wrote, of trees that a test names."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

WITHOUT_BINARY = "--patch"
SUBMODULE_ONE, SUBMODULE_TWO = "1" * 40, "2" * 40


@dataclass(frozen=True)
class Entry:
    """A file of a tree: its content, and its mode; a submodule's content is its commit."""

    content: bytes
    mode: str = "100644"


Tree = Mapping[bytes, Entry]


@dataclass
class Repository:
    """An empty repository in a folder of the test's own."""

    folder: Path
    count: int = field(default=0)

    def git(self, *words: str, stdin: bytes = b"", statuses: tuple[int, ...] = (0,)) -> bytes:
        """What git prints."""
        done = subprocess.run(
            ["git", *words],  # noqa: S607 - whichever git there is
            input=stdin,
            capture_output=True,
            cwd=self.folder,
            env=_environment(),
            check=False,
        )
        assert done.returncode in statuses, done.stderr
        return done.stdout

    def commit(self, tree: Tree) -> str:
        """A commit with these files and no others."""
        self.count += 1
        name = f"refs/heads/tree-{self.count}"
        stream = [b"feature done"]
        for mark, entry in enumerate(tree.values(), 1):
            stream += [b"blob", b"mark :%d" % mark, b"data %d" % len(entry.content), entry.content]
        stream += [b"commit " + name.encode(), b"committer A <a@example.org> 1700000000 +0000"]
        stream += [b"data 8", b"A change", b"deleteall"]
        for mark, (path, entry) in enumerate(tree.items(), 1):
            what = entry.content if entry.mode == "160000" else b":%d" % mark
            stream.append(b"M %s %s %s" % (entry.mode.encode(), what, _quoted(path)))
        self.git("fast-import", "--quiet", stdin=b"\n".join([*stream, b"done", b""]))
        return name

    def diff(self, before: Tree, after: Tree, *options: str, contents: str = "--binary") -> bytes:
        """The difference of two trees; `contents` says what becomes of binary ones."""
        return self.git("diff", contents, *options, self.commit(before), self.commit(after))

    def mail(self, before: Tree, after: Tree) -> bytes:
        """The difference as a commit mail."""
        parent = self.git("rev-parse", self.commit(before)).strip().decode()
        tree = self.git("rev-parse", f"{self.commit(after)}^{{tree}}").strip().decode()
        made = self.git("commit-tree", "-p", parent, "-m", "Change it\n\nAll of it", tree)
        return self.git("format-patch", "--stdout", "--binary", "-1", made.strip().decode())

    def shown(self, before: Tree, after: Tree) -> bytes:
        """The difference as `git show` prints it."""
        parent = self.git("rev-parse", self.commit(before)).strip().decode()
        tree = self.git("rev-parse", f"{self.commit(after)}^{{tree}}").strip().decode()
        made = self.git("commit-tree", "-p", parent, "-m", "Change it\n\n--- a/x", tree)
        return self.git("show", made.strip().decode())


def new_repository(folder: Path, *options: str) -> Repository:
    """An empty one, in a folder of its own below this one."""
    made = Repository(Path(mkdtemp(dir=folder)))
    made.git("init", "--quiet", "--bare", *options, ".")
    return made


def difference(folder: Path, old: bytes, new: bytes, *options: str) -> bytes:
    """What git says of two contents, without a repository."""
    (folder / "a").mkdir(exist_ok=True)
    (folder / "b").mkdir(exist_ok=True)
    (folder / "a" / "x").write_bytes(old)
    (folder / "b" / "x").write_bytes(new)
    words = ("diff", "--no-index", "--no-prefix", "--text", *options, "a/x", "b/x")
    return Repository(folder).git(*words, statuses=(0, 1))


def _environment() -> dict[str, str]:
    own = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
    people = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", "1700000000 +0000"))
    }
    return {"PATH": os.environ.get("PATH", ""), **own, **people}


def _quoted(path: bytes) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'
