# must-not: ALL
def exec_(words):
    return words[0]

exec_(["ls"])
