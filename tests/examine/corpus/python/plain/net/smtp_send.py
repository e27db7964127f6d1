# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import smtplib

smtplib.SMTP("mail.example.com", 25).sendmail("a@example.com", "b@example.com", "x")
