# must-not: ALL
def open(valve):
    return valve + 1

open("valve 7")
