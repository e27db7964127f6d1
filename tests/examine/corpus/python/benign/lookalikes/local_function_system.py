# must-not: ALL
def system(name):
    return name.title()

system("reboot")
