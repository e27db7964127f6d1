# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import imaplib
import poplib

imaplib.IMAP4_SSL("mail.example.com")
poplib.POP3("mail.example.com")
