# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import argparse

argparse.ArgumentParser().add_argument("x", type=eval)
