# must-not: ALL
def exec(text):
    return text

class A:
    def go(self):
        return exec("x = 1")

print([exec(t) for t in "ab"], (lambda: exec("y"))())
