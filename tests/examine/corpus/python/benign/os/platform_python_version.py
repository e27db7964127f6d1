# must-not: ALL
import platform

print(platform.python_version(), platform.python_implementation())
