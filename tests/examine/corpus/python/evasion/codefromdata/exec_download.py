# must: NET_ACCESS, DYNAMIC_CODE_LOAD
# must-not: PROC_EXEC, CRYPTO_PRIMITIVES
# target: NET_ACCESS example.com:443
import urllib.request

exec(urllib.request.urlopen("https://example.com/x.py").read())
