# must-not: ALL
import json

def read(stream):
    return json.load(stream)
