# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from openai import OpenAI

OpenAI().chat.completions.create(model="x", messages=[])
