# must-not: ALL
class Phone:
    def call(self, number):
        return number

Phone().call("555-0100")
