# must-not: ALL
BASE = "/api"
print(BASE + "/users")
