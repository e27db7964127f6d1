# must: NET_ACCESS
# must-not: FS_WRITE_ROOTS, PROC_EXEC, DYNAMIC_CODE_LOAD
import dns.resolver

dns.resolver.resolve("example.com", "TXT")
