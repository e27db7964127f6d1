# must: PROC_EXEC
import webbrowser

webbrowser.register("x", None, webbrowser.GenericBrowser(["id", "%s"]))
