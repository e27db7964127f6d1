# coding: shift_jis
# must: PROC_EXEC
# must-not: NET_ACCESS
name = '表'
import subprocess
