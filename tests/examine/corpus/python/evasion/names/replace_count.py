# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "sXsXem".replace("X", "y", 1).replace("X", "t"))("id")
