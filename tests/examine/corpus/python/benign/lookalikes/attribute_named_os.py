# must-not: ALL
class Phone:
    os = "linux"

print(Phone.os.title())
