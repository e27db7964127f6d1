# must-not: ALL
from string import Template

print(Template("$name is here").substitute(name="x"))
