# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import nntplib

nntplib.NNTP("news.example.com")
