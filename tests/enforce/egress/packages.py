"""Small packages as servers have them: a wheel, an archive of npm's, and a git repository."""

import base64
import hashlib
import io
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path


def simple_index(name: str) -> dict[str, bytes]:
    """What pip asks for: a page with one wheel, and the wheel."""
    info = f"{name}-1.0.dist-info"
    content = {
        f"{name}.py": "WORD = 'installed'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    content[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in (*content, f"{info}/RECORD"))
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in content.items():
            archive.writestr(path, text)
    file = f"{name}-1.0-py3-none-any.whl"
    page = f"<!DOCTYPE html><html><body><a href='/files/{file}'>{file}</a></body></html>"
    return {f"/simple/{name}/": page.encode(), f"/files/{file}": wheel.getvalue()}


def npm_registry(name: str) -> dict[str, bytes]:
    """What npm asks for, of a registry that does not know its own address yet: `PLACE` is replaced."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in (
            ("package/package.json", json.dumps({"name": name, "version": "1.0.0"})),
            ("package/index.js", "module.exports = 'installed'\n"),
        ):
            member = tarfile.TarInfo(path)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    content = packed.getvalue()
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    tarball = f"/{name}/-/{name}-1.0.0.tgz"
    version = {
        "name": name,
        "version": "1.0.0",
        "dist": {"tarball": f"http://PLACE{tarball}", "integrity": f"sha512-{digest}"},
    }
    document = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    return {f"/{name}": json.dumps(document).encode(), tarball: content}


def git_repository(folder: Path, path: str) -> dict[str, bytes]:
    """A repository with one file, as a plain web server gives it to git."""
    words = [
        "git",
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        "-c",
        "init.defaultBranch=main",
    ]
    (folder / "work").mkdir()
    (folder / "work/word.txt").write_text("cloned\n")
    for rest in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-qm", "One file"],
        ["update-server-info"],
    ):
        subprocess.run([*words, *rest], cwd=folder / "work", check=True)
    held = folder / "work/.git"
    return {
        f"{path}/{each.relative_to(held)}": each.read_bytes()
        for each in held.rglob("*")
        if each.is_file()
    }
