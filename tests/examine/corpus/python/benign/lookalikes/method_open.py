# must-not: ALL
class Door:
    def open(self):
        self.is_open = True

Door().open()
