# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "a:system".rpartition(":")[-1])("id")
