# must: PROC_EXEC
import venv

venv.create("env", with_pip=True)
