# must-not: ALL
class Machine:
    def system(self, name):
        return f"system {name}"

Machine().system("cooling")
