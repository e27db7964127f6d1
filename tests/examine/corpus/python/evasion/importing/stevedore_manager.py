# must: DYNAMIC_CODE_LOAD
from stevedore import ExtensionManager

ExtensionManager("app.plugins", invoke_on_load=True)
