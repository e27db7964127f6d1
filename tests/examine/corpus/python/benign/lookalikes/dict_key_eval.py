# must-not: ALL
PHASES = {"train": 1, "eval": 2, "exec": 3, "subprocess": 4}
PHASES["eval"]
