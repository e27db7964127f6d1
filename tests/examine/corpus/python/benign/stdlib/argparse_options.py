# must-not: ALL
import argparse

parser = argparse.ArgumentParser(description="open files")
parser.add_argument("--exec", action="store_true")
print(parser.parse_args(["--exec"]).exec)
