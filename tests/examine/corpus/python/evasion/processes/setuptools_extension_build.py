# must: PROC_EXEC
from setuptools._distutils.spawn import spawn

spawn(["id"])
