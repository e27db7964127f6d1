# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "abac".translate({97: "s", 98: "y", 99: "t"}) + "em")("id")
