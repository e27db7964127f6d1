"""How long "may it run?" takes: is the needed surface covered by the granted one?

Printed next to a plain look-up in a Python set, and for granted surfaces from 10 to 10,000 entries
in each dimension. The wildcard rows ask for a pattern that only the decision procedure can answer.
"""

from bench.report import heading, per_call, row
from consentry.surface.lattice import Surface

REPEATS = 30
SIZES = (10, 100, 1_000, 10_000)


def run() -> bool:
    """Prints the table; there is no ratio target here, only the growth."""
    heading("covers check: needed <= granted")
    members = frozenset(f"src/file{number}.py" for number in range(1000))
    lookup = per_call(REPEATS, 20_000, lambda: "src/file7.py" in members)
    row("a plain set look-up", lookup)
    needed, granted = typical()
    row(
        "typical pair (5 dimensions open)",
        per_call(REPEATS, 500, lambda: needed <= granted),
        lookup,
    )
    refused = needed | Surface.of(read=["secrets/key"])
    row("typical pair, refused", per_call(REPEATS, 500, lambda: refused <= granted), lookup)
    _growth("entries per dimension, literal needs", ["dir3/deep/x.txt", "src/file3.py"])
    _growth("entries per dimension, wildcard needs", ["dir3/**/*.tex", "src/sub/*.py"])
    return True


def typical() -> tuple[Surface, Surface]:
    """What a LaTeX build needs, and what its manifest was granted."""
    needed = Surface.of(
        read=["latex/main.tex", "latex/sections/intro.tex", "latex/**/*.bib"],
        write=["output/main.pdf"],
        run=["pdflatex", "bibtex"],
        env=["PATH", "HOME"],
        net=["api.example.com:443"],
    )
    granted = Surface.of(
        read=["latex/"],
        write=["output/", "latex/*.aux"],
        run=["pdflatex", "bibtex"],
        env=["PATH", "HOME", "TEXINPUTS"],
        net=["*.example.com:443"],
    )
    return needed, granted


def _growth(title: str, read: list[str]) -> None:
    needed = Surface.of(
        read=read, write=["out3/x"], net=["h3.example.com:443"], run=["p3"], env=["V3"]
    )
    first = None
    for size in SIZES:
        granted = of_size(size)
        if not needed <= granted:
            raise RuntimeError("the bench asks for something that was not granted")
        sample = per_call(REPEATS, 200, lambda granted=granted: needed <= granted)  # type: ignore[misc]
        first = first or sample
        row(f"{title}: {size}", sample, first)


def of_size(size: int) -> Surface:
    """A granted surface with `size` entries in every dimension that has targets."""
    half = size // 2
    return Surface.of(
        read=[
            *(f"dir{n}/" for n in range(half)),
            *(f"src/file{n}.py" for n in range(half)),
            "src/sub/",
        ],
        write=[f"out{n}/" for n in range(size)],
        net=[f"h{n}.example.com:443" for n in range(size)],
        run=[f"p{n}" for n in range(size)],
        env=[f"V{n}" for n in range(size)],
    )
