# must-not: ALL
import yaml

print(yaml.safe_load("a: 1"), yaml.safe_dump({"a": 1}))
