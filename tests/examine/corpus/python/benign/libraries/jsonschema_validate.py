# must-not: ALL
import jsonschema

jsonschema.validate({"a": 1}, {"type": "object"})
