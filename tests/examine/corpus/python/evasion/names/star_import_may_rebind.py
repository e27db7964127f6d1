# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

NAME = "getpid"
from .settings import *
getattr(os, NAME)("id")
