# must-not: ALL
class Chess:
    def fork(self, knight):
        return knight

    def kill(self, piece):
        return piece

Chess().fork("Nf7")
