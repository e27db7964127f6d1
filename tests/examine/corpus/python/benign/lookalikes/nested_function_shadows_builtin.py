# must-not: ALL
def outer():
    def exec(text):
        return text

    return exec("x = 1")

outer()
