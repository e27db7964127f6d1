# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
def go():
    import socket as s
    return s.create_connection(("192.0.2.1", 80))
