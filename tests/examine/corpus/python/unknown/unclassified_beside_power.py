# must: PROC_EXEC
# unknown: yes
import packagenobodyknows_more
import subprocess
