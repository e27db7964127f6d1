"""What the pages about plugins say of their limits, held against what the code does."""

from consentry.base.codes import Code
from tests.cli.test_pluginloading import LOADING
from tests.docs.blocks import DOCS
from tests.docs.tables import prose_of

PAGE = DOCS / "explanation" / "plugins.md"
REFERENCE = DOCS / "reference" / "plugin.md"


def test_the_threat_model_is_first_party_plugins() -> None:
    """TRUST §token-5: said where plugins are explained, with who is outside of it and where rules run."""
    text = prose_of(PAGE)
    assert "The threat model assumes first-party plugins" in text
    assert "A determined author with commit access is outside this model" in text
    assert "runs in Consentry's own process, with all that you may do, confined by nothing" in text
    assert "whoever can change both a plugin and its lock passes" in text


def test_the_reference_lists_every_command_that_loads_plugins() -> None:
    """Those that the tests walk over, and the statuses that they end with."""
    text = prose_of(REFERENCE)
    listed = text.partition("These commands load plugins: ")[2].partition(";")[0]
    named = {each.strip().strip("`") for each in listed.split(",")}
    commands = {each.split(" --")[0] for each in LOADING}
    assert (named - {"surface"}) | {"surface show", "surface diff"} == commands
    for code in (Code.PLUGIN_REJECTED, Code.PLUGIN_DOCUMENT, Code.PLUGIN_POLICY):
        assert f"`{code}`" in text
        assert f"({code.status:d})" in text or f"(status {code.status:d})" in text
