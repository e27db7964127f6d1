"""Small real tools in the user's own configuration, for tests that run them."""

from pathlib import Path

from tests.cli.conftest import CommandLine

MANIFEST = """\
tool:
  name: {name}
  displayName: {name}
  description: A tool for a test
  version: "1.0.0"
  capabilities:
    fileRead: []
    fileWrite:
      - pattern: "out/**"
        purpose: "its results"
    processExecution:
      - command: "sh"
        arguments: ["-c", "{script}"]
        purpose: "the work"
      - command: "sleep"
        arguments: []
        purpose: "waits"
    networkAccess: false
    environmentVariables: {{read: [], write: []}}
  riskLevel: low
  sandboxRequirements: {{isolateFileSystem: true, restrictNetwork: true}}
  {more}
  entrypoint: {{command: "sh", arguments: ["-c", "{script}"], workingDirectory: "."}}
"""


def tool(line: CommandLine, name: str, script: str, more: str = "consentLevel: explicit") -> Path:
    """A tool of the user's own that runs a shell script; single quotes only."""
    file = Path(line.environ["HOME"]) / ".config/consentry/tools" / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(MANIFEST.format(name=name, script=script, more=more))
    for each in (file, *file.parents[:2]):
        each.chmod(0o700 if each.is_dir() else 0o600)
    (line.cwd / "out").mkdir(exist_ok=True)
    return file


def consent_config(line: CommandLine, text: str) -> None:
    """The user's own consent configuration, below `consentSystem`."""
    file = Path(line.environ["HOME"]) / ".config/consentry/consent-config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'consentSystem:\n  version: "1.0.0"\n{text}')
