# must-any: FS_READ_ROOTS, PROC_EXEC
import mailcap

mailcap.findmatch(mailcap.getcaps(), "text/plain")
