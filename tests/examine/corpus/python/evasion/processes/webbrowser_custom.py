# must: PROC_EXEC
import webbrowser

webbrowser.get("id %s").open("x")
