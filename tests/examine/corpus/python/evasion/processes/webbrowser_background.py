# must: PROC_EXEC
from webbrowser import BackgroundBrowser

BackgroundBrowser("id").open("x")
