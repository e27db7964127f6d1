# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS
import py_compile

py_compile.compile("src/a.py", cfile="out/a.pyc")
