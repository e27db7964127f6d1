# must-not: ALL
import json

print(json.loads(json.dumps({"eval": "open('/etc/passwd')"})))
