# must-not: ALL
from http.cookies import SimpleCookie

print(SimpleCookie("a=1")["a"].value)
