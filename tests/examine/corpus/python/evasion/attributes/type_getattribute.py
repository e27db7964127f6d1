# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

type(os).__getattribute__(os, "system")("id")
