# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "sysXtem".translate({88: None}))("id")
