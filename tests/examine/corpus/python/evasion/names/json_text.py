# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import json, os

getattr(os, json.loads('"system"'))("id")
