# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import urllib.robotparser

urllib.robotparser.RobotFileParser("https://example.com/robots.txt").read()
