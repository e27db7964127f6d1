# must-any: NET_ACCESS, PROC_EXEC
from webbrowser import open as show

show("https://example.com/?q=secret")
