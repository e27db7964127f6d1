# must: PROC_EXEC
import tempfile

tempfile._os.system("id")
