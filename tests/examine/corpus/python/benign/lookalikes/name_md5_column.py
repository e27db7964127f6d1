# must-not: ALL
columns = {"md5": "text", "sha256": "text"}
md5 = columns["md5"]
