# must-not: ALL
class Box:
    @property
    def environ(self):
        return self._environ

    def getenv(self, name):
        return self.environ[name]
