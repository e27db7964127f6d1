# must-not: ALL
class Child(dict):
    def get(self, key, default=None):
        return super().get(key, default)

Child(a=1).get("a")
