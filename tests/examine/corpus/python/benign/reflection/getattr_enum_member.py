# must-not: ALL
import enum

class Level(enum.Enum):
    LOW = 1

def level(word):
    return getattr(Level, word.upper())
