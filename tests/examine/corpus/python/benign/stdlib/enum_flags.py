# must-not: ALL
import enum

class Right(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()

print(Right.READ | Right.WRITE)
