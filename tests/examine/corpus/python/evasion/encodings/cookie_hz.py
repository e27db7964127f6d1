# coding: hz
# must: PROC_EXEC
import subprocess
