# must-not: ALL
PASSWORDS = "/etc/passwd"
KEYS = ["~/.ssh/id_rsa", "/proc/self/environ"]
