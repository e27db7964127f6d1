# must-not: ALL
def clean(frame):
    return frame.rename(columns={"a": "b"}).replace("x", "y")
