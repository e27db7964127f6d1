# must-not: ALL
from packaging.version import Version

print(Version("1.0") < Version("2.0"))
