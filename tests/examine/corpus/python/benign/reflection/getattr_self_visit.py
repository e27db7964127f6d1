# must-not: ALL
class Visitor:
    def visit(self, node):
        return getattr(self, f"visit_{type(node).__name__}", self.other)(node)

    def other(self, node):
        return node
