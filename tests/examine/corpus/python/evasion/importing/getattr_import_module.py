# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import importlib

getattr(importlib, "import_" + "module")("os")
