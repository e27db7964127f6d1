# must: PROC_EXEC
# must-not: FS_WRITE_ROOTS, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import webbrowser

webbrowser.open("https://example.com/")
