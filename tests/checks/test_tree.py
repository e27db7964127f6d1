"""Which files belong to the tree."""

import shutil
import subprocess

from checks.tree import Tree


def test_git_decides_where_there_is_git(plant, tmp_path):
    """Tracked files and new ones count; ignored and deleted ones do not."""
    plant({"kept.py": "", "gone.py": "", ".gitignore": "ignored/\n"})
    git = shutil.which("git")
    assert git is not None
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run([git, *words], cwd=tmp_path, check=True)
    (tmp_path / "gone.py").unlink()
    tree = plant({"new.py": "", "ignored/x.py": ""})
    assert tree.paths == (".gitignore", "kept.py", "new.py")


def test_without_git_every_source_folder_counts(plant):
    """Environments, caches and built files are left out."""
    names = [
        "src/a.py",
        ".ci/run",
        ".venv/lib/x.py",
        "src/__pycache__/a.pyc",
        "dist/a.py",
        ".git-not/x",
    ]
    assert plant(dict.fromkeys(names, "")).paths == (".ci/run", "src/a.py")


def test_patterns_name_files_or_folders(plant):
    """A pattern that ends in a slash is a folder and all below it."""
    tree = plant(dict.fromkeys(["README.md", "docs/README.md", "src/a/b.py"], ""))
    assert list(tree.matching("src/")) == ["src/a/b.py"]
    assert list(tree.matching("*.md")) == ["README.md", "docs/README.md"]


def test_an_empty_tree_has_no_files(tmp_path):
    """Nothing planted, nothing found."""
    assert Tree(tmp_path).paths == ()
