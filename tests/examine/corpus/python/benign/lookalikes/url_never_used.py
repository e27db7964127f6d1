# must-not: ALL
def address(name):
    return f"https://api.example.com/v1/{name}"
