# must-not: ALL
from email.message import EmailMessage

message = EmailMessage()
message["Subject"] = "hello"
message.set_content("x")
