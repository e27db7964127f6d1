# must-not: ALL
import pickle

def pack(value):
    try:
        return pickle.dumps(value)
    except pickle.PicklingError:
        return b""
