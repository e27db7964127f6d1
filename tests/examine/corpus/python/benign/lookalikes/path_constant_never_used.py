# must-not: ALL
DEFAULT = "/srv/data/table.csv"
NAMES = ["notes/today.md", "/opt/app/run"]
