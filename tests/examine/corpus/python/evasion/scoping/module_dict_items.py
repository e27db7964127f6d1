# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

[v for k, v in os.__dict__.items() if k == "system"][0]("id")
