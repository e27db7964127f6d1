# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from logging import handlers as h

h.SMTPHandler("mail.example.com", "a@example.com", ["b@example.com"], "x")
