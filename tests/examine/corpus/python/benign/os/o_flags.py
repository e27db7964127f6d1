# must-not: ALL
import os

FLAGS = os.O_RDONLY | os.O_CLOEXEC
