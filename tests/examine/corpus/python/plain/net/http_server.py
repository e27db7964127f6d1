# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from http.server import HTTPServer, SimpleHTTPRequestHandler

HTTPServer(("127.0.0.1", 8000), SimpleHTTPRequestHandler).serve_forever()
