# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import telnetlib

telnetlib.Telnet("example.com", 23)
