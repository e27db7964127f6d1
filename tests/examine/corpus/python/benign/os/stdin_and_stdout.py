# must-not: ALL
import sys

text = sys.stdin.read()
sys.stdout.write(text)
sys.stderr.flush()
