# must-not: ALL
PATTERN = r"\x65\x76\x61\x6c\(.*\)"
