# must-not: ALL
from dataclasses import dataclass, field

@dataclass
class Place:
    environ: dict = field(default_factory=dict)
    getenv: str = "x"

Place().environ["HOME"] = "here"
