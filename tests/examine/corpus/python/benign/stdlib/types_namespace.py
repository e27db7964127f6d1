# must-not: ALL
import types

space = types.SimpleNamespace(system="x", open=1)
print(space.system, types.MappingProxyType({}))
