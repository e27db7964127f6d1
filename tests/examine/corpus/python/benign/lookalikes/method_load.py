# must-not: ALL
class Truck:
    def load(self, boxes):
        self.boxes = list(boxes)

    def loads(self, boxes):
        return self.load(boxes)

Truck().loads([1])
