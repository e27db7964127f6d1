# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from ftplib import FTP_TLS

FTP_TLS("ftp.example.com")
