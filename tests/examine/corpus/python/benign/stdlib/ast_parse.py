# must-not: ALL
import ast

for node in ast.walk(ast.parse("eval('1')")):
    print(ast.dump(node))
