# must-not: ALL
import base64

print(base64.b64decode("aW1wb3J0IG9z"))
