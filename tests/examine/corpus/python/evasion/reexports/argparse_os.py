# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import argparse

argparse._os.system("id")
