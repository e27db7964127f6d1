# must-not: ALL
from typing import TypedDict

class Settings(TypedDict, total=False):
    environ: dict[str, str]
    shell: bool
