# must-not: ALL
import sys

def main():
    return len(sys.argv[1:])

sys.exit(main())
