# must-not: ALL
settings = {"open": 1}
settings.get("open")
settings.pop("open")
