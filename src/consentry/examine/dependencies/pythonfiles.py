"""Python files that also declare: `setup.py`, and scripts that ask for dependencies in a comment."""

from consentry.examine.atoms import Extraction
from consentry.examine.python.extract import extract_python


def extract_python_file(content: bytes) -> Extraction:
    """What the code does, and what it asks for."""
    extraction = extract_python(content)
    if b"# /// script" in content:
        from consentry.examine.dependencies.inlinescript import (  # noqa: PLC0415 - few have one
            extract_inline_script,
        )

        return extraction | extract_inline_script(content)
    return extraction


def extract_setup_file(content: bytes) -> Extraction:
    """The same, and the requirements that it has as constants."""
    from consentry.examine.dependencies.setupscript import (  # noqa: PLC0415 - only for these
        extract_setup_script,
    )

    return extract_python_file(content) | extract_setup_script(content)
