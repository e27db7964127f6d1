# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "sys".__add__("tem"))("id")
