# must-any: NET_ACCESS, PROC_EXEC
from http.server import CGIHTTPRequestHandler

CGIHTTPRequestHandler.cgi_directories = ["/"]
