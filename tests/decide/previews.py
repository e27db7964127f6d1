"""Previews for tests to depart from: the reference tool of CONSENT, as it would be shown."""

from dataclasses import replace

from consentry.base.canonical import Digest
from consentry.base.units import Duration, Size
from consentry.decide.preview import Preview
from consentry.decide.previewfiles import ExistingFile, Extent, FileUse, Found, Impact
from consentry.decide.previewparts import CommandUse, Estimate, LastConsent, Source
from consentry.declare.profile import DeclaredLimits
from consentry.declare.tool import ConsentLevel, Origin, RiskLevel
from consentry.surface.lattice import Surface

DIGEST = Digest("sha256:" + "c" * 64)
SECTIONS = tuple(f"latex/sections/{number}.tex" for number in range(1, 8))


def found(*names: str, size: int = 1200) -> Found:
    """Exactly these files."""
    return Found(Extent.WHOLE, len(names), size * len(names), names)


def build_latex(**changes: object) -> Preview:
    """The tool of the reference box, at level strict, never consented to before."""
    made = Preview(
        tool="build-latex",
        display_name="Build LaTeX",
        version="1.0.0",
        description="Compile LaTeX document to PDF",
        digest=DIGEST,
        source=Source(".paper/_cfg/tools/build-latex.yaml", Origin.WORKSPACE, is_accepted=False),
        risk=RiskLevel.MEDIUM,
        level=ConsentLevel.STRICT,
        surface=Surface.of(
            read=[
                "latex/main.tex",
                "latex/sections/*.tex",
                "latex/references/references.bib",
                "output-final/pdf/main.pdf",
                "latex/*.aux",
                "latex/*.log",
                "latex/*.bbl",
            ],
            write=["output-final/pdf/main.pdf", "latex/*.aux", "latex/*.log", "latex/*.bbl"],
            run=["pdflatex", "bibtex"],
            env=["PATH", "HOME", "TEXINPUTS"],
        ),
        profile="tool:build-latex",
        level_reasons=("its own manifest says strict",),
        read=(
            FileUse("latex/main.tex", "the document", found("latex/main.tex")),
            FileUse("latex/sections/*.tex", "its sections", found(*SECTIONS)),
            FileUse(
                "latex/references/references.bib",
                "the bibliography",
                found("latex/references/references.bib"),
            ),
        ),
        write=(
            FileUse("output-final/pdf/main.pdf", "the result", found("output-final/pdf/main.pdf")),
            FileUse("latex/*.aux", "build artifacts", found()),
            FileUse("latex/*.log", "build artifacts", found()),
            FileUse("latex/*.bbl", "build artifacts", found()),
        ),
        commands=(
            CommandUse("pdflatex", ("main.tex",), "LaTeX compilation"),
            CommandUse("bibtex", ("main",), "Bibliography processing"),
        ),
        limits=DeclaredLimits(cpu=Duration(60_000), memory=Size(512 << 20)),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def full() -> Preview:
    """One with something in every field."""
    before = build_latex()
    return build_latex(
        asked_because=("the tool has changed",),
        system_files=("/usr/share/texlive/",),
        closed=("/home/*/.ssh/",),
        environment_write=("PDF",),
        secrets=("Authorization for api.example.com:443",),
        surface=before.surface | Surface.of(net=["api.example.com:443"]),
        limits=DeclaredLimits(
            Duration(60_000), Size(512 << 20), 50, Size(100 << 20), Size(1 << 30), Duration(90_000)
        ),
        estimate=Estimate(Duration(30_000), Duration(60_000), 20),
        impact=Impact(
            Extent.AT_LEAST,
            1,
            245_678,
            (ExistingFile("output-final/pdf/main.pdf", 245_678),),
            Duration(7 * 86_400_000),
        ),
        last_consent=LastConsent("0.9.0", DIGEST, before.surface),
    )
