# must-not: ALL
import functools

def logged(function):
    @functools.wraps(function)
    def inner(*args, **words):
        print(function.__name__)
        return function(*args, **words)

    return inner

@logged
def greet(name):
    return name
