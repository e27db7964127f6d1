# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS, PROC_EXEC
import compileall

compileall.compile_dir("src", workers=4)
